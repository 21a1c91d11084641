"""The manual's table of landings, docs/ground.md, from the latest row of benchmarks.impacts.

    python -m benchmarks.ground_page          `python -m benchmarks.run --write` does so too
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripts import marked

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ground.md"
MARKS = "<!-- what lands: written by benchmarks/ground_page.py -->", "<!-- end of what lands -->"
HEAD = ("| | longest edge | solved | turned | sunk |", "| --- | --- | --- | --- | --- |")


def table(answer: dict[str, Any]) -> str:
    """A line for each body that was dropped, the bar that stops, and what it is of. answer: that of impacts."""
    rows, claims = answer["details"], {one["claim"]: one for one in answer["claims"]}
    lines = [f"| {name} | {row['longest edge, ours']:.2f} | {row['longest edge, solved']:.2f} | "
             + (f"{row['turned']:.2f}°" if "turned" in row else "") + f" | {row['sink']:.3f} |"
             for name, row in rows.items() if "sink" in row]
    bar = rows["bar that stops"]
    goals = ", ".join(f"`{name}` {one['value']:.3g} of {one['goal'].removeprefix('<= ')}"
                      for name, one in claims.items())
    return "\n".join([*HEAD, *lines, "",
                      f"A bar whose held end stops at once has edges of {bar['longest edge, ours']:.2f}, solved "
                      f"{bar['longest edge, solved']:.2f}. The worst: {goals}. Commit {answer['machine']['commit']}."])


def write(answers: dict[str, dict[str, Any]]) -> None:
    """Into the page, where there is such a row. Raises ValueError where it lacks the place."""
    if "impacts" in answers:
        marked.put(PAGE, MARKS, table(answers["impacts"]))


if __name__ == "__main__":
    from benchmarks.run import stored_results

    write({one["benchmark"]: one for one in stored_results()})
