"""Factoring in single precision and refining against CHOLMOD: the second after a release, Vanilla and ConJac.

    python -m benchmarks.scenes.refactor refactor          or fewer steps of it: refactor 24

The dragon is let go from 0.4 of the pull of benchmarks/scenes/dragon.py, the grid of 18 x 18 x 32 nodes leaning over
and a little stretched. β = 1, γ = 1/3, h = 1/96. The two linear solvers take turns, a step each. Then both settle in
large steps with β = 2 until nothing moves, and their shapes are compared. Times are the thread's own, of one thread:
CHOLMOD has no other, and ours would take them all.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import Claim, claim
from benchmarks.scenes import dragon
from benchmarks.step import make, spread
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.nodes import Nodes

SOLVERS = ("cholmod", "mixed")
#: of each row of docs/benchmarks.md its body and methods: a grid's second takes minutes
ROWS = {"refactor": ("dragon", (("vanilla", 0), ("conjac", 4), ("conjac", 10))),
        "refactor_grid": ("grid", (("conjac", 4),)), "refactor_grid_ten": ("grid", (("conjac", 10),)),
        "refactor_grid_full": ("grid", (("vanilla", 0),))}
H, STEPS, WARM = 1.0 / 96.0, 96, 3
PULL = 0.4  #: of the dragon's
SETTLING, DAMPED, LONG = 60, 2.0, 1.0 / 24.0  #: most steps, β, h [s]
AT_REST = 1.0e-9  #: of the body's diagonal in such a step
GOALS = {"dragon": ">= 1.3", "grid": ">= 1.6"}


def body(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, tetrahedra, and positions from which it is let go."""
    if name == "dragon":
        scene = dragon.scene(PULL)
        assert scene.pulled is not None
        return scene.nodes, scene.tets, scene.pulled
    nodes, tets = box_tets((17, 17, 31), (0.17, 0.17, 0.31))
    above = np.maximum(nodes[:, 2:] - 0.031, 0.0)
    return nodes, tets, nodes + above * [0.0, 0.0, 0.04] + above**2 * [0.4, 0.0, 0.0]


def pair(name: str, method: str, count: int, steps: int) -> dict[str, float]:
    """The row of a body and a method: medians in ms, the ratio, and what differs."""
    nodes, tets, pulled = body(name)
    worlds = [make(nodes, tets, method, spread(nodes, count), solver) for solver in SOLVERS]
    states = [replace(world.initial_state(), q=pulled[world.coordinates.free].ravel()) for world in worlds]
    spent, energy = np.zeros((steps, 2)), np.zeros(2)
    for turn in range(steps):
        for k, world in enumerate(worlds):
            began = time.thread_time()
            states[k] = world.step(states[k], H)
            spent[turn, k] = 1e3 * (time.thread_time() - began)
            energy[k] += kinetic(world, states[k]) / steps
    diagonal = float(np.linalg.norm(np.ptp(nodes, axis=0)))
    rests = [at_rest(world, state, AT_REST * diagonal) for world, state in zip(worlds, states)]
    cholmod, mixed = np.median(spent[WARM:], axis=0)
    apart = np.abs(rests[0].q - rests[1].q).max() / diagonal
    least = spent[WARM:].min(axis=0)
    return {"cholmod_ms": round(float(cholmod), 1), "mixed_ms": round(float(mixed), 1),
            "gain": round(float(cholmod / mixed), 3), "gain_of_shortest": round(float(least[0] / least[1]), 3),
            "energy_mJ": float(f"{1e3 * energy[0]:.4g}"), "energy_differs": float(f"{energy[1] / energy[0] - 1.0:.2g}"),
            "rest_differs": float(f"{apart:.2g}"), "in_double": worlds[1].linear.in_double}  # type: ignore[attr-defined]


def at_rest(world: Nodes, state: State, tolerance: float) -> State:
    """After large damped steps, until one moves no node by more than `tolerance` [m]."""
    world.condensation.beta = DAMPED  # type: ignore[attr-defined]
    for _ in range(SETTLING):
        before, state = state, world.step(state, LONG)
        if np.abs(state.q - before.q).max() <= tolerance:
            break
    return state


def kinetic(world: Nodes, state: State) -> float:
    """[J]."""
    return 0.5 * float(world.mass @ np.square(world.velocity(state)).sum(axis=1))


def rows(row: str, steps: int = STEPS) -> dict[str, dict[str, float]]:
    """Return the numbers of one body, by method."""
    out = {}
    name, methods = ROWS[row]
    for method, count in methods:
        out[method if method == "vanilla" else f"{method} {count}"] = pair_row = pair(name, method, count, steps)
        print(f"  {name} {method} {count}: {pair_row}", file=sys.stderr, flush=True)
    return out


def measured(row: str) -> tuple[dict[str, Any], list[Claim]]:
    """One row: the gain of ConJac with four dynamic nodes where it has that, and the most by which any method differs.
    """
    threads.configure(1)
    found, body = rows(row), ROWS[row][0]
    claims = [claim(f"refactor_gain_{body}", found["conjac 4"]["gain"], "", GOALS[body])] if "conjac 4" in found else []
    return found, [*claims,
                  claim(f"{row}_energy_differs", worst(found, "energy_differs"), "of the mean", "<= 0.05"),
                  claim(f"{row}_rest_differs", worst(found, "rest_differs"), "of the diagonal", "<= 1e-6")]


def worst(found: dict[str, dict[str, float]], key: str) -> float:
    """The largest of a row's entries, signs aside."""
    return max(abs(row[key]) for row in found.values())


if __name__ == "__main__":
    threads.configure(1)
    print(json.dumps(rows(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else STEPS)))
