"""Numbers of benchmark rows in sentences and tables of the manual, each between marks that name the row.

    <!--row sharp_cloth: steps/EDGE (EOL)/ms, .3g-->14.2<!--/row-->

A mark has the name of a benchmark in `benchmarks.run`; the path of the number in the details of its row, or
`claims/NAME`, with ` × 1000` appended to change its unit; and a format of Python. `benchmarks.run --write` updates the
numbers, and a test compares each with its row.

    python -m benchmarks.quoted          updates the numbers from the stored rows
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: handwritten pages, without pages that are generated as a whole
PAGES = (ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md"))
                               if page.name not in ("benchmarks.md", "settings.md", "presets.md")))
MARKED = re.compile(r"<!--row ([\w.]+): ([^>]+?), ([^ >]*)-->(.*?)<!--/row-->", re.DOTALL)
WITHOUT = "not measured"  #: in place of a number whose row is gone
NONE = "none"  #: where the number in a row is None, for example because no setting is good enough


def filled(text: str, answers: dict[str, dict[str, Any]]) -> str:
    """Return a text with its marked numbers updated. answers: rows by name. Raises KeyError where a number is gone."""
    def one(found: re.Match[str]) -> str:
        name, path, form, _ = found.groups()
        where, _, factor = path.partition(" × ")
        shown = WITHOUT
        if name in answers:
            number = value(answers[name], where)
            shown = NONE if number is None else format(number * float(factor or 1), form).replace("%", " %")
        return f"<!--row {name}: {path}, {form}-->{shown}<!--/row-->"

    return MARKED.sub(one, text)


def value(answer: dict[str, Any], path: str) -> float | None:
    """Return the number at a path of a row, None where the row has None. Raises KeyError where the path does not exist.

    path: keys separated by slashes, which keys may contain too. Keys of a list are its indices from 0 on, and `min` and
    `max` if it is of numbers.
    """
    at: Any = answer["details"] | {"claims": {claim["claim"]: claim["value"] for claim in answer["claims"]}}
    rest = path
    while rest:
        if isinstance(at, list):
            at = {str(index): one for index, one in enumerate(at)} | ordered(at)
        fitting = [key for key in at if f"{rest}/".startswith(f"{key}/")] if isinstance(at, dict) else []
        if not fitting:
            raise KeyError(f"{answer.get('benchmark', '')} has no {path}")
        key = max(fitting, key=len)
        at, rest = at[key], rest[len(key) + 1:]
    return None if at is None else float(at)


def ordered(numbers: list[Any]) -> dict[str, Any]:
    """Return the extremes of a list of numbers as "min" and "max"; {} if the list is empty or has other items."""
    fitting = numbers and all(isinstance(one, (int, float)) for one in numbers)
    return {"min": min(numbers), "max": max(numbers)} if fitting else {}


def write(answers: dict[str, dict[str, Any]]) -> None:
    """Update the marked numbers in all pages. answers: rows by name. Raises KeyError where a row lacks a number."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = filled(text, answers)
        if fresh != text:
            page.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    from benchmarks.run import stored_results

    write({one["benchmark"]: one for one in stored_results()})
