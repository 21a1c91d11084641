"""Syntax trees of source files, parsed once in a process for all tests that read them."""

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file, which nobody may change.

    The garbage collector pauses: it would walk through all trees so far again and again, for two thirds of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        if was_enabled:
            gc.enable()


@cache
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree that `tree_of` has returned, in the order of ast.walk, which takes five times as
    long."""
    return tuple(ast.walk(tree))
