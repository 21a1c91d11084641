"""Writes docs/developers/constants.md from the solver's sources and scripts/constants.toml: `make manual`. Standard
library only.

A tuned constant that one class alone reads is a field of that class; others stand in capitals in the file that reads
them. Each has its sentence behind `#:`. scripts/constants.toml has
its range, in which the solver still solves, and the scene of tests/tuned_scenes.py or the small system of
tests/tuned_units*.py in which its ends are noticed.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOLVER = ROOT / "solver"
LIST = Path(__file__).with_name("constants.toml")
PAGE = ROOT / "docs" / "developers" / "constants.md"
ROOMS = ("nonlinear", "world", "coupling", "rows")  #: whose constants are listed; others follow
Value = float | int | tuple[float | int, ...]


class Constant(NamedTuple):
    """One constant of a source file."""

    file: str  #: from solver/
    name: str  #: in capitals, or of a class and its field
    value: Value
    sentence: str


def constants(room: str) -> Iterator[Constant]:
    """Yield all numbers, and tuples of such, that a room's files assign to names in capitals, and to fields of their
    classes that have a sentence."""
    for path in sorted((SOLVER / room).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        file, lines, tree = path.relative_to(SOLVER).as_posix(), source.splitlines(), ast.parse(source)
        for name, value, line in _assigned(tree.body):
            if name.isupper():
                yield Constant(file, name, value, _sentence(lines, line))
        for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            for name, value, line in _assigned(owner.body):
                if sentence := _sentence(lines, line):
                    yield Constant(file, f"{owner.name}.{name}", value, sentence)


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, Value, int]]:
    """Yield names, values and lines, from 0, of numbers and tuples of such that statements assign."""
    for node in body:
        if not isinstance(node, ast.Assign) or (value := _number(node.value)) is None:
            continue
        [target] = node.targets
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value if isinstance(target, ast.Tuple) and isinstance(value, tuple) else (value,)
        for name, own in zip(names, values):
            if isinstance(name, ast.Name):
                yield name.id, own, node.lineno - 1


def _number(node: ast.expr) -> Value | None:
    """Return the value of a literal, a negative one or a quotient of such; None of all else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        above, below = _number(node.left), _number(node.right)
        return above / below if isinstance(above, float | int) and isinstance(below, float | int) else None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    numbers = value if isinstance(value, tuple) else (value,)
    return value if numbers and all(type(one) in (int, float) for one in numbers) else None


def _sentence(lines: list[str], number: int) -> str:
    """Return what `#:` says behind a line or on the lines before it."""
    if "#: " in lines[number]:
        return lines[number].partition("#: ")[2]
    found: list[str] = []
    while number and lines[number - 1].lstrip().startswith("#: "):
        number -= 1
        found.insert(0, lines[number].lstrip().removeprefix("#: "))
    return " ".join(found)


def listed() -> dict[str, dict[str, list[Any]]]:
    """Return [low, high, scene or small system] of each listed constant, by file and name; of one that is not tuned,
    [reason]."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def page() -> str:
    """Return the whole page."""
    ranges = listed()
    lines = ["# Tuned constants", "",
             "Written by `make manual` from the sources and `scripts/constants.toml`. Numbers that steer iterations "
             "and steps, each with the range in which the solver still solves. `tests/test_tuned_constants.py` bakes "
             "the scene behind it with the constant at an end of its range, and frames or the failure must differ; "
             "constants of rare rescues and of rows have a function of `tests/tuned_units*.py`, whose outcome must "
             "differ at both ends. Whoever changes one runs that test and the benchmarks of its room.", "",
             "<!-- written by scripts/constants_table.py -->", "",
             "| file | constant | value | range | what it is | noticed in |", "| --- | --- | --- | --- | --- | --- |"]
    for one in (one for room in ROOMS for one in constants(room)):
        entry = ranges.get(one.file, {}).get(one.name, (None, None, "not listed yet"))
        if len(entry) < 3:
            continue
        low, high, scene = entry
        limits = "" if low is None else f"{low:.4g} to {high:.4g}"
        value = ", ".join(f"{number:.4g}" for number in (one.value if isinstance(one.value, tuple) else (one.value,)))
        lines.append(f"| `{one.file}` | `{one.name}` | {value} | {limits} | {one.sentence} | {scene} |")
    return "\n".join([*lines, "", "<!-- up to here -->"]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")
