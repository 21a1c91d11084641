"""Markdown tables of the details of benchmarks, for docs/benchmarks.md.

`details` of a result are nested dicts. A dict of dicts becomes a table with a row for each of them; deeper levels
become more rows, "dragon, ConJac"; plain values are in a line above.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST = 14  #: columns that a page bears
Row = dict[str, Any]


def rows(details: Row) -> list[str]:
    """Return Markdown lines of the details of a benchmark, with a heading for each entry that is a dict."""
    lines: list[str] = []
    facts = _facts(details)
    if facts:
        lines += [facts, ""]
    for name, entry in details.items():
        if isinstance(entry, dict) and entry:
            lines += [f"### {_words(name)}", "", *_of(entry)]
    return lines


def _of(entry: Row) -> list[str]:
    """Return Markdown lines of an entry: its plain values, then a table of its dicts."""
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
    lines += [f"| {_words(name)} | " + " | ".join(_text(row.get(column)) for column in columns) + " |"
              for name, row in found]
    return [*lines, ""]


def _leaves(entry: Row, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield (path of keys, dict) of each nested dict with plain values; None yields an empty dict."""
    for name, inner in entry.items():
        if inner is None:
            yield (*path, name), {}
        elif isinstance(inner, dict):
            if any(_plain(value) for value in inner.values()):
                yield (*path, name), inner
            yield from _leaves({key: value for key, value in inner.items() if isinstance(value, dict)}, (*path, name))


def _facts(entry: Row) -> str:
    facts = [f"{_words(key)}: {_text(value)}" for key, value in entry.items() if _plain(value) and value is not None]
    return ", ".join(facts) + "." if facts else ""


def _plain(value: Any) -> bool:
    """Return whether a value fits into a table cell: a number, a word, or up to four of them."""
    return value is None or isinstance(value, (str, int, float)) or (
        isinstance(value, list) and len(value) <= 4 and all(isinstance(one, (str, int, float)) for one in value))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "\\|") if isinstance(value, (str, int)) else ""


def _words(name: str) -> str:
    return name.replace("_", " ")
