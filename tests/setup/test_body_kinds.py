"""Kinds of soft bodies: their classes are known, and no other file asks which kind a body is."""

import ast
from pathlib import Path

from syntax_trees import nodes_of, tree_of
from test_spine import heirs

SOLVER = Path(__file__).resolve().parents[2] / "solver"
SETTINGS = {"cloth", "rope", "eulerian"}  #: fields of scene.json that say which kind a body is

#: files that may ask which kind a body is, and why
ASK = {
    "job/kinds/cloth.py": "the kind itself", "job/kinds/eol_cloth.py": "the kind itself",
    "job/kinds/rope.py": "the kind itself", "job/kinds/__init__.py": "the table of kinds",
    "job/validate_cloth.py": "checks of the kind", "build/cloth.py": "bodies of the kind",
    "build/ropes.py": "bodies of the kind",
    "build/eol_cloth.py": "a sheet's note on other sheets with Sharp Edges, which are another part",
}


def asks(tree):
    """Return the lines of a file that ask which kind a body is."""
    lines = []
    for node in nodes_of(tree):
        if isinstance(node, ast.Attribute) and node.attr in SETTINGS and ast.unparse(node.value).endswith("body"):
            lines.append(node.lineno)
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr in SETTINGS:
            lines.append(node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance" and any(
                name.id.startswith("Prepared") or name.id.endswith("Kind") for name in ast.walk(node.args[1])
                if isinstance(name, ast.Name)):
            lines.append(node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ind.matches"):
            lines.append(node.lineno)
    return sorted(set(lines))


def test_classes_of_body_kinds_are_known():
    assert heirs("BodyKind") == {"VolumeKind", "ClothKind", "EolClothKind", "RopeKind"}
    assert heirs("Prepared") == {"PreparedCloth", "PreparedEolCloth", "PreparedRope"}


def test_no_other_file_asks_which_kind_a_body_is():
    found = {path.relative_to(SOLVER).as_posix(): lines for path in sorted(SOLVER.rglob("*.py"))
             if (lines := asks(tree_of(path)))}
    assert {file: lines for file, lines in found.items() if file not in ASK} == {}
    assert sorted(set(ASK) - set(found)) == [], "these ask no more: take them out of the list"


def test_questions_are_found():
    for line in ("if body.cloth is not None: pass", "if one.body.rope: pass", "soft.cloth.eulerian is None",
                 "isinstance(one, (PreparedCloth, PreparedRope))", "isinstance(kind_of(body), ClothKind)",
                 "EolClothKind.matches(other)"):
        assert asks(ast.parse(line)) == [1], line
    assert asks(ast.parse("kind_of(body).is_sheet and one.cloth.drag and cloth(state)")) == []
