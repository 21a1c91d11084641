"""Run benchmarks, each in its own process: `make bench NAME=step`, `make benchmarks`.

    python -m benchmarks.run NAME      prints the report of a benchmark, one JSON line
    python -m benchmarks.run --all     runs all benchmarks and writes docs/benchmarks.md
    python -m benchmarks.run --write NAME …     runs these, and writes docs/benchmarks.md and the README's table with
                                                the latest reports of all; without a name it measures nothing
    python -m benchmarks.run --list    lists the commit of each report, and the benchmarks without a report

The latest report of each benchmark is stored in benchmarks/results, unless the code that was measured is in no commit.
A benchmark with parts, such as conjac_scenes.dragon, runs part by part, each with its report, commit and machine; the
name without a part means all parts. A claim that does not hold appears in the table too; only a benchmark that crashes
is an error.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import front_page, ground_page, quoted, report, table_2_1, tables

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
NOT_BENCHMARKS = {"armadillo", "chains", "cores_prices", "cores_scenes", "creatures", "drawn_pictures", "front_page",
                  "ground_page", "lively_picture", "lively_scenes", "meshes", "peer_cloth_program", "peer_programs",
                  "quoted", "reference_factor", "report", "run", "simkit_program", "subspace_whole", "table_2_1",
                  "tables", "timed_solver", "vanilla", "watched_solver"}
#: of benchmarks that take their part as an argument
PARTS = {
    "articulated": ("growth", "mujoco", "klann", "bisp", "bisp_printed"),
    "conjac_scenes": ("twist", "hetero", "aniso", "barcut", "dragon", "dragon_coarse", "dragon_fine", "dragon_nodes",
                      "dragon_even", "bunny", "armadillo", "refactor", "refactor_grid", "refactor_grid_ten",
                      "refactor_grid_full", "muscle"),
    "contact": ("self", "clock", "share", "ducks", "bowl", "heap", "fifty", "hundred"),
    "contact_laws": ("mat", "balls"),
    "contact_truths": ("momentum", "hertz", "slope", "wire"),
    "contact_scenes": ("slices", "stack", "key", "rollers", "belly", "rabbit", "wrung", "ducks", "bowl", "tumble",
                       "rollers_conjac"),
    "cores": ("large", "small", "million"),
    "constraint_scenes": ("crane", "puppet", "necklace", "hammock", "shirt", "bridge", "tree"),
    "holds": ("rows", "strands", "gradients"),
    "default_nodes": ("wobbles", "bounces"),
    "landings": ("cube", "ball", "torus", "suzanne", "ell", "obstacle", "meeting", "grid"),
    "mechanism_scenes": ("chain", "biped"),
    "on_ground": ("shapes", "smooth", "bunny", "dragon"),
    "linear_choice": ("linearised", "quick", "newton_d"),
    "prices": ("violent", "drape", "cubes"),
    "scale": ("multigrid", "million", "direct", "poisson"),
    "seen_resting": ("hammock", "heavy"),
    "shaken": ("glass", "mixed", "hammock", "stack"),
    "sharp_variants": ("edge", "edge_held", "edge_bent", "wire", "strand", "strand_held", "strand_bent"),
    "subspace": ("octobot", "gatorman", "mammoth", "crab", "dragon", "stiffness"),
    "subspace_figures": ("rotations", "sword", "candy", "octobot", "pareto", "locality", "bar", "materials"),
}


def names() -> list[str]:
    """Return the names of all benchmarks of this folder, with their parts."""
    scripts = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    return [name for script in scripts for name in parts_of(script)]


def parts_of(script: str) -> list[str]:
    return [f"{script}.{part}" for part in PARTS[script]] if script in PARTS else [script]


def run(name: str) -> dict[str, Any]:
    """Run a benchmark and return its report. Raises RuntimeError where it fails or prints no report."""
    script, _, part = name.partition(".")
    ran = subprocess.run([sys.executable, "-m", f"benchmarks.{script}", *([part] if part else [])], cwd=ROOT,
                         stdout=subprocess.PIPE, text=True)
    answers = [line for line in ran.stdout.splitlines() if line.startswith('{"benchmark"')]
    if ran.returncode or not answers:
        path_of(name).unlink(missing_ok=True)  # a row of an older code would hide that it crashed
        raise RuntimeError(f"benchmark {name} failed with exit code {ran.returncode}")
    answer: dict[str, Any] = json.loads(answers[-1])
    answer["seal"] = report.seal(answer)
    return answer


def keep(name: str, answer: dict[str, Any]) -> None:
    """Store the report of a benchmark in the folder of results. Raises RuntimeError where it cannot be traced."""
    lacks = report.why_not(answer)
    if lacks:
        raise RuntimeError(f"benchmark {name} is not kept: {lacks}. Commit it and measure again")
    RESULTS.mkdir(parents=True, exist_ok=True)
    path_of(name).write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def path_of(name: str) -> Path:
    return RESULTS / f"{name}.json"


def stored_results() -> list[dict[str, Any]]:
    """Return the stored reports of all benchmarks that can be traced to code and machine."""
    found = [json.loads(path_of(name).read_text(encoding="utf-8")) for name in names() if path_of(name).exists()]
    return [answer for answer in found if report.why_not(answer) is None]


def commits() -> dict[str, str | None]:
    """Return the commit of each benchmark's stored report, by name; None where there is none that can be traced."""
    found: dict[str, str | None] = dict.fromkeys(names())
    for name in names():
        if path_of(name).exists():
            answer = json.loads(path_of(name).read_text(encoding="utf-8"))
            found[name] = answer["machine"]["commit"] if report.why_not(answer) is None else None
    return found


def table(answers: list[dict[str, Any]]) -> str:
    """Return the text of docs/benchmarks.md: claims with value, goal and paper's value, machines, and details."""
    rows = ["# Benchmarks", "",
            "Written by `make benchmarks`; every row is one run of the commit and on the machine below it. A claim "
            "that does not hold stands as it is. `python -m benchmarks.run --write NAME` measures one anew, "
            "`python -m benchmarks.run --list` says of which commit each row is.", ""]
    without = [name for name, commit in commits().items() if commit is None]
    if without:
        rows += ["Without a row, since none was measured on a commit that is kept: " +
                 ", ".join(f"`{name}`" for name in without) + ". Other pages have no numbers of these.", ""]
    rows += table_2_1.lines({answer["benchmark"]: answer for answer in answers})
    for answer in answers:
        rows += [f"## {answer['benchmark']}", ""]
        if answer["claims"]:
            rows += ["| claim | ours | goal | paper | holds |", "| --- | --- | --- | --- | --- |"]
        for one in answer["claims"]:
            paper = "" if one["paper"] is None else one["paper"]
            rows.append(f"| `{one['claim']}` | {one['value']:.4g} {one['unit']} | {one['goal']} | {paper} | "
                        f"{'yes' if one['holds'] else '**no**'} |")
        facts = answer["machine"]
        rows += ["", f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, {facts['system']}, "
                     f"Python {facts['python']}, numpy {facts['numpy']}, scipy {facts['scipy']}, "
                     f"numba {facts['numba']}, scikit-sparse {facts['scikit-sparse']}, "
                     f"load {facts['load_before']}, commit {facts['commit']}.", ""]
        rows += tables.rows(answer["details"])
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="*", help=f"of {', '.join(names())}")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and the README's table")
    parser.add_argument("--list", action="store_true", help="say which have a row")
    chosen = parser.parse_args()
    if chosen.list:
        for name, commit in commits().items():
            print(f"{name}: {commit or 'no row'}")
        return 0
    wanted = names() if chosen.all else [one for name in chosen.name for one in parts_of(name)]
    if not (wanted or chosen.write) or not {*wanted} <= {*names()}:
        parser.error(f"name one of {', '.join(names())}, or --all")
    failed = []
    for name in wanted:
        try:
            answer = run(name)
            print(json.dumps(answer, ensure_ascii=False), flush=True)
            keep(name, answer)
        except RuntimeError as failure:
            print(failure, file=sys.stderr)
            failed.append(name)
    if chosen.all or chosen.write:
        (ROOT / "docs" / "benchmarks.md").write_text(table(stored_results()), encoding="utf-8")
        for page in (front_page, ground_page, quoted):
            page.write({answer["benchmark"]: answer for answer in stored_results()})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
