"""Functions of the solver are verbs: none is named by a past participle or an adjective. docs/developers/words.md has
the rule."""

import ast
from pathlib import Path

import pytest
from syntax_trees import tree_of

SOLVER = Path(__file__).resolve().parents[2] / "solver"

#: past participles that do not end in -ed and are no imperatives, as `cut`, `split`, `read`, `set` and `run` are
IRREGULAR = frozenset("""
    found kept held said told given taken made built written drawn known seen shown sent left lost met paid led felt
    bent bound broken chosen driven frozen grown hidden laid sunk spun stuck struck swept sworn thrown torn worn wound
    woven gone done begun born caught dealt dug fed fought hung lent lit meant risen slid slept spent stood stolen
    sprung taught thought understood won
""".split())
#: verbs that end in -ed
VERBS = frozenset("need feed seed speed embed exceed proceed bleed".split())
ADJECTIVES = frozenset("""
    rigid soft sparse dense active near new old same true false full flat fast slow small large still fixed static
    dynamic quasistatic visible singular whole loose tight sharp dry wet equal unique common outer inner total live deep
    thin thick rough fresh stale safe far
""".split())
#: private functions that are left, by room; a number may only fall
PRIVATE: dict[str, int] = {}
ROOMS = sorted(path.name for path in SOLVER.iterdir() if path.is_dir() and path.name != "__pycache__")


def names_a_value(name):
    """Return whether the name of a function begins with a past participle or an adjective."""
    first = name.strip("_").split("_")[0]
    return first in IRREGULAR or first in ADJECTIVES or (first.endswith("ed") and first not in VERBS)


def is_property(function):
    return any("property" in text or text.endswith(".setter") for text in map(ast.unparse, function.decorator_list))


def functions_of(node):
    """Return the functions and methods of a module or class, without properties, closures and special methods."""
    functions = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.If, ast.Try)):
            functions += functions_of(child)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not child.name.startswith("__") and not is_property(child):
                functions.append(child)
    return functions


def named_by_values(paths):
    """Return file:line and name of functions whose name is no verb."""
    return [f"{path.name}:{function.lineno} {function.name}" for path in paths
            for function in functions_of(tree_of(path)) if names_a_value(function.name)]


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_functions_are_verbs(room):
    """The room "" has only the files in the solver's own folder."""
    paths = sorted((SOLVER / room).rglob("*.py") if room else SOLVER.glob("*.py"))
    found = named_by_values(paths)
    public = [line for line in found if not line.split()[1].startswith("_")]
    assert paths and not public
    assert len(found) <= PRIVATE.get(room, 0), found


def test_a_participle_is_found(tmp_path):
    path = tmp_path / "names.py"
    path.write_text("def parted(): pass\ndef split_state(): pass\ndef _found(): pass\ndef embed(): pass\n"
                    "if True:\n    def near_pairs(): pass\nclass A:\n    def clamped(self): pass\n"
                    "    @property\n    def fixed(self): pass\n    def cut(self): pass\n    def __made__(self): pass\n"
                    "    @staticmethod\n    def made_of(): pass\n")
    assert named_by_values([path]) == ["names.py:1 parted", "names.py:3 _found", "names.py:6 near_pairs",
                                       "names.py:8 clamped", "names.py:14 made_of"]
