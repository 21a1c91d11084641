"""Compare a soft block that slides, stands and slows down with Coulomb's law: a new body, SDIRK2, Quick, 1/48 s.

    python -m benchmarks.friction

A block of 20 x 20 x 10 cm comes to rest on the level and is released on a slope of 1.05 and 1.5 μ (gravity is
inclined), and of .8 μ, where it should stand, on the soft ground, on a collider and on a soft slab supported from
below. `friction_slope` is the worst |acceleration - Coulomb's| / Coulomb's, `friction_stands` the largest speed of a
block that should stand, and `friction_brake` the worst relative error of the distance that a block thrown along the
level at 1 m/s slides. `friction_solver` is the largest difference from NEWTON-D on the slopes, relative to friction's
own deceleration. `friction_let_go` is the speed of a block on a slope of .8 μ that came to rest there with unlimited
friction, once its friction is μ. `friction_calm_slope`, at 1.05 μ, and `friction_calm_stands` are the first two for a
block whose oscillations lose half of their amplitude in .03 s (*Wobble Half-Life*; a new body has .75 s).
`friction_gained` is the largest gain of energy in a step of a block of 20 and 100 kPa that lands from 10 cm on the
ground, at half-lives of 0 and .75 s and μ of 0 and .5, relative to the energy of the fall.

The softest block on another one of .6 μ limits `friction_slope` and `friction_stands`. When gravity tilts, the block
oscillates by up to twice its static bending, so it slips; while it slips, friction proportional to the load sustains
its oscillations (parts of it slide while their load is low and stick while it is high). The viscosity of sliding bodies
(`solver/world/sliding_damping.py`) stops this on the ground and on colliders, where blocks accelerated on slopes that
hold them; a block that came to rest on the slope stands everywhere. Tolerances of stages a hundred times tighter change
nothing. The softest block at .6 μ limits `friction_brake`: it leans by a twentieth of its path while it slows down, and
its middle swings back over its base by as much once the base stands; this swing is the difference. With a viscosity
from the first slip on it stopped a tenth short, and more on another block.
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
SURFACES = ("ground", "collider", "soft")
CALM, HOLDING_FRICTION = 0.03, 4.0  #: half-life without swings [s]; friction that holds a block on any of these slopes
DROP, LANDING, STIFFNESS = 0.1, 36, 3.27e7  #: [m], steps of 1/48 s, of the ground [N/m³]


def block(where: str, mu: float, slope: float, modulus: float, step: float, solver: str = "quick",
          half_life: float = 0.75, lifted: float = 0.0) -> Nodes:
    """Return the world of a block on the ground or another support, under inclined gravity.

    where: kind of support. slope: tangent of the inclination. modulus: [Pa]. step: [s]. lifted: height above it [m].
    """
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
        pinned = np.flatnonzero(slab[:, 2] < 1e-9).astype(np.int32)
        slab -= [SIZE[0], 0.5 * (SLAB[1] - SIZE[1]), SLAB[2]]
        arrays |= {"slab": slab, "slab_tets": slab_tets, "held": pinned}
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
    """Return the velocity of a block along the slope after each step, (steps,) [m/s], and the last state.

    q: coordinates at the start. thrown: initial velocity of all its nodes [m/s].
    """
    own = world.bodies_in_world[0].nodes  # free nodes of the block come first
    u = world.initial_state().u.reshape(-1, 3).copy()
    u[: own.stop - own.start] += [thrown, 0.0, 0.0]
    state, seen = State(0.0, q, u.ravel()), []
    for _ in range(round(seconds / step)):
        state = world.step(state, step)
        seen.append(float((world.mass[own] @ world.velocity(state)[own])[0] / world.mass[own].sum()))
    return np.array(seen), state


def landing(modulus: float, half_life: float, mu: float) -> float:
    """Return the largest gain of energy in a step of a landing, relative to the energy of the fall."""
    world = block("ground", mu, 0.0, modulus, 1 / 48, half_life=half_life, lifted=DROP)
    state, gained, before = world.initial_state(), 0.0, np.inf
    for _ in range(LANDING):
        x, v = world.coordinates.positions(state.q, state.time), world.velocity(state)
        now = world.evaluate(x, state.time)[1] + 0.5 * float(world.mass @ np.einsum("ni,ni->n", v, v))
        gained, before = max(gained, now - before), now
        state = world.step(state, 1 / 48)
    return gained / float(world.mass.sum() * G * DROP)


def rest_of(world: Nodes, step: float, seconds: float = SETTLING) -> np.ndarray:
    """Return the coordinates of a block that has come to rest for `seconds`."""
    return speeds(world, world.initial_state().q, 0.0, step, seconds)[1].q


def sliding(where: str, mu: float, ratio: float, modulus: float, step: float, rest: np.ndarray, solver: str = "quick",
            half_life: float = 0.75) -> tuple[float, float]:
    """Return the mean speed [m/s] and the acceleration [m/s²] of a block in the last two thirds of its time on a slope.

    ratio: slope relative to μ. rest: coordinates at the start.
    """
    world = block(where, mu, ratio * mu, modulus, step, solver, half_life)
    seen, _ = speeds(world, rest, 0.0, step, SLIDING)
    late = seen[len(seen) // 3:]
    return abs(float(late.mean())), float(np.polyfit(np.arange(len(late)) * step, late, 1)[0])


def measured(where: str, mu: float, modulus: float, step: float) -> dict[str, float]:
    """Return the row of a block: relative errors on slopes and in braking, and speeds where it should stand [m/s]."""
    level = block(where, mu, 0.0, modulus, step)
    rest, row = rest_of(level, step), dict[str, float]()
    for ratio in (0.8, 1.05, 1.5):
        on, true = (where, mu, ratio, modulus, step), G * (ratio - 1.0) * mu / np.hypot(1.0, ratio * mu)
        speed, gained = sliding(*on, rest)
        row[f"at_{ratio}"] = speed if ratio < 1.0 else gained / true - 1.0
        if ratio < 1.5:
            calm_speed, calm_gained = sliding(*on, rest, half_life=CALM)
            row[f"calm_{ratio}"] = calm_speed if ratio < 1.0 else calm_gained / true - 1.0
        if ratio > 1.0:
            _, other = sliding(*on, rest, "newton_d")
            row[f"newton_{ratio}"] = other / true - 1.0
            row[f"solver_{ratio}"] = (gained - other) / (mu * G / np.hypot(1.0, ratio * mu))
    on_slope = rest_of(block(where, HOLDING_FRICTION, 0.8 * mu, modulus, step, half_life=CALM), step)
    row["let_go_0.8"] = sliding(where, mu, 0.8, modulus, step, on_slope)[0]
    seen, _ = speeds(level, rest, SPEED, step, 1.5 * SPEED / (mu * G))
    row["brake"] = float(seen.sum() + 0.5 * SPEED) * step / (SPEED**2 / (2.0 * mu * G)) - 1.0
    return row


def main() -> None:
    """Measure all blocks and print the report."""
    threads.configure(1)
    rows = {f"{where}, {mu:g}, {modulus / 1e3:g} kPa, 1/{1 / step:.0f} s": measured(where, mu, modulus, step)
            for where in SURFACES for mu in FRICTIONS for modulus in MODULI for step in STEPS}
    landings = {f"{modulus / 1e3:g} kPa, {half_life:g} s, {mu:g}": landing(modulus, half_life, mu)
                for modulus in (2e4, 1e5) for half_life in (0.0, 0.75) for mu in (0.0, 0.5)}

    def worst(*keys: str) -> float:
        return max(abs(row[key]) for row in rows.values() for key in keys)

    emit("friction", [
        claim("friction_slope", worst("at_1.05", "at_1.5"), "of Coulomb's acceleration", "<= 0.03"),
        claim("friction_calm_slope", worst("calm_1.05"), "of Coulomb's acceleration", "<= 0.03"),
        claim("friction_solver", worst("solver_1.05", "solver_1.5"), "of friction", "<= 0.03"),
        claim("friction_stands", 1e3 * worst("at_0.8"), "mm/s", "<= 1"),
        claim("friction_calm_stands", 1e3 * worst("calm_0.8"), "mm/s", "<= 1"),
        claim("friction_let_go", 1e3 * worst("let_go_0.8"), "mm/s", "<= 1"),
        claim("friction_brake", worst("brake"), "of the way", "<= 0.03"),
        claim("friction_gained", max(landings.values()), "of the fall", "<= 0.001")], rows | {"landings": landings})


if __name__ == "__main__":
    main()
