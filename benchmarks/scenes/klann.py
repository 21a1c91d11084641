"""KLANN: a walker on six Klann linkages, two cranks driven at constant speed. [Thesis Fig. 3.3]

Three legs stand on each crank, left, middle and right, the middle one half a turn away; front and rear legs mirror each
other, so that two outer legs and the middle one of the other crank carry together. A leg is four links on four hinges
of the tree beside its crank, and two loops of two rows: 26 hinges and 24 rows in all, besides the frame's own freedom.
The proportions are those published at boim.com/Walkin8r/Klann.html, found from the patent's (US 6,260,862) by an
optimiser; size, masses and speed are ours.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Claim, claim
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load

UNIT = 0.004  #: [m] of the published numbers
CRANK = 17.5  #: radius
LOWER, UPPER = np.array([-38.8, -12.5]), np.array([-14.6, 41.9])  #: rockers' axles from the crank's
LOWER_ROCKER, UPPER_ROCKER = 23.7, 34.1
TO_KNEE, TO_ELBOW, ELBOW_TO_KNEE = 73.4, 38.8, 35.2  #: of the connecting rod
HIP_TO_KNEE, HIP_TO_FOOT, KNEE_TO_FOOT = 57.7, 111.7, 59.0  #: of the leg
APART, WIDE = 20.0, 60.0  #: of a crank from the middle, of an outer leg from it
FRAME_MASS, LINK_MASS, CRANK_MASS = 4.0, 0.15, 0.5  #: [kg]
SPEED, RAMP = 3.0, 0.5  #: [rad/s], reached in [s]
FLOOR = 0.8
HINGE = [0.5**0.5, 0.5**0.5, 0.0, 0.0]  #: Z to −Y: angles turn x to z
BEARING = {"radius": 0.012, "length": 0.03, "points": 12}
FPS, SAMPLES = 24, 4


def crossing(p: np.ndarray, r: float, q: np.ndarray, s: float, side: float) -> np.ndarray:
    """Return where circles of radius r about p and s about q meet, on the left of p → q for side 1."""
    along = q - p
    d = float(np.hypot(*along))
    a = (r * r - s * s + d * d) / (2 * d)
    left = np.array([-along[1], along[0]]) / d
    crossed: np.ndarray = p + a * along / d + side * np.sqrt(r * r - a * a) * left
    return crossed


def leg(angle: float) -> dict[str, np.ndarray]:
    """Places of a front leg's joints at a crank angle, from the crank's axle, (2,) each, in the published unit."""
    pin = CRANK * np.array([np.cos(angle), np.sin(angle)])
    elbow = crossing(pin, TO_ELBOW, LOWER, LOWER_ROCKER, -1.0)
    knee = crossing(pin, TO_KNEE, elbow, ELBOW_TO_KNEE, 1.0)
    hip = crossing(UPPER, UPPER_ROCKER, knee, HIP_TO_KNEE, -1.0)
    foot = crossing(hip, HIP_TO_FOOT, knee, KNEE_TO_FOOT, 1.0)
    return {"pin": pin, "elbow": elbow, "knee": knee, "hip": hip, "foot": foot, "lower": LOWER, "upper": UPPER}


def mechanism(folder: Path, mu: float | None = None, start: float = 1.0) -> dict[str, Any]:
    """The walker with its feet on z = 0; hulls of the legs go into `folder`.

    mu: of all bearings, None for no bearings. start: angle of the outer legs' crank pins [rad].
    """
    bodies: list[dict[str, Any]] = []
    joints: list[dict[str, Any]] = []
    loops: list[dict[str, Any]] = []
    friction = None if mu is None else {"mu": mu, **BEARING}
    angles = {(end, row): start + (np.pi if (row == 0) == (end < 0) else 0.0) for end in (-1, 1) for row in (-1, 0, 1)}
    # the rear is the front's mirror image, its crank angle too
    points = {key: leg(angle if key[0] < 0 else np.pi - angle) for key, angle in angles.items()}
    high = -min(float(at["foot"][1]) for at in points.values())

    def put(at: np.ndarray, end: int, row: float) -> list[float]:
        """A place of the leg's plane in the world [m]."""
        return [UNIT * (end * (-at[0]) + end * APART), UNIT * WIDE * row, UNIT * (at[1] + high)]

    def link(name: str, a: list[float], b: list[float], mass: float = LINK_MASS) -> None:
        along = np.subtract(b, a)
        turn = -np.arctan2(along[2], along[0])
        bodies.append({"name": name, "mass": mass, "position": list(0.5 * np.add(a, b)), "is_collider": False,
                       "rotation": [float(np.cos(turn / 2)), 0.0, float(np.sin(turn / 2)), 0.0],
                       "shape": {"kind": "box", "params": {"size_x": float(np.linalg.norm(along)), "size_y": 0.02,
                                                           "size_z": 0.02}}})

    def hinge(name: str, child: str, parent: str, at: list[float], **more: Any) -> None:
        rubs = {} if friction is None else {"friction": friction}
        joints.append({"name": name, "child": child, "parent": parent, "position": at, "rotation": HINGE, **rubs,
                       **more})

    frame = [0.0, 0.0, UNIT * (high + 10.0)]
    bodies.append({"name": "Frame", "mass": FRAME_MASS, "position": frame, "is_collider": False,
                   "shape": {"kind": "box", "params": {"size_x": UNIT * 2 * APART, "size_y": UNIT * 2 * WIDE,
                                                       "size_z": UNIT * 20.0}}})
    for end, called in ((-1, "Front"), (1, "Rear")):
        axle = put(np.zeros(2), end, 0)
        bodies.append({"name": f"{called} crank", "mass": CRANK_MASS, "position": axle, "is_collider": False,
                       "shape": {"kind": "box", "params": {"size_x": UNIT * CRANK, "size_y": UNIT * 2 * WIDE,
                                                           "size_z": UNIT * CRANK}}})
        hinge(f"{called} drive", f"{called} crank", "Frame", axle,
              motor={"mode": {"kind": "drive"}, "target": "arrays/crank.npy"})
        for row, side in ((-1, "left"), (0, "middle"), (1, "right")):
            at = {key: put(point, end, row) for key, point in points[end, row].items()}
            name = f"{called} {side}"
            link(f"{name} rod", at["pin"], at["knee"])
            link(f"{name} lower rocker", at["lower"], at["elbow"])
            link(f"{name} upper rocker", at["upper"], at["hip"])
            # a hull with one point at the foot
            thick = np.array([0.0, 0.01, 0.0])
            corners = np.array([at["hip"] - thick, at["hip"] + thick, at["knee"] - thick, at["knee"] + thick,
                                np.array(at["foot"])])
            middle = corners.mean(axis=0)
            file = f"arrays/{name.replace(' ', '_')}.npy"
            np.save(folder / file, corners - middle)
            bodies.append({"name": f"{name} leg", "mass": LINK_MASS, "position": list(middle), "vertices": file,
                           "shape": {"kind": "hull"}, "friction": FLOOR})
            hinge(f"{name} pin", f"{name} rod", f"{called} crank", at["pin"])
            hinge(f"{name} lower axle", f"{name} lower rocker", "Frame", at["lower"])
            hinge(f"{name} upper axle", f"{name} upper rocker", "Frame", at["upper"])
            hinge(f"{name} knee", f"{name} leg", f"{name} rod", at["knee"])
            for what, one, other in (("elbow", "rod", "lower rocker"), ("hip", "leg", "upper rocker")):
                loops.append({"name": f"{name} {what}", "kind": "point_on_line", "body_a": f"{name} {one}",
                              "body_b": f"{name} {other}", "position": at[what], "rotation": HINGE,
                              **({} if friction is None else {"friction": friction})})
    return {"name": "Klann", "bodies": bodies, "joints": joints, "loops": loops}


def job(folder: Path, mu: float = 0.0, seconds: float = 4.0, step: float = 0.01, joint_friction: str = "bisp",
        integrator: str = "semi_implicit") -> None:
    """Write the job of the walker into a new folder.

    mu: friction coefficient of all bearings; at 0 there are none. The floor's is `FLOOR`. seconds: length of the scene.
    step: [s]. joint_friction, integrator: keys of the catalogue.
    """
    (folder / "arrays").mkdir(parents=True)
    end = 1 + round(seconds * FPS)
    t = np.arange((end - 1) * SAMPLES + 1) / (FPS * SAMPLES)
    # a speed that rises evenly and then stays
    turned = SPEED * np.where(t < RAMP, t**2 / (2 * RAMP), t - 0.5 * RAMP)
    np.save(folder / "arrays" / "crank.npy", turned[:, None])
    scene = {"version": 1, "name": "klann", "mechanisms": [mechanism(folder, mu or None)],
             "integrator": {"kind": integrator}, "joint_friction": {"kind": joint_friction if mu else "none"},
             "ground": {"point": [0, 0, 0], "normal": [0, 0, 1],
                        "friction": {"kind": "coulomb", "params": {"friction_coefficient": FLOOR}}},
             "time": {"start": 1, "end": end, "fps": FPS, "step": step, "samples_per_frame": SAMPLES}}
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")


@dataclass(frozen=True)
class Walk:
    """Measurements of a walk, a row a step."""

    time: np.ndarray  #: (k,) [s]
    torque: np.ndarray  #: of the front and the rear motor, (k, 2) [N m]
    frame: np.ndarray  #: place of the frame's middle, (k, 3) [m]
    loops: float  #: what a loop was off by at most [m]
    seconds: float  #: of computing, for all steps


def walk(mu: float, seconds: float, h: float = 0.01) -> Walk:
    """The walker at this μ in all bearings, steps of h seconds. Its readings are not timed."""
    with tempfile.TemporaryDirectory(prefix="conjac-klann-") as name:
        job(Path(name) / "job", mu, seconds)
        world = build_mechanisms(load(Path(name) / "job"))
        state, rows, spent, off = world.initial_state(), [], 0.0, 0.0
        bodies = [body.partition("/")[2] for body in world.tree.bodies]
        cranks = [int(world.tree.dof[bodies.index(f"{end} crank")]) for end in ("Front", "Rear")]
        for _ in range(round(seconds / h)):
            began = time.perf_counter()
            state = world.step(state, h)
            spent += time.perf_counter() - began
            shown = world.poses(state)
            off = max(off, float(shown["loops"].max()))
            rows.append([state.time, *shown["effort"][cranks], *shown["pose"][0, :3, 3]])
    table = np.array(rows)
    return Walk(table[:, 0], table[:, 1:3], table[:, 3:], off, spent)


def realtime(mu: float = 0.4, seconds: float = 3.0) -> tuple[list[Claim], dict[str, Any]]:
    """How much faster than its own time the walker is computed with friction in all bearings and under its feet."""
    walk(mu, 0.1)
    runs = [walk(mu, seconds) for _ in range(3)]
    rate = seconds / float(np.median([run.seconds for run in runs]))
    last = runs[-1]
    details = {"klann": {"mu": mu, "ms_per_step": 10.0 / rate, "loops_off_m": last.loops,
                         "walked_m": float(last.frame[-1, 0] - last.frame[0, 0])}}
    return [claim("klann_realtime", rate, "times real time", ">= 3")], details
