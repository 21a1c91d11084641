"""Whether a soft block slides, stands and brakes as Coulomb says, with what a new body has: SDIRK2, Quick, 1/48 s.

    python -m benchmarks.friction

A block of 20 x 20 x 10 cm comes to rest on the level and is let go on a slope of 1.05 and 1.5 μ (gravity leans), and of
.8 μ, where it should stand, on the soft ground, on a collider and on a soft slab that is held from below.
`friction_slope` is the worst
|acceleration - Coulomb's| / Coulomb's, `friction_stands` the fastest that a block moves which should stand, and
`friction_brake` the worst share by which one that is thrown along the level at 1 m/s goes too far or not far enough.
`friction_gained` is the largest energy that a step gains where a block of 20 and 100 kPa lands from 10 cm on the
ground, at half-lives of 0 and .75 s and μ of 0 and .5, of what it has fallen through.
`friction_solver` is the largest difference from NEWTON-D on the slopes, of friction's own deceleration: an elastic
block at 1.05 μ rattles by its friction, parts of it slide back, and the mean is not Coulomb's with any solver. What
limits the others is soft on soft at .6 μ and 16 kPa: the block swings to and fro as it slides, and its acceleration
hangs on where in a swing it ends. Stages that end a hundred times tighter, with up to eight factors more, were tried
and came no nearer to NEWTON-D, which lets the block creep at .8 μ too.
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
SLAB, SLAB_CELLS = (2.4, 0.3, 0.06), (24, 3, 1)
PLACES = ("ground", "collider", "soft")
DROP, LANDING, STIFFNESS = 0.1, 36, 3.27e7  #: [m], steps of 1/48 s, of the ground [N/m³]


def block(where: str, mu: float, slope: float, modulus: float, step: float, solver: str = "quick",
          half_life: float = 0.75, lifted: float = 0.0) -> Nodes:
    """A block on what is there, under gravity that leans. lifted: above the ground [m]."""
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
                    "wobble_half_life": half_life}]}
    if where == "ground":
        scene["ground"] = {"point": [0, 0, -lifted], "normal": [0, 0, 1], "stiffness_per_area": STIFFNESS}
        if mu:
            scene["ground"]["friction"] = {"kind": "coulomb", "params": {"friction_coefficient": mu}}
    elif where == "soft":
        nodes[:, 2] += GAP
        slab, slab_tets = box_tets(SLAB_CELLS, SLAB)
        held = np.flatnonzero(slab[:, 2] < 1e-9).astype(np.int32)
        slab -= [SIZE[0], 0.5 * (SLAB[1] - SIZE[1]), SLAB[2]]
        arrays |= {"slab": slab, "slab_tets": slab_tets, "held": held}
        scene["contact"] = {}
        scene["bodies"][0]["friction"] = mu
        scene["bodies"].append(scene["bodies"][0] | {
            "name": "slab", "tets": {"nodes": "arrays/slab.npy", "tets": "arrays/slab_tets.npy"},
            "pin": {"nodes": "arrays/held.npy"}})
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
    own = world.bodies_in_world[0].nodes  # free nodes of the block come first
    u = world.initial_state().u.reshape(-1, 3).copy()
    u[: own.stop - own.start] += [thrown, 0.0, 0.0]
    state, seen = State(0.0, q, u.ravel()), []
    for _ in range(round(seconds / step)):
        state = world.step(state, step)
        seen.append(float((world.mass[own] @ world.velocity(state)[own])[0] / world.mass[own].sum()))
    return np.array(seen), state


def landing(modulus: float, half_life: float, mu: float) -> float:
    """The largest energy that a step gains in a landing, of what the block has fallen through."""
    world = block("ground", mu, 0.0, modulus, 1 / 48, half_life=half_life, lifted=DROP)
    state, gained, before = world.initial_state(), 0.0, np.inf
    for _ in range(LANDING):
        x, v = world.coordinates.positions(state.q, state.time), world.velocity(state)
        now = world.evaluate(x, state.time)[1] + 0.5 * float(world.mass @ np.einsum("ni,ni->n", v, v))
        gained, before = max(gained, now - before), now
        state = world.step(state, 1 / 48)
    return gained / float(world.mass.sum() * G * DROP)


def measured(where: str, mu: float, modulus: float, step: float) -> dict[str, float]:
    """How far off it is on each slope and braking, and how fast what should stand moves [m/s]."""
    level = block(where, mu, 0.0, modulus, step)
    rest = speeds(level, level.initial_state().q, 0.0, step, SETTLING)[1].q
    row: dict[str, float] = {}
    for share in (0.8, 1.05, 1.5):
        seen, _ = speeds(block(where, mu, share * mu, modulus, step), rest, 0.0, step, SLIDING)
        late = seen[len(seen) // 3:]
        true = G * (share - 1.0) * mu / np.hypot(1.0, share * mu)
        gained = float(np.polyfit(np.arange(len(late)) * step, late, 1)[0])
        row[f"at_{share}"] = abs(float(late.mean())) if share < 1.0 else gained / true - 1.0
        if share > 1.0:
            newton, _ = speeds(block(where, mu, share * mu, modulus, step, "newton_d"), rest, 0.0, step, SLIDING)
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
    for where in PLACES:
        for mu in FRICTIONS:
            for modulus in MODULI:
                for step in STEPS:
                    label = f"{where}, {mu:g}, {modulus / 1e3:g} kPa, 1/{1 / step:.0f} s"
                    rows[label] = measured(where, mu, modulus, step)
    found = [*rows.values()]
    landings = {f"{modulus / 1e3:g} kPa, {half_life:g} s, {mu:g}": landing(modulus, half_life, mu)
                for modulus in (2e4, 1e5) for half_life in (0.0, 0.75) for mu in (0.0, 0.5)}
    emit("friction", [
        claim("friction_slope", max(abs(row[key]) for row in found for key in ("at_1.05", "at_1.5")),
              "of Coulomb's acceleration", "<= 0.03"),
        claim("friction_solver", max(abs(row[key]) for row in found for key in ("solver_1.05", "solver_1.5")),
              "of friction", "<= 0.03"),
        claim("friction_stands", 1e3 * max(row["at_0.8"] for row in found), "mm/s", "<= 1"),
        claim("friction_brake", max(abs(row["brake"]) for row in found), "of the way", "<= 0.03"),
        claim("friction_gained", max(landings.values()), "of the fall", "<= 0.001")], rows | {"landings": landings})


if __name__ == "__main__":
    main()
