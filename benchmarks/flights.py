"""Measure jointed bodies in flight: momentum of soft bodies on bones, a top, a nut that flips.

    python -m benchmarks.flights

`flesh_linear` and `flesh_angular`: the share of its momentum that a soft bar between two hinged boxes, thrown so that
it tumbles and bends without weight, loses in a second at 1/48 s with the settings of new mechanisms (Leapfrog, *Keep
Spin*); the details have other settings. `top_stands…`: the largest lean of a top in four seconds at 1/120 s, minus that
at 1/1920 s, either way [rad]: a plate of 30 cm on a ball joint 8 cm below it, at 20 rad/s, starting at a lean of 0.2.
`nut_turns…`: the largest error in the time at which a nut (Dzhanibekov's) flips within ten seconds at 1/120 s, relative
to SDIRK2 at 1/1920 s [s].

`top_stands_semi_implicit` misses its goal: Semi-Implicit Euler's top leans by .78 instead of .28. It evaluates the
torque of the spin at the start of a step, an error of first order: at 1/480 s it leans by .33, at 1/1920 s by .284.
Spinning mechanisms use Leapfrog, as new ones do, with which the top stands.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver.build.world import build
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.joints import Joints
from solver.world.world import World

ALONG_Y = [0.5**0.5, -(0.5**0.5), 0, 0]  #: turns Z to Y
BOX = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.05, "size_z": 0.05}}
NEW = "Leapfrog, Keep Spin"
#: of the flesh: integrator with its parameters, stage solver
SETTINGS = {
    "Leapfrog": ("leapfrog", {}, "newton_d"), NEW: ("leapfrog", {"keep_spin": True}, "newton_d"),
    "Semi-Implicit Euler": ("semi_implicit", {}, "newton_d"),
    "Semi-Implicit Euler, Keep Spin": ("semi_implicit", {"keep_spin": True}, "newton_d"),
    "SDIRK2, Quick": ("sdirk2", {}, "quick"), "BDF2, Quick": ("bdf2", {}, "quick"),
}
JOINTED = {"Leapfrog": "leapfrog", "Semi-Implicit Euler": "semi_implicit", "BDF2": "bdf2", "SDIRK2": "sdirk2"}
H_FLESH, H, SECONDS = 1 / 48, 1 / 120, 4.0
FINE = 16  #: steps of what top and nut are compared with, in each of their own


def loaded(scene: dict[str, Any], arrays: dict[str, np.ndarray]) -> World:
    """The world of a job that is written and read as a bake does."""
    with tempfile.TemporaryDirectory(prefix="conjac-flights-") as name:
        folder = Path(name)
        (folder / "arrays").mkdir()
        for key, array in arrays.items():
            np.save(folder / "arrays" / f"{key}.npy", array)
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        return build(load(folder), lambda *_: None)[0]


def thrown(integrator: str, params: dict[str, Any], solver: str) -> tuple[World, State]:
    """Two boxes on a hinge with a soft bar between them, and the state in which they are thrown."""
    nodes, tets = box_tets((4, 2, 2), (0.2, 0.1, 0.1))
    arrays = {"nodes": nodes, "tets": tets} | {
        side: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9).astype(np.int32)
        for side, x in (("left", 0.0), ("right", 0.2))}
    flesh = {"name": "Flesh", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}},
             "attach": [{"mechanism": "Arm", "body": "Upper", "nodes": "arrays/left.npy"},
                        {"mechanism": "Arm", "body": "Lower", "nodes": "arrays/right.npy"}]}
    arm = {"name": "Arm",
           "bodies": [{"name": "Upper", "position": [0.0, 0.05, -0.05], "mass": 0.3, "shape": BOX},
                      {"name": "Lower", "position": [0.2, 0.05, -0.05], "mass": 0.2, "shape": BOX}],
           "joints": [{"name": "Free", "child": "Upper", "kind": "free", "rate": [1.0, 2.0, -1.5, 0.3, -0.2, 0.4]},
                      {"name": "Elbow", "child": "Lower", "parent": "Upper", "position": [0.1, 0.05, -0.05],
                       "rotation": ALONG_Y, "rate": [3.0]}]}
    world = loaded({"version": 1, "name": "thrown", "method": {"kind": "vanilla", "params": {"beta": 1.0}},
                    "integrator": {"kind": integrator, "params": params}, "stage_solver": {"kind": solver},
                    "gravity": [0.0, 0.0, 0.0], "time": {"start": 1, "end": 25, "fps": 24, "step": H_FLESH},
                    "bodies": [flesh], "mechanisms": [arm]}, arrays)
    soft, bones = world.split_state(world.initial_state())
    at = tree(world).posture(bones.q, bones.u, bones.memory)
    turn, twist = at.E[0, :3, :3], at.twist[0]
    body: Any = world.parts[0]
    rigid = np.cross(turn @ twist[:3], body.rest - at.E[0, :3, 3]) + turn @ twist[3:]
    return world, world.merge_states([replace(soft, u=rigid[body.coordinates.free].ravel()), bones])


def tree(world: World) -> Any:
    part: Any = world.parts[-1]
    return part.tree


def momenta(world: World, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Linear [N s], and angular about the common centre of mass [N m s], (3,) each."""
    soft, bones = world.split_state(state)
    body: Any = world.parts[0]
    at = tree(world).posture(bones.q, bones.u, bones.memory)
    x = body.coordinates.positions(soft.q, soft.time, soft.carrier_motion)
    p = body.mass[:, None] * body.velocity(soft)
    linear, angular = p.sum(axis=0), np.cross(x, p).sum(axis=0)
    moment, mass = body.mass @ x, body.mass.sum()
    for E, twist, inertia in zip(at.E, at.twist, tree(world).inertia):
        own = inertia @ twist
        push = E[:3, :3] @ own[3:]
        linear, angular = linear + push, angular + E[:3, :3] @ own[:3] + np.cross(E[:3, 3], push)
        moment, mass = moment + inertia[5, 5] * E[:3, 3], mass + inertia[5, 5]
    return linear, angular - np.cross(moment / mass, linear)


def lost(integrator: str, params: dict[str, Any], solver: str) -> dict[str, float]:
    """Shares of both momenta that a second of flight changes."""
    world, state = thrown(integrator, params, solver)
    before = momenta(world, state)
    for k in range(round(1.0 / H_FLESH)):
        state = world.step(replace(state, time=k * H_FLESH), H_FLESH)
    linear, angular = (float(np.linalg.norm(now - was) / np.linalg.norm(was))
                       for now, was in zip(momenta(world, state), before))
    return {"linear": linear, "angular": angular}


def alone(body: dict[str, Any], joint: dict[str, Any], integrator: str) -> Joints:
    """The part of one rigid body under a joint, with weight."""
    scene = {"version": 1, "name": "alone", "method": {"kind": "vanilla", "params": {"beta": 1.0}},
             "integrator": {"kind": integrator}, "stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-11}},
             "gravity": [0.0, 0.0, -9.81], "time": {"start": 1, "end": 25, "fps": 24, "step": H},
             "mechanisms": [{"name": "Alone", "bodies": [body], "joints": [joint]}]}
    part: Any = loaded(scene, {}).parts[0]
    return part


def top(integrator: str, steps: int = 1) -> float:
    """The furthest that the top leans on its way [rad], in `steps` steps for each of H."""
    lean, spin = 0.2, 20.0
    axis = np.array([np.sin(lean), 0.0, np.cos(lean)])
    plate = {"name": "Top", "position": (0.08 * axis).tolist(), "mass": 1.0,
             "rotation": [np.cos(lean / 2), 0.0, np.sin(lean / 2), 0.0],
             "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.3, "size_z": 0.05}}}
    tip = {"name": "Tip", "kind": "spherical", "child": "Top", "position": [0.0, 0.0, 0.0],
           "rate": (spin * axis).tolist()}
    part = alone(plate, tip, integrator)
    state, furthest = part.initial_state(), 0.0
    for _ in range(round(SECONDS / H) * steps):
        state = part.step(state, H / steps)
        up = part.tree.posture(state.q, state.u, state.memory).E[0, 2, 2]
        furthest = max(furthest, float(np.arccos(np.clip(up, -1.0, 1.0))))
    return furthest


def nut(integrator: str, steps: int = 1) -> np.ndarray:
    """When the nut turns over [s], (k,)."""
    part = alone({"name": "Nut", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}},
                 {"name": "Free", "kind": "free", "child": "Nut", "rate": [0.01, 5.0, 0.02, 0.3, 0, 0]}, integrator)
    state, spins, h = part.initial_state(), [5.0], H / steps
    for _ in range(round(10.0 / h)):
        state = part.step(state, h)
        spins.append(float(part.tree.posture(state.q, state.u, state.memory).twist[0, 1]))
    at = np.array(spins)
    over = np.flatnonzero(at[:-1] * at[1:] < 0)
    return (over + at[over] / (at[over] - at[over + 1])) * h


def off(times: np.ndarray, known: np.ndarray) -> float:
    """How far the worst of them is off [s]; infinite where it turns over another number of times."""
    return float(np.abs(times - known).max()) if len(times) == len(known) else np.inf


def main() -> None:
    threads.configure(None)
    flesh = {name: lost(*setting) for name, setting in SETTINGS.items()}
    leans = {name: top(key) for name, key in JOINTED.items()}
    known_lean, known = top("sdirk2", FINE), nut("sdirk2", FINE)
    turns = {name: nut(key) for name, key in JOINTED.items()}
    emit("flights", [
        claim("flesh_linear", flesh[NEW]["linear"], "of its momentum a second", "<= 2e-4"),
        claim("flesh_angular", flesh[NEW]["angular"], "of its momentum a second", "<= 2e-3"),
        claim("top_stands", abs(leans["Leapfrog"] - known_lean), "rad", "<= 0.02"),
        claim("top_stands_semi_implicit", abs(leans["Semi-Implicit Euler"] - known_lean), "rad", "<= 0.02"),
        claim("nut_turns", off(turns["Leapfrog"], known), "s", "<= 0.05"),
        claim("nut_turns_sdirk2", off(turns["SDIRK2"], known), "s", "<= 0.05"),
    ], {"flesh": flesh, "top": {"short steps": {"leans": known_lean}} | {name: {"leans": lean}
                                                                         for name, lean in leans.items()},
        "nut": {"short steps": {"first": known[0], "last": known[-1]}} | {
            name: {"first": times[0], "last": times[-1]} for name, times in turns.items()}})


if __name__ == "__main__":
    main()
