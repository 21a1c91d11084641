"""Compare linear solvers by scene and thread count: the table by which *Automatic* chooses.

    python -m benchmarks.linear_choice PART       linearised: one solve a step; quick and newton_d: stages of SDIRK2 by
                                                  these stage solvers
    python -m benchmarks.linear_choice --table    writes solver/linear/quickest.json from the present rows

A body is released from a lean, on bars of 6 tetrahedra a cell that are twice as long as wide and on the dragon, Vanilla
and ConJac with ten dynamic nodes. CHOLMOD and Mixed Precision take the same steps in turns, on one thread and on two;
the table has the shortest of three runs, in milliseconds a step of the main thread: its waiting time does not count,
and if other programs keep the helpers busy it does their part as well.

`automatic_over_quickest` is the worst time of *Automatic* relative to the quicker of both: the loss by a choice that is
the same for any number of threads, so that a bake's bytes do not depend on the machine's cores.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.scenes.refactor import body
from benchmarks.step import make, spread
from solver.linear import quickest
from solver.linear.quickest import Measured
from solver.meshing.grid import box_tets
from solver.world.nodes import Nodes

RESULTS = Path(__file__).parent / "results"
SOLVERS = ("cholmod", "mixed")
WIDTHS = (4, 7, 10, 14)  #: cells across a bar
DYNAMIC, RUNS = 10, 3
#: of each part and use its method, integrator, step [s], how many are measured, and most tetrahedra
USES: dict[str, dict[str, tuple[str, str, float, int, float]]] = {
    "linearised": {"vanilla linearised": ("vanilla", "semi_implicit", 1 / 96, 4, np.inf),
                   "conjac linearised": ("conjac", "semi_implicit", 1 / 96, 4, np.inf)},
    "quick": {"vanilla quick": ("vanilla", "sdirk2", 1 / 48, 5, np.inf),
              "conjac quick": ("conjac", "sdirk2", 1 / 48, 3, 15_000)},
    "newton_d": {"vanilla newton_d": ("vanilla", "sdirk2", 1 / 96, 2, np.inf)}}


def bar(width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, tetrahedra, and positions from which it is let go."""
    nodes, tets = box_tets((width, width, 2 * width), (0.17, 0.17, 0.34))
    above = np.maximum(nodes[:, 2:] - 0.034, 0.0)
    return nodes, tets, nodes + above * [0.0, 0.0, 0.04] + above**2 * [0.4, 0.0, 0.0]


def stepped(world: Nodes, pulled: np.ndarray, h: float, steps: int) -> float:
    """Milliseconds of a step by this thread, after one that is not counted."""
    world.forget_past()
    state = replace(world.initial_state(), q=pulled[world.coordinates.free].ravel())
    state = world.step(state, h)
    began = time.thread_time()
    for _ in range(steps):
        state = world.step(state, h)
    return 1e3 * (time.thread_time() - began) / steps


def rows_of(part: str, use: str, shape: str, made: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[Measured]:
    """One body and one use, on one thread and on two."""
    nodes, tets, pulled = made
    method, integrator, h, steps, most = USES[part][use]
    if len(tets) > most:
        return []
    worlds = {key: make(nodes, tets, method, spread(nodes, DYNAMIC if method == "conjac" else 0), key, integrator,
                        "newton_d" if part == "linearised" else part) for key in SOLVERS}
    found = []
    for count in (1, 2):
        threads.configure(count)
        ms = dict.fromkeys(SOLVERS, np.inf)
        for _ in range(RUNS):
            for key, world in worlds.items():
                ms[key] = min(ms[key], stepped(world, pulled, h, steps))
        found.append(Measured(use, shape, len(nodes), len(tets), count,
                              {key: float(f"{value:.4g}") for key, value in ms.items()}))
        print(found[-1], file=sys.stderr, flush=True)
    return found


def over_quickest(rows: list[Measured]) -> float:
    """Return the largest ratio of the chosen solver's time to the quickest one's."""
    table = quickest.Table(rows)
    return max(row.ms[table.key(row.use, [row.tets]) or quickest.FIRST] / min(row.ms.values()) for row in rows)


def write_table() -> None:
    """That of the rows that are kept."""
    stored = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("linear_choice.*.json"))]
    table = {"commits": {answer["benchmark"]: answer["machine"]["commit"] for answer in stored},
            "rows": [row for answer in stored for row in answer["details"]["rows"]]}
    quickest.TABLE.write_text(json.dumps(table, separators=(",", ":")).replace('{"use"', '\n{"use"') + "\n",
                              encoding="utf-8")


def main() -> None:
    part = sys.argv[1]
    if part == "--table":
        write_table()
        return
    bodies = {f"bar {width}": bar(width) for width in WIDTHS}
    if meshes.FOLDER.exists():
        bodies["dragon"] = body("dragon")
    rows = [row for use in USES[part] for shape, made in bodies.items() for row in rows_of(part, use, shape, made)]
    emit(f"linear_choice.{part}",
         [claim(f"automatic_over_quickest_{part}", over_quickest(rows), "times as long", "<= 1.1")],
         {"rows": [row._asdict() for row in rows], "from": quickest.Table(rows).least})


if __name__ == "__main__":
    main()
