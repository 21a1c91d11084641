"""Numbers of benchmark rows in sentences and tables of the manual, each between marks that name the row.

    <!--row sharp_cloth: steps/EDGE (EOL)/ms, .3g-->14.2<!--/row-->

A benchmark as `benchmarks.run` calls it; where the number is in its row, in the details or at `claims/NAME`, with
` × 1000` behind it for another unit; and how it is written, as Python formats numbers. `benchmarks.run --write` writes
them anew, and a test compares each with its row.

    python -m benchmarks.quoted          writes them from the rows that are there
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: pages that people write; those that code writes whole are left out
PAGES = (ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md"))
                               if page.name not in ("benchmarks.md", "settings.md", "presets.md")))
MARKED = re.compile(r"<!--row ([\w.]+): ([^>]+?), ([^ >]*)-->(.*?)<!--/row-->", re.DOTALL)
WITHOUT = "not measured"  #: in place of a number whose row is gone
NONE = "none"  #: where a row says that there is no such number, as where no setting is good enough


def filled(text: str, answers: dict[str, dict[str, Any]]) -> str:
    """The text with each number as its row has it now. Raises KeyError where a row has no such number."""
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
    """Return a number of a row, None where the row has None. Raises KeyError where it has nothing there.

    Keys follow each other behind slashes, which they may have too; of a list its places from 0 on are such keys, and
    `min` and `max` where it is of numbers.
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
    """The least and the largest of some numbers, by name; of none or of anything else an empty dictionary."""
    fitting = numbers and all(isinstance(one, (int, float)) for one in numbers)
    return {"min": min(numbers), "max": max(numbers)} if fitting else {}


def write(answers: dict[str, dict[str, Any]]) -> None:
    """Into all pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = filled(text, answers)
        if fresh != text:
            page.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    from benchmarks.run import stored_results

    write({one["benchmark"]: one for one in stored_results()})
