"""Write docs/developers/constants.md from the solver's sources and scripts/constants.toml: `make manual`. Standard
library only.

A tuned constant that only one class reads is a field of that class; others are in capitals in the file that reads
them. Each has a description after `#:`. scripts/constants.toml lists its range, at whose ends results are visibly other
ones, and the scene of tests/tuned_scenes.py or the function of tests/tuned_units*.py that detects both ends.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOLVER = ROOT / "solver"
LIST = Path(__file__).with_name("constants.toml")
PAGE = ROOT / "docs" / "developers" / "constants.md"
Value = float | int | tuple[float | int, ...]
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow, ast.LShift: operator.lshift}
FUNCTIONS = {"deg2rad": math.radians, "radians": math.radians, "sqrt": math.sqrt, "tan": math.tan, "cos": math.cos,
             "float": float, "max": max, "range": lambda *ends: tuple(range(*ends))}
CODES = re.compile(r"\b(slots?|index|indices|bits?|lane array)\b")  #: in the description of an integer
SETTINGS = {"Param", "Entry"}  #: of the catalogue: an artist's settings, whose defaults and limits the window shows


class Constant(NamedTuple):
    """A number of a source file that has a name."""

    file: str  #: from solver/
    name: str  #: in capitals, or of a class and its field
    value: Value  #: () where it is neither a number nor a tuple of numbers
    sentence: str
    untuned: str = ""  #: the rule by which it is not tuned


def constants() -> Iterator[Constant]:
    """Yield the constants of all files of the solver: what is assigned to names in capitals and has a number in it, and
    fields of classes with a description after `#:` that are numbers or tuples of numbers."""
    for path in sorted(SOLVER.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        file, lines, tree = path.relative_to(SOLVER).as_posix(), source.splitlines(), ast.parse(source)
        known = _known(path)
        for node in tree.body:
            for name, value, group in _assigned(node, known):
                if name.isupper():
                    sentence = _sentence(lines, node.lineno - 1)
                    yield Constant(file, name, value, sentence, _rule(node, value, sentence, group))
        for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            # annotated fields are data, whose defaults the schema and constructors have
            for node in (node for node in owner.body if isinstance(node, ast.Assign)):
                for name, value, group in _assigned(node, {}):
                    if value != () and (sentence := _sentence(lines, node.lineno - 1)):
                        yield Constant(file, f"{owner.name}.{name}", value, sentence,
                                       _rule(node, value, sentence, group))


@cache
def _known(path: Path) -> dict[str, Value]:
    """Return the numbers that names of a file stand for, also those that it imports of other files of the solver."""
    known: dict[str, Value] = {}
    if not path.exists():
        return known
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            home = path.parents[node.level - 1].joinpath(*(node.module or "").split(".")).with_suffix(".py")
            known |= {item.asname or item.name: _known(home)[item.name] for item in node.names
                      if item.name.isupper() and item.name in _known(home)}
        known |= {name: value for name, value, _ in _assigned(node, known) if value != ()}
    return known


def _assigned(node: ast.stmt, known: dict[str, Value]) -> Iterator[tuple[str, Value, tuple[Value, ...]]]:
    """Yield (name, value, values of the whole statement) of each number or tuple of numbers that a statement assigns.

    The value is () where other expressions have numbers in them that are neither whole nor settings.
    """
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets, expression = [node.target], node.value
    elif isinstance(node, ast.Assign):
        targets, expression = node.targets, node.value
    else:
        return
    value = _number(expression, known)
    if value is None:
        parts = list(ast.walk(expression))
        floats = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, float)}
        if floats <= {0.0, 1.0} or any(getattr(part, "id", "") in SETTINGS for part in parts):
            return
        value = ()
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        is_tuple = isinstance(target, ast.Tuple) and isinstance(value, tuple) and value
        values = value if is_tuple else (value,) * len(names)
        for name, own in zip(names, values):
            if isinstance(name, ast.Name):
                yield name.id, own, values


def _number(node: ast.expr, known: dict[str, Value]) -> Value | None:
    """Return the value of a number, of arithmetic with numbers and known names or of a tuple of them; else None."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (int, float) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        return math.pi if node.attr == "pi" else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand, known)
        return -value if isinstance(value, float | int) else None
    if isinstance(node, ast.BinOp):
        above, below = _number(node.left, known), _number(node.right, known)
        does = ARITHMETIC.get(type(node.op))
        both = isinstance(above, float | int) and isinstance(below, float | int)
        return does(above, below) if does and both else None
    if not isinstance(node, ast.Tuple | ast.Call):
        return None
    found = [_number(item, known) for item in (node.elts if isinstance(node, ast.Tuple) else node.args)]
    numbers = tuple(item for item in found if isinstance(item, float | int))
    if not numbers or len(numbers) < len(found):
        return None
    if isinstance(node, ast.Tuple):
        return numbers
    does = FUNCTIONS.get(getattr(node.func, "attr", getattr(node.func, "id", "")))
    return does(*numbers) if does else None


def _rule(node: ast.stmt, value: Value, sentence: str, group: tuple[Value, ...]) -> str:
    """Return the rule by which a constant is not tuned; an empty string if there is none."""
    expression = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(expression, ast.Name):
        return "another name of a constant"
    whole = isinstance(value, int) and all(isinstance(item, int) for item in group)
    if isinstance(value, float) and 0.0 < abs(value) < 1e-99:
        return "keeps a divisor from 0"
    if whole and len(group) > 1 and (_rises_from_zero(group) or _one_apart(group)):
        return "codes or indices that are counted on"
    if whole and (value < 0 or CODES.search(sentence)):  # type: ignore[operator]
        return "a code, an index or a width"
    if whole and isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add) and any(
            isinstance(part, ast.Name) for part in ast.walk(expression)):
        return "an index behind another one"
    if isinstance(value, tuple) and len(value) > 2 and all(isinstance(item, int) and item < 9 for item in value):
        return "a table of indices"
    return ""


def _rises_from_zero(group: tuple[Value, ...]) -> bool:
    return group[0] == 0 and all(first < second for first, second in zip(group, group[1:]))  # type: ignore[operator]


def _one_apart(group: tuple[Value, ...]) -> bool:
    return len({second - first for first, second in zip(group, group[1:])} | {1}) == 1  # type: ignore[operator]


def _sentence(lines: list[str], number: int) -> str:
    """Return the description after `#:` on a line, or on the lines before it. number: of the line, from 0."""
    if "#: " in lines[number]:
        return lines[number].partition("#: ")[2]
    found: list[str] = []
    while number and lines[number - 1].lstrip().startswith("#: "):
        number -= 1
        found.insert(0, lines[number].lstrip().removeprefix("#: "))
    return " ".join(found)


def listed() -> dict[str, dict[str, list[Any]]]:
    """Return the rows of scripts/constants.toml by file and name of the constant.

    A row is [low, high, scene or small system], or [reason] for a constant that is not tuned.
    """
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def page() -> str:
    """Return the text of docs/developers/constants.md."""
    ranges, found = listed(), list(constants())
    lines = ["# Tuned constants", "",
             "Generated by `make manual` from the sources and `scripts/constants.toml`: the numbers that control "
             "iterations, steps, searches, waits and limits, each with a range at whose ends a result is visibly "
             "another one, or none is found. "
             "`tests/test_tuned_constants.py` bakes the scene in the last column with the constant at an end of its "
             "range, and frames or the failure must differ. A constant of a rare rescue, of rows or of contact has a "
             "function of `tests/tuned_units*.py` instead, whose outcome must differ at both ends. If you change a "
             "constant, run that test and the benchmarks of its folder.", "",
             "A new number in capitals is listed in that file, or the test fails, unless it is an index, a "
             "code or a guard of a divisor by one of the rules in `scripts/constants_table.py`.", "",
             "<!-- written by scripts/constants_table.py -->", "",
             "| file | constant | value | range | description | detected by |", "| --- | --- | --- | --- | --- | --- |"]
    for constant in found:
        entry = ranges.get(constant.file, {}).get(constant.name, ())
        if len(entry) == 3:
            low, high, scene = entry
            lines.append(f"| `{constant.file}` | `{constant.name}` | {_shown(constant.value)} | "
                         f"{low:.4g} to {high:.4g} | {constant.sentence} | {scene} |")
    return "\n".join([*lines, "", "<!-- up to here -->"]) + "\n"


def _shown(value: Value) -> str:
    """Return a constant's value, or values, to four digits."""
    return ", ".join(f"{number:.4g}" for number in (value if isinstance(value, tuple) else (value,)))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")
