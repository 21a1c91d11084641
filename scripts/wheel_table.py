"""Write the table of wheel sizes of each zip in docs/install.md, from the lock file: `make manual`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import marked, wheels  # noqa: E402

PAGE = ROOT / "docs" / "install.md"
MARKS = marked.marks("sizes", "wheel_table.py")
GOAL = 100.0  #: MB


def table() -> str:
    """Return a Markdown table of sizes [MB], a row for each wheel and a column for each zip, with missing wheels."""
    lock = json.loads(wheels.LOCK.read_text(encoding="utf-8"))
    zips = [(python, target) for python in wheels.PYTHONS for target in wheels.TAGS]
    sizes = {build: {row["name"]: row["size"] / 1e6 for row in lock.get(" ".join(build), [])} for build in zips}
    required = {build: {pin.partition("==")[0] for pin in wheels.pins(*build)} for build in zips}
    largest = {name: max(found.get(name, 0.0) for found in sizes.values()) for name in set().union(*required.values())}
    names = sorted(largest, key=lambda name: (-largest[name], name))
    lines = ["| MB | " + " | ".join(f"py{python.replace('.', '')} {target}" for python, target in zips) + " |",
             "| --- |" + " --- |" * len(zips)]
    for name in names:
        cells = [_megabytes(sizes[build].get(name), name in required[build]) for build in zips]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    sums = [sum(sizes[build].values()) for build in zips]
    lines.append("| **all wheels** | " + " | ".join(f"**{size:.1f}**" for size in sums) + " |")
    lines.append(f"| at most {GOAL:.0f} MB | " + " | ".join(_verdict(size, required[build] - set(sizes[build]))
                                                        for build, size in zip(zips, sums, strict=True)) + " |")
    return "\n".join(lines)


def _megabytes(size: float | None, is_required: bool) -> str:
    if size is None:
        return "missing" if is_required else ""
    return f"{size:.1f}"


def _verdict(size: float, missing: set[str]) -> str:
    if missing:
        return f"no zip: {', '.join(sorted(missing))}"
    return "yes" if size <= GOAL else "no"


def main() -> None:
    marked.put(PAGE, MARKS, table())


if __name__ == "__main__":
    main()
