"""Whether a soft block slides, stands and brakes as Coulomb says, with what a new body has: SDIRK2, Quick, 1/48 s.

    python -m benchmarks.friction

A block of 20 x 20 x 10 cm comes to rest on the level and is let go on a slope of 1.05 and 1.5 μ (gravity leans), and of
.8 μ, where it should stand, on the soft ground and on a collider. `friction_slope` is the worst
|acceleration - Coulomb's| / Coulomb's, `friction_stands` the fastest that a block moves which should stand, and
`friction_brake` the worst share by which one that is thrown along the level at 1 m/s goes too far or not far enough.
`friction_solver` is the largest difference from NEWTON-D on the slopes, of friction's own deceleration: an elastic
block at 1.05 μ rattles by its friction, parts of it slide back, and the mean is not Coulomb's with any solver.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver.build.soft_bodies import assemble, prepare_all
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.nodes import Nodes

G, SIZE, CELLS = 9.81, (0.2, 0.2, 0.1), (5, 5, 3)
SETTLING, SLIDING, SPEED = 1.0, 1.0, 1.0  #: [s], [s], [m/s]
MODULI, FRICTIONS, STEPS = (1.6e4, 1.0e5), (0.3, 0.6), (1 / 48, 1 / 96)
GAP = 0.002  #: of a block above a collider [m]


def block(on_ground: bool, mu: float, slope: float, modulus: float, step: float, solver: str = "quick") -> Nodes:
    """A block on the ground or on a collider, under gravity that leans."""
    nodes, tets = box_tets(CELLS, SIZE)
    arrays: dict[str, Any] = {"nodes": nodes, "tets": tets}
    g = G / np.hypot(1.0, slope)
    scene: dict[str, Any] = {
        "version": 1, "name": "block", "time": {"start": 1, "end": 49, "fps": 24, "step": step},
        "method": {"kind": "vanilla"}, "integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": solver},
        "gravity": [slope * g, 0.0, -g],
        "bodies": [{"name": "block", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
                    "material": {"kind": "stable_neo_hookean",
                                 "params": {"youngs_modulus": modulus, "poisson_ratio": 0.45}},
                    "wobble_half_life": 0.75}]}
    if on_ground:
        scene["ground"] = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness_per_area": 3.27e7,
                           "friction": {"kind": "coulomb", "params": {"friction_coefficient": mu}}}
    else:
        nodes[:, 2] += GAP
        arrays |= {"floor": np.array([(-20.0, -20, 0), (20, -20, 0), (20, 20, 0), (-20, 20, 0)]),
                   "faces": np.array([(0, 1, 2), (0, 2, 3)], dtype=np.int32)}
        scene |= {"contact": {}, "obstacles": [{"name": "floor", "vertices": "arrays/floor.npy",
                                                "triangles": "arrays/faces.npy", "friction": mu}]}
        scene["bodies"][0]["friction"] = mu
    with tempfile.TemporaryDirectory(prefix="conjac-friction-") as name:
        folder = Path(name)
        (folder / "arrays").mkdir()
        for key, array in arrays.items():
            np.save(folder / "arrays" / f"{key}.npy", array)
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        job = load(folder)
        return assemble(job, prepare_all(job, lambda *_: None))


def speeds(world: Nodes, q: np.ndarray, thrown: float, step: float, seconds: float) -> tuple[np.ndarray, State]:
    """Of the block's middle along the slope after each step [m/s], from coordinates on, all thrown alike [m/s]."""
    u = world.initial_state().u.reshape(-1, 3) + [thrown, 0.0, 0.0]
    state, seen = State(0.0, q, u.ravel()), []
    for _ in range(round(seconds / step)):
        state = world.step(state, step)
        seen.append(float((world.mass @ world.velocity(state))[0] / world.mass.sum()))
    return np.array(seen), state


def measured(on_ground: bool, mu: float, modulus: float, step: float) -> dict[str, float]:
    """How far off it is on each slope and braking, and how fast what should stand moves [m/s]."""
    level = block(on_ground, mu, 0.0, modulus, step)
    rest = speeds(level, level.initial_state().q, 0.0, step, SETTLING)[1].q
    row: dict[str, float] = {}
    for share in (0.8, 1.05, 1.5):
        seen, _ = speeds(block(on_ground, mu, share * mu, modulus, step), rest, 0.0, step, SLIDING)
        late = seen[len(seen) // 3:]
        true = G * (share - 1.0) * mu / np.hypot(1.0, share * mu)
        gained = float(np.polyfit(np.arange(len(late)) * step, late, 1)[0])
        row[f"at_{share}"] = abs(float(late.mean())) if share < 1.0 else gained / true - 1.0
        if share > 1.0:
            newton, _ = speeds(block(on_ground, mu, share * mu, modulus, step, "newton_d"), rest, 0.0, step, SLIDING)
            other = float(np.polyfit(np.arange(len(late)) * step, newton[len(seen) // 3:], 1)[0])
            row[f"newton_{share}"] = other / true - 1.0
            row[f"solver_{share}"] = (gained - other) / (mu * G / np.hypot(1.0, share * mu))
    seen, _ = speeds(level, rest, SPEED, step, 1.5 * SPEED / (mu * G))
    row["brake"] = float(seen.sum() + 0.5 * SPEED) * step / (SPEED**2 / (2.0 * mu * G)) - 1.0
    return row


def main() -> None:
    """Print the claims."""
    threads.configure(1)
    rows: dict[str, dict[str, float]] = {}
    for on_ground in (True, False):
        for mu in FRICTIONS:
            for modulus in MODULI:
                for step in STEPS:
                    where = "ground" if on_ground else "collider"
                    label = f"{where}, {mu:g}, {modulus / 1e3:g} kPa, 1/{1 / step:.0f} s"
                    rows[label] = measured(on_ground, mu, modulus, step)
    found = rows.values()
    emit("friction", [
        claim("friction_slope", max(abs(row[key]) for row in found for key in ("at_1.05", "at_1.5")),
              "of Coulomb's acceleration", "<= 0.03"),
        claim("friction_solver", max(abs(row[key]) for row in found for key in ("solver_1.05", "solver_1.5")),
              "of friction", "<= 0.03"),
        claim("friction_stands", 1e3 * max(row["at_0.8"] for row in found), "mm/s", "<= 1"),
        claim("friction_brake", max(abs(row["brake"]) for row in found), "of the way", "<= 0.03")], rows)


if __name__ == "__main__":
    main()
