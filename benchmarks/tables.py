"""Tables in docs/benchmarks.md of the details of a benchmark besides its claims.

`details` of a result are nested dicts. A dict of dicts becomes a table with a row for each of them; deeper levels
become more rows, "dragon, ConJac"; plain values are in a line above.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST = 14  #: columns that a page bears
Row = dict[str, Any]


def rows(details: Row) -> list[str]:
    """Lines of Markdown, a heading for each entry that is a dict; no line where there is nothing to tell."""
    lines: list[str] = []
    facts = _facts(details)
    if facts:
        lines += [facts, ""]
    for name, entry in details.items():
        if isinstance(entry, dict) and entry:
            lines += [f"### {_words(name)}", "", *_of(entry)]
    return lines


def _of(entry: Row) -> list[str]:
    """One entry: its own facts, then a table of the dicts in it."""
    facts = _facts(entry)
    lines = [facts, ""] if facts else []
    found = [(", ".join(path), row) for path, row in _leaves(entry)]
    if not found:
        return lines
    columns: list[str] = []
    for _, row in found:
        columns += [key for key, value in row.items() if _plain(value) and key not in columns]
    columns = columns[:MOST]
    lines += ["| | " + " | ".join(map(_words, columns)) + " |", "| --- |" + " --- |" * len(columns)]
    lines += [f"| {_words(name)} | " + " | ".join(_said(row.get(column)) for column in columns) + " |"
              for name, row in found]
    return [*lines, ""]


def _leaves(entry: Row, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Dicts with plain values somewhere below, and the names that lead there; None is a row without values."""
    for name, inner in entry.items():
        if inner is None:
            yield (*path, name), {}
        elif isinstance(inner, dict):
            if any(_plain(value) for value in inner.values()):
                yield (*path, name), inner
            yield from _leaves({key: value for key, value in inner.items() if isinstance(value, dict)}, (*path, name))


def _facts(entry: Row) -> str:
    said = [f"{_words(key)}: {_said(value)}" for key, value in entry.items() if _plain(value) and value is not None]
    return ", ".join(said) + "." if said else ""


def _plain(value: Any) -> bool:
    """Whether a table's cell can hold it: a number, a word, or up to four of them."""
    return value is None or isinstance(value, (str, int, float)) or (
        isinstance(value, list) and len(value) <= 4 and all(isinstance(one, (str, int, float)) for one in value))


def _said(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "\\|") if isinstance(value, (str, int)) else ""


def _words(name: str) -> str:
    return name.replace("_", " ")
