"""Measure the residual of quasistatic nodes, and its reduction by further corrections of positions."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.scenes.scene import Scene
from solver.world.nodes import Nodes

H, STEPS, WARM = 1.0 / 100.0, 60, 2
CHOICES: dict[str, dict[str, float]] = {
    "gamma 1/3": {"gamma": 1.0 / 3.0},
    "1 correction": {"gamma": 1.0 / 3.0, "corrections": 1.0},
    "2 corrections": {"gamma": 1.0 / 3.0, "corrections": 2.0},
    "3 corrections": {"gamma": 1.0 / 3.0, "corrections": 3.0},
}
CLAIMED = "1 correction"  #: the fewest that do; the rows have what more of them leave, and take


def left(world: Nodes, q: np.ndarray, time: float) -> np.ndarray:
    """Net force on each quasistatic node [N]. The body is held, so none of it is the weight of a free fall."""
    x = world.coordinates.positions(q, time)
    force, _ = world.evaluate(x, time)
    return np.linalg.norm(force[world.condensation.inner], axis=1)  # type: ignore[attr-defined]


def gains(scene: Scene, count: int, choices: dict[str, dict[str, float]] = CHOICES,
          motion: str | None = None) -> dict[str, Any]:
    """Each choice on the same states, one step from each: those of one choice's own motion, β = 1.

    motion: that choice, None: the first. On one motion the gain is that of the corrections alone. Median over steps of
    the median and of the largest force over nodes, and of the time of a step; gains and time are the claimed choice's
    against the first one.
    """
    worlds = {name: scene.world("conjac", count, beta=1.0, **params) for name, params in choices.items()}
    first = next(iter(choices))
    state = scene.start(worlds[first])
    seen: dict[str, list[tuple[float, float, float]]] = {name: [] for name in choices}
    for i in range(STEPS):
        after = {}
        for name, world in worlds.items():
            began = time.perf_counter()
            after[name] = world.step(state, H)
            spent = time.perf_counter() - began
            if i >= WARM:
                forces = left(world, after[name].q, after[name].time)
                seen[name].append((float(np.median(forces)), float(forces.max()), 1e3 * spent))
        state = replace(after[motion or first], time=(i + 1) * H)
    rows = {name: dict(zip(("median_N", "worst_N", "ms"), (float(f"{x:.4g}") for x in np.median(many, axis=0))))
            for name, many in seen.items()}
    base, ours = rows[first], rows[CLAIMED]
    return {"rows": rows, "median_gain": base["median_N"] / ours["median_N"],
            "worst_gain": base["worst_N"] / ours["worst_N"], "time": ours["ms"] / base["ms"]}
