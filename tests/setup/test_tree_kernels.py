"""Kernels of the tree of joints take few arguments: structs inside of kernels, stacked arrays from Python."""

import ast
import re
from pathlib import Path

import pytest
from syntax_trees import tree_of

SOLVER = Path(__file__).resolve().parents[2] / "solver"
MOST = 9  #: parameters of a kernel; the types of joints, which anybody may add, have as many
FILES = sorted([*(SOLVER / "coordinates").rglob("*.py"), *(SOLVER / "parts/joints").glob("*.py"),
                *(SOLVER / "linear/tree").glob("*.py"),
                *(SOLVER / f"forces/{name}_kernels.py" for name in ("joint", "rigid", "spring"))])
STRUCTS = [SOLVER / name for name in ("coordinates/tree_structs.py", "forces/rigid_structs.py",
                                      "linear/tree/kernels.py", "parts/joints/step_arrays.py")]


def decorated(path, kinds):
    """Return (node, name of the decorator) of what one of some decorators makes in a file."""
    for node in ast.walk(tree_of(path)):
        for decorator in getattr(node, "decorator_list", ()):
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(name, ast.Name) and name.id in kinds:
                yield node, name.id


def test_no_kernel_has_more_parameters():
    counts = {f"{path.relative_to(SOLVER)} {node.name}": len(node.args.args)
              for path in FILES for node, _ in decorated(path, ("kernel", "inline"))}
    assert {"parts/joints/tree_step.py step_tree", "parts/joints/leap_step.py solve_in_stages",
            "coordinates/tree_kernels.py pose", "linear/tree/kernels.py multiply"} <= counts.keys()
    assert not {name: count for name, count in counts.items() if count > MOST}


@pytest.mark.parametrize("path", STRUCTS, ids=lambda path: path.stem)
def test_every_field_of_a_struct_has_a_sentence_and_every_array_its_shape(path):
    lines, documented = path.read_text(encoding="utf-8").splitlines(), 0
    for node, _ in decorated(path, ("struct",)):
        assert ast.get_docstring(node)
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        for field in fields:
            kind, line = ast.unparse(field.annotation), lines[field.lineno - 1]
            if kind in ("Vec", "Index"):
                assert re.search(r"#: .*\(.+\)", line), line
            elif kind == "float":
                assert re.search(r"#: \S", line), line
        assert fields
        documented += 1
    assert documented
