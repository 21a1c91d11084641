"""Compare dynamic patches with single nodes on TWIST's plucked bar: motion that is preserved, and cost of a step.

Four spots are at the corners of the bar's middle, or along its axis; each moves with the node in its middle, or with
the mean of the nodes within 22 or 30 mm, or with rotation and stretch as well. Kept is the visible energy
(`scenes.plucked`) in the first tenth of a second and from 0.6 to 1 s, relative to the trapezoidal rule at 1/2000 s with
all nodes. Milliseconds of a step are the thread's own, on one thread.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.scenes import plucked
from benchmarks.scenes.scene import Scene
from benchmarks.scenes.twist import CELLS, EDGE
from solver import catalogue
from solver.coordinates.patches import Motions, Patch
from solver.simulate import advance
from solver.world.nodes import Nodes

STEP, SECONDS = 1 / 96, 1.0
TRUTH_STEP = 1 / 2000
LENGTH, HALF = CELLS[0] * EDGE, CELLS[1] * EDGE / 2  #: of the bar [m]
SPOTS = {"corners": ([(LENGTH / 2, y, z) for y in (-HALF, HALF) for z in (-HALF, HALF)], 0.022),
          "axis": ([(fraction * LENGTH, 0.0, 0.0) for fraction in (0.2, 0.4, 0.6, 0.8)], 0.03)}
SOLVERS: dict[str, dict[str, Any]] = {
    "Semi-Implicit Euler": {"integrator": "semi_implicit"},
    "Semi-Implicit SDIRK2": {"integrator": "ssdirk2"},
    "SDIRK2, Quick": {"integrator": "sdirk2", "stage_solver": {"kind": "quick"}}}
CLAIMED = "Semi-Implicit SDIRK2"  #: whose single nodes the claim is put beside
NEW = "turn"  #: how spots of a new soft body move, `operators.first_settings`


def with_spots(scene: Scene, where: str, kind: str, **choices: Any) -> Nodes:
    """The bar with four spots that move by their middle nodes ("node"), or as an entry of the catalogue says."""
    points, radius = SPOTS[where]
    away = np.linalg.norm(scene.nodes[None] - np.array(points)[:, None], axis=2)
    world = scene.world("conjac", 0, **choices)
    condensation = world.condensation
    if kind == "node":
        mesh = replace(condensation.mesh, dynamic=np.sort(away.argmin(axis=1)).astype(np.int32))
    else:
        ways: Motions = catalogue.find("spot", kind).load()
        spots = [Patch(np.flatnonzero(one <= radius + 1e-9).astype(np.int32), ways) for one in away]
        mesh = replace(condensation.mesh, patches=tuple(spots))
    params = {param.key: param.default for param in catalogue.find("method", "conjac").params}
    params["gamma"] = scene.gamma
    return replace(world, condensation=type(condensation)(mesh, world.linear, params))


def watched(scene: Scene, world: Nodes, h: float) -> tuple[np.ndarray, float]:
    """Visible energy at each step [J], and milliseconds a step."""
    visible = plucked.Visible(scene.world("vanilla"), scene.nodes)
    advance(world, scene.start(world), h, 1)  # kernels are compiled before anything is timed
    world.forget_past()
    state, spent = scene.start(world), 0.0
    seen = [visible.of(state)]
    for _ in range(round(SECONDS / h)):
        began = time.thread_time()
        state = advance(world, state, h, 1)
        spent += time.thread_time() - began
        seen.append(visible.of(state))
    return np.array(seen), 1e3 * spent / round(SECONDS / h)


def first_and_late(energies: np.ndarray) -> np.ndarray:
    times = np.linspace(0.0, SECONDS, len(energies))
    return np.array([energies[times <= 0.1].mean(), energies[times >= 0.6].mean()])


def main() -> None:
    threads.configure(1)
    bar = plucked.scene()
    tight = {"kind": "qlb", "params": {"tolerance": 1e-6}}
    true = first_and_late(watched(bar, bar.world("vanilla", integrator="trapezoidal", stage_solver=tight),
                                  TRUTH_STEP)[0])
    rows: dict[str, dict[str, float]] = {}
    for label, choices in SOLVERS.items():
        for where in SPOTS:
            for kind in ("node", *catalogue.family("spot")):
                energies, cost = watched(bar, with_spots(bar, where, kind, **choices), STEP)
                first, late = first_and_late(energies) / true
                rows[f"{label}, {where}, {kind}"] = {"to 0.1 s": round(float(first), 3),
                                                     "0.6 to 1 s": round(float(late), 3), "ms a step": round(cost, 1)}
                print(label, where, kind, rows[f"{label}, {where}, {kind}"], file=sys.stderr, flush=True)
    new = [rows[f"{CLAIMED}, {where}, {NEW}"] for where in SPOTS]
    claims = [claim("patches_visible", min(row["0.6 to 1 s"] for row in new), "of the truth", ">= 0.55"),
              claim("patches_first", min(row["to 0.1 s"] for row in new), "of the truth", ">= 0.85")]
    emit("patches", claims, rows)


if __name__ == "__main__":
    main()
