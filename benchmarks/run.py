"""Runs benchmarks, each in its own process: `make bench NAME=step`, `make benchmarks`.

    python -m benchmarks.run NAME      prints its JSON line
    python -m benchmarks.run --all     all of them, and writes docs/benchmarks.md
    python -m benchmarks.run --write NAME …     these, and writes docs/benchmarks.md with what the others said last

What each said last is kept in benchmarks/results, so a quiet hour may go to those that need it. A claim that does not
hold stands in the table as it is; only a benchmark that crashes is an error.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import tables

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "benchmarks" / "results"
NOT_BENCHMARKS = {"armadillo", "chains", "lively_picture", "lively_scenes", "report", "run", "tables", "timed_solver",
                  "vanilla"}


def names() -> list[str]:
    """Every script of this folder that makes claims."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def run(name: str) -> dict[str, Any]:
    """What one benchmark said. Raises RuntimeError where it failed or said nothing."""
    ran = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=ROOT,
                         stdout=subprocess.PIPE, text=True)
    said = [line for line in ran.stdout.splitlines() if line.startswith('{"benchmark"')]
    if ran.returncode or not said:
        (KEPT / f"{name}.json").unlink(missing_ok=True)  # a row of an older code would hide that it crashed
        raise RuntimeError(f"benchmark {name} failed with exit code {ran.returncode}")
    answer: dict[str, Any] = json.loads(said[-1])
    KEPT.mkdir(parents=True, exist_ok=True)
    said_last = json.dumps(answer, ensure_ascii=False, indent=1) + "\n"
    (KEPT / f"{name}.json").write_text(said_last, encoding="utf-8")
    return answer


def kept() -> list[dict[str, Any]]:
    """What each benchmark said last."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(KEPT.glob("*.json"))
            if path.stem in names()]


def table(answers: list[dict[str, Any]]) -> str:
    """docs/benchmarks.md: claim, ours, goal, paper, the machine each was measured on, and what else was measured."""
    rows = ["# Benchmarks", "",
            "Written by `make benchmarks`; every row is one run on the machine below it. A claim that does not hold "
            "stands as it is.", ""]
    for answer in answers:
        rows += [f"## {answer['benchmark']}", "", "| claim | ours | goal | paper | holds |",
                 "| --- | --- | --- | --- | --- |"]
        for one in answer["claims"]:
            paper = "" if one["paper"] is None else one["paper"]
            rows.append(f"| `{one['claim']}` | {one['value']:.4g} {one['unit']} | {one['goal']} | {paper} | "
                        f"{'yes' if one['holds'] else '**no**'} |")
        facts = answer["machine"]
        rows += ["", f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, {facts['system']}, "
                     f"Python {facts['python']}, numpy {facts['numpy']}, scipy {facts['scipy']}, "
                     f"numba {facts['numba']}, scikit-sparse {facts['scikit-sparse']}, "
                     f"commit {facts.get('commit') or 'not kept'}.", ""]
        rows += tables.rows(answer["details"])
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="*", help=f"of {', '.join(names())}")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    chosen = parser.parse_args()
    if not chosen.all and not chosen.name or not {*chosen.name} <= {*names()}:
        parser.error(f"name one of {', '.join(names())}, or --all")
    failed = []
    for name in names() if chosen.all else chosen.name:
        try:
            print(json.dumps(run(name), ensure_ascii=False), flush=True)
        except RuntimeError as failure:
            print(failure, file=sys.stderr)
            failed.append(name)
    if chosen.all or chosen.write:
        (ROOT / "docs" / "benchmarks.md").write_text(table(kept()), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
