"""Sizes of the solver's files, functions and classes: each one above its limit is named here, and may only shrink."""

import ast
from functools import cache
from pathlib import Path

from syntax_trees import tree_of

SOLVER = Path(__file__).resolve().parents[2] / "solver"
FILE, FUNCTION, METHODS = 400, 60, 25
KERNELS = ("kernel", "inline", "njit", "intrinsic")  #: decorators of code that numba compiles, as long as it needs

#: functions that are longer, with their lines: they write machine code for a kernel
LONG = {
    "linear/cholesky/lanes.py code": 77,  # writes machine code for _intrinsic
    "linear/cholesky/lanes.py _intrinsic": 96,
}


def files():
    return sorted(SOLVER.rglob("*.py"))


@cache
def definitions():
    """Return (file, node) of all functions and classes."""
    return [(path.relative_to(SOLVER).as_posix(), node) for path in files() for node in ast.walk(tree_of(path))
            if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def is_kernel(function):
    names = {node.id for decorator in function.decorator_list for node in ast.walk(decorator)
             if isinstance(node, ast.Name)}
    return bool(names & set(KERNELS)) or any(
        isinstance(node, ast.Attribute) and node.attr in KERNELS for decorator in function.decorator_list
        for node in ast.walk(decorator))


def measured(kind, size, limit):
    """Return {"file name": size} of all nodes of a kind above a limit."""
    return {f"{file} {node.name}": size(node) for file, node in definitions()
            if isinstance(node, kind) and size(node) > limit}


def lines(node):
    return node.end_lineno - node.lineno + 1


def methods(node):
    return sum(isinstance(item, ast.FunctionDef) for item in node.body)


def test_no_file_is_longer():
    lengths = {path.relative_to(SOLVER).as_posix(): path.read_text(encoding="utf-8").count("\n") for path in files()}
    assert not {file: length for file, length in lengths.items() if length > FILE}


def test_no_function_is_longer_but_kernels_and_those_that_are_named():
    longer = measured(ast.FunctionDef, lambda node: 0 if is_kernel(node) else lines(node), FUNCTION)
    assert longer.keys() == LONG.keys()
    assert not {name: size for name, size in longer.items() if size > LONG[name]}


def test_no_class_has_more_methods():
    assert not measured(ast.ClassDef, methods, METHODS)


def test_a_long_function_and_a_kernel_are_distinguished():
    [plain, compiled] = ast.parse("def a():\n    pass\n@kernel(X)\ndef b():\n    pass\n").body
    assert not is_kernel(plain) and is_kernel(compiled) and lines(plain) == 2
