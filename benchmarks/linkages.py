"""Measure the order of convergence and the energy loss of mechanisms: chains, loops, springs, motors and drives.

Each is baked for a third of a second in steps of 4 and 2 ms and compared with SDIRK2 at .25 ms: the order is log₂ of
the ratio of both errors, the larger of positions and of twists. The linkage is a crank of .25 m, a coupler of .7 m and
a rocker of .55 m on pins .8 m apart, released and observed for four seconds at 1/120 s; losses are relative to its
largest kinetic energy.

Only the chain with springs in its joints misses `order_bdf2`, `order_backward_euler` and `order_semi_implicit`: springs
of 4 Hz fling its parts, and these steps are too large for an order to show. The steps of the row remain, as artists
take longer ones. `…_short_steps` is the order of these integrators there from 1 to .5 ms, compared with SDIRK2 at .13
ms; "short steps" in the details has the pair before it too: halving the step halves the deficit of the order.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load
from solver.world.joints import Joints

CRANK, COUPLER, ROCKER, BASE = 0.25, 0.7, 0.55, 0.8  #: [m]
SPAN, STEPS, FINE = 1 / 3, (80, 160), 1280
#: the scene in which orders show at shorter steps only, pairs of these, and what they are compared with
SPRUNG, SHORT, FINEST = "joint_spring", ((160, 320), (320, 640)), 2560
SECONDS, H = 4.0, 1 / 120
ALONG_Y = [0.5**0.5, -(0.5**0.5), 0, 0]  #: turns Z to Y
LIVELY, NEWTON = "leapfrog", "sdirk2"
ORDERS = {LIVELY: ">= 1.8", NEWTON: ">= 1.8", "bdf2": ">= 1.8", "backward_euler": ">= 0.9", "semi_implicit": ">= 0.9"}
MISSED = "bdf2", "backward_euler", "semi_implicit"
SAMPLES, FPS = 48, 24
SERVO = {"mode": {"kind": "servo", "params": {"stiffness": 30.0, "damping": 1.0}}, "target": "arrays/swing.npy"}
DRIVE = {"mode": {"kind": "drive"}, "target": "arrays/swing.npy"}
Made = tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]


def rod(name: str, start: np.ndarray, end: np.ndarray) -> dict[str, Any]:
    """A bar of 1 kg between two points of the x-z plane, (2,) [m]."""
    along, middle = end - start, 0.5 * (start + end)
    angle = -np.arctan2(along[1], along[0])
    return {"name": name, "mass": 1.0, "position": [middle[0], 0.0, middle[1]], "is_collider": False,
            "rotation": [np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0],
            "shape": {"kind": "box", "params": {"size_x": float(np.hypot(*along)), "size_y": 0.03, "size_z": 0.03}}}


def hinge(child: str, parent: str | None, at: np.ndarray) -> dict[str, Any]:
    return {"name": f"Hinge of {child}", "child": child, "parent": parent, "position": [at[0], 0.0, at[1]],
            "rotation": ALONG_Y}


def rods(*points: tuple[float, float]) -> Made:
    """A chain through points of the x-z plane, from the world on."""
    at = np.array(points)
    names = [f"Rod {k}" for k in range(len(at) - 1)]
    bodies = [rod(name, start, end) for name, start, end in zip(names, at[:-1], at[1:])]
    joints = [hinge(name, names[k - 1] if k else None, at[k]) for k, name in enumerate(names)]
    return bodies, joints, {}


def linkage(crank: float = 1.1) -> Made:
    """A closed four-bar, its crank [rad] above the base."""
    pin = CRANK * np.array([np.cos(crank), np.sin(crank)])
    to = np.array([BASE, 0.0]) - pin
    far = float(np.hypot(*to))
    turn = np.arctan2(to[1], to[0]) + np.arccos((COUPLER**2 + far**2 - ROCKER**2) / (2 * COUPLER * far))
    top = pin + COUPLER * np.array([np.cos(turn), np.sin(turn)])
    bodies, joints, _ = rods((0.0, 0.0), tuple(pin), tuple(top))
    base = np.array([BASE, 0.0])
    loop = {"name": "Top", "kind": "point_on_line", "body_a": "Rod 1", "body_b": "Rocker",
            "position": [top[0], 0.0, top[1]], "rotation": ALONG_Y}
    return [*bodies, rod("Rocker", base, top)], [*joints, hinge("Rocker", None, base)], {"loops": [loop]}


def scenes() -> dict[str, Made]:
    """Return one scene for each kind of what acts on joints."""
    def bent() -> Made:
        return rods((0.0, 0.0), (0.4, 0.1), (0.7, 0.5), (1.1, 0.4))

    sprung, pulled, moved, driven, turned = bent(), bent(), bent(), bent(), linkage()
    sprung[1][1] |= {"stiffness": [15.0], "damping": [0.3]}
    sprung[1][2] |= {"stiffness": [25.0], "damping": [0.1], "rest": [0.3]}
    pulled[2]["springs"] = [{"body_a": "Rod 2", "point_a": [1.1, 0, 0.4], "point_b": [1.0, 0.3, 1.2],
                             "stiffness": 60.0, "damping": 0.5, "rest_length": 0.6}]
    moved[1][0] |= {"motor": SERVO}
    driven[1][0] |= {"motor": DRIVE}
    turned[1][0] |= {"motor": SERVO}
    return {"chain": bent(), "loop": linkage(), "joint_spring": sprung, "spring": pulled, "motor": moved,
            "drive": driven, "motor_in_loop": turned}


def world(made: Made, integrator: str) -> Joints:
    """Built as a bake builds it."""
    bodies, joints, more = made
    swing = 0.3 * (1.0 - np.cos(2 * np.pi * np.arange(FPS * SAMPLES + 1) / (FPS * SAMPLES)))
    scene = {"version": 1, "name": "linkages", "method": {"kind": "vanilla", "params": {"beta": 1.0}},
             "gravity": [0.0, 0.0, -9.81], "integrator": {"kind": integrator},
             "stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-11, "iterations": 100}},
             "time": {"start": 1, "end": 1 + FPS, "fps": FPS, "step": 1 / FPS, "samples_per_frame": SAMPLES},
             "mechanisms": [{"name": "Linkage", "bodies": bodies, "joints": joints, **more}]}
    with tempfile.TemporaryDirectory(prefix="conjac-linkages-") as name:
        folder = Path(name)
        (folder / "arrays").mkdir()
        np.save(folder / "arrays" / "swing.npy", swing[:, None])
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        return build_mechanisms(load(folder))


def end(made: Made, integrator: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and twists of all bodies after SPAN."""
    built = world(made, integrator)
    state = built.initial_state()
    for _ in range(steps):
        state = built.step(state, SPAN / steps)
    at = built.tree.posture(state.q, state.u, state.memory)
    return at.E[:, :3].copy(), at.twist.copy()


def order(made: Made, integrator: str, fine: tuple[np.ndarray, np.ndarray],
          pair: tuple[int, int] = STEPS) -> dict[str, float]:
    """The order at which places and twists converge to `fine`, and what places are off by at the shorter step [m].
    pair: numbers of steps."""
    off = np.array([[np.abs(one - exact).max() for one, exact in zip(end(made, integrator, steps), fine)]
                    for steps in pair])
    return {"order": float(np.log2(off[0] / off[1]).min()), "off_m": float(off[1, 0])}


def loss(integrator: str) -> float:
    """The largest share of its most lively motion that the energy of the linkage is off by in four seconds."""
    built = world(linkage(), integrator)
    state, motion, off = built.initial_state(), 0.0, 0.0
    before = built.energy(state)
    for _ in range(round(SECONDS / H)):
        state = built.step(state, H)
        at = built.tree.posture(state.q, state.u, state.memory)
        motion = max(motion, 0.5 * float(np.einsum("na,nab,nb->", at.twist, built.tree.inertia, at.twist)))
        off = max(off, abs(built.energy(state) - before))
    return off / motion


def main() -> None:
    """Claims on the integrator of new mechanisms, scene by scene, and on the worst scene of each of the others."""
    threads.configure(None)
    rows: dict[str, Any] = {}
    for name, made in scenes().items():
        fine = end(made, NEWTON, FINE)
        rows[name] = {kind: order(made, kind, fine) for kind in ORDERS}
    sprung = scenes()[SPRUNG]
    finest = end(sprung, NEWTON, FINEST)
    short = {kind: {f"{1e3 * SPAN / pair[1]:.1f} ms": order(sprung, kind, finest, pair)["order"] for pair in SHORT}
             for kind in MISSED}
    lost = {integrator: loss(integrator) for integrator in (LIVELY, NEWTON)}
    claims = [claim(f"leapfrog_order_{name}", row[LIVELY]["order"], "order", ">= 1.8") for name, row in rows.items()]
    claims += [claim(f"order_{kind}", min(row[kind]["order"] for row in rows.values()), "order at worst", goal)
               for kind, goal in ORDERS.items() if kind != LIVELY]
    claims += [claim(f"order_{kind}_short_steps", [*row.values()][-1], "order", ORDERS[kind])
               for kind, row in short.items()]
    claims.append(claim("four_bar_loss", lost[LIVELY], "of its motion", "<= 0.02"))
    emit("linkages", claims, {"orders": rows, "short steps": short, "four_bar": lost})


if __name__ == "__main__":
    main()
