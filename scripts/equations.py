"""List where each equation of the papers is implemented: `make equations` prints tag, file and line.

A docstring names its source in brackets on any of its lines: [ConJac 12], [ConJac 6, 11-13] or [ConJac 12, changed:
why]. docs/equations.txt lists the valid tags, one per line: the tag, a tab, its content. Units such as [m/s] or
[Blender units] are not tags. Standard library only.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "equations.txt"
FOLDERS = ("solver", "conjac_addon")

NAME = r"[A-Z][^\W\d_]{2,}"  # of a source; its letters may be of any alphabet
BRACKET = re.compile(r"\[([^\[\]]+)\]")
SOURCE = re.compile(NAME + r"(, .+| [\dA-Z].*)")  # a source's name, then a number or a heading
NAMED = re.compile(r"\[" + NAME + "[ ,]")  # what a file without sources has not


@dataclass(frozen=True)
class Use:
    """A source tag in a docstring, and where it is."""

    tag: str  #: as in the list, without the reason of a change
    changed: str  #: why the code departs from the paper, or empty
    path: Path  #: relative to the root
    line: int
    name: str  #: of the function or class


def listed(path: Path = LIST) -> dict[str, str]:
    """Return the content of each valid tag, in the order of the list.

    Raises ValueError where a line has no tab or a tag occurs twice.
    """
    tags: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        tag, tab, says = line.partition("\t")
        if not tab or tag in tags:
            raise ValueError(f"{path.name}:{number}: {'said twice' if tab else 'no tab'}: {line}")
        tags[tag] = says.strip()
    return tags


def tags_of(docstring: str) -> list[tuple[str, str]]:
    """Return (tag, reason of a change or "") of each source that a docstring names, in order.

    A bracket may span several lines.
    """
    sources = []
    for bracket in BRACKET.findall(" ".join(docstring.split())):
        if SOURCE.fullmatch(bracket):
            named, _, why = bracket.partition(", changed:")
            sources += [(tag, why.strip()) for tag in spread(named)]
    return sources


def spread(named: str) -> list[str]:
    """Return a tag for each equation of a bracket: four for "ConJac 6, 11-13"."""
    source, _, numbers = named.partition(" ")
    if not re.fullmatch(r"\d+(-\d+)?(, ?\d+(-\d+)?)*", numbers):
        return [named]
    ends = [[int(end) for end in part.split("-")] for part in numbers.split(",")]
    return [f"{source} {number}" for part in ends for number in range(part[0], part[-1] + 1)]


def uses_in(path: Path, root: Path = ROOT) -> list[Use]:
    """Return all source tags in the docstrings of a file, in order. root: folder to which their paths are relative."""
    text, uses = path.read_text(encoding="utf-8"), list[Use]()
    if not NAMED.search(text):
        return uses
    tree = ast.parse(text, str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            line, name = getattr(node, "lineno", 1), getattr(node, "name", path.stem)
            for tag, why in tags_of(ast.get_docstring(node) or ""):
                uses.append(Use(tag, why, path.relative_to(root), line, name))
    return sorted(uses, key=lambda use: use.line)


def all_uses(root: Path = ROOT) -> list[Use]:
    """Return all source tags in the docstrings of the solver and the add-on. root: of the repository."""
    files = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py")))
    return [use for path in files for use in uses_in(path, root)]


def main() -> int:
    known, uses = listed(), all_uses()
    for tag, says in known.items():
        tagged = [use for use in uses if use.tag == tag]
        if tagged:
            print(f"[{tag}]  {says}")
        for use in tagged:
            why = f"   (changed: {use.changed})" if use.changed else ""
            print(f"    {use.path}:{use.line} {use.name}{why}")
    unknown = [use for use in uses if use.tag not in known]
    for use in unknown:
        print(f"{use.path}:{use.line} {use.name}: [{use.tag}] is not in {LIST.relative_to(ROOT)}", file=sys.stderr)
    return 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
