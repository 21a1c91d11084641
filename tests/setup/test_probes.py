"""No code branches on a probe of an attribute: optional parts of an interface are queried by a method that may
decline."""

import ast
from pathlib import Path

import pytest
from syntax_trees import tree_of

SOLVER = Path(__file__).resolve().parents[2] / "solver"
#: rooms that read what others wrote (JSON, CSV, processes, numba's code), and the catalogue's own records
BOUNDARIES = {"job", "frames", "meshing", "farm", "catalogue", "kernel_cache.py", "threads.py", "cli.py"}
#: file: what it asks, and why it stays
STAYS = {
    "coordinates/tree.py": ({"isinstance"}, "coerces: centres of charts, or the memory that has them"),
    "live/engines/world.py": ({"isinstance"}, "a hand pulls at soft parts and at joints in ways of its own"),
    "build/inputs.py": ({"isinstance"}, "the scene has an array's name or the samples themselves"),
    "build/positions.py": ({"isinstance"}, "the scene has an array's name or one target"),
    "build/point_constraints.py": ({"isinstance"}, "the scene has a number or an array's name"),
    "build/ropes.py": ({"isinstance"}, "the scene has a number or an array's name"),
    "build/drafts.py": ({"isinstance"}, "the scene has seconds or the name of a painted map"),
    "build/half_life.py": ({"isinstance"}, "the scene has seconds or the name of a painted map"),
    "build/compiling.py": ({"hasattr"}, "Windows has no niceness"),
    "linear/cholesky/cvxopt_cholmod.py": ({"type"}, "the library's handle, of which nothing is taken on trust"),
    "linear/cholesky/cholmod.py": ({"type"}, "the same of the other wheel"),
    "linear/cholesky/multifrontal.py": ({"kind"}, "the precision that was asked for has BLAS calls of its own"),
    "build/constraint_drafts.py": ({"isinstance", "kind"}, "turns the energies of catalogue kinds into quadratic ones"),
    "build/bearings.py": ({"kind"}, "which joints have bearings is a table's own keys"),
    "coordinates/tree_build.py": ({"kind"}, "gathers joints of one type into a batch"),
    "rows/sparse/reduced.py": ({"kind"}, "the first entry of a column's name, in a table that is this file's"),
    "world/subsystems.py": ({"isinstance"}, "a part that is a subsystem, too, is stepped by itself"),
    "pool.py": ({"getattr"}, "sizes of arrays among a kernel's arguments"),
    "kernel_structs.py": ({"isinstance"}, "a signature is a text or numba's, and an object may be no class"),
    "parts/eol/touching_kernels.py": ({"kind"}, "bits of a row's name"),
}
PROBES = {"isinstance", "issubclass", "hasattr", "callable"}


def _is_kind(node):
    """Whether a node is `kind` or `something.kind`, except the kind of an array's numbers."""
    if isinstance(node, ast.Attribute):
        return node.attr == "kind" and not (isinstance(node.value, ast.Attribute) and node.value.attr == "dtype")
    return isinstance(node, ast.Name) and node.id == "kind"


def _is_type(node):
    """Whether a node is `type(x)` or an attribute of it."""
    if isinstance(node, ast.Attribute):
        return _is_type(node.value)
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type"


def probes(tree):
    """Return (line, probed attribute) of a file's syntax tree."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            # a getattr with a third argument asks whether something is there; one with two only reads a listed field
            if name in PROBES or (name == "getattr" and len(node.args) == 3):
                lines.append((node.lineno, name))
        if isinstance(node, ast.Compare):
            lines += [(node.lineno, probe) for probe, fits in (("kind", _is_kind), ("type", _is_type))
                      if any(fits(operand) for operand in (node.left, *node.comparators))]
    return lines


@pytest.mark.parametrize("text, probe", [("isinstance(x, Full)", "isinstance"), ("getattr(x, 'soft', x)", "getattr"),
                                         ("hasattr(x, 'change')", "hasattr"), ("if body.kind == 'cloth': pass", "kind"),
                                         ("y = 1 if type(x) is Full else 2", "type")])
def test_a_probe_is_seen(text, probe):
    assert probes(ast.parse(text)) == [(1, probe)]
    assert probes(ast.parse("x.dtype.kind == 'f' and type(x)() and getattr(x, name)")) == []


def test_no_probe_decides_a_path():
    files = [path for path in SOLVER.rglob("*.py") if path.relative_to(SOLVER).parts[0] not in BOUNDARIES]
    probes_of = {path.relative_to(SOLVER).as_posix(): probes(tree_of(path)) for path in files}
    violations = [f"solver/{name}:{line} asks by {probe}" for name, asks in probes_of.items() for line, probe in asks
                  if probe not in STAYS.get(name, ((), ""))[0]]
    assert not violations, "give the interface a method with a default, or say in STAYS why it stays:\n" + \
        "\n".join(violations)
    # what needs no exception any more has none
    assert {name: probe for name, (probe, _) in STAYS.items()} == {
        name: {probe for _, probe in probes_of[name]} for name in STAYS}
