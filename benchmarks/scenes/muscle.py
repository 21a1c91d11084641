"""MUSCLE: a muscle on bones bends an arm, solved at once with its joints. [ConJac MUSCLE]

Two arms. `flat` is the paper's planar one: a sheet of 262 vertices and 438 triangles, as in its Table 1, made two
prisms thick and mirrored in its middle plane, so that nothing ever leaves the plane. Its unknowns are two hinges and
one dynamic node, which stands in that plane: 4 that move, as the paper counts, and one that symmetry keeps at zero.
`solid` is a forearm with a biceps. Sizes, bones and the fibers' modulus are ours; Stable Neo-Hookean of 3e4 Pa and
ν 0.49 with aFUNG is the paper's, and the tendons are ten times as stiff.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Claim, claim
from solver.build.volumes import volumes_of
from solver.build.world import build
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces, tet_volumes
from solver.world.world import World

FPS, SAMPLES = 25.0, 4
YOUNG, POISSON, TENDON = 3.0e4, 0.49, 3.0e5  #: [Pa], -, [Pa]
Q = float(np.sqrt(0.5))
LIFTS = [Q, Q, 0.0, 0.0]  #: turns a hinge's Z to −Y: a positive angle lifts what points to +X
#: vertices in each row across the sheet, from origin to insertion
ROWS = (3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 9,
        8, 8, 8, 8, 8, 8, 7, 7, 7, 7, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3)


@dataclass(frozen=True)
class Muscle:
    """A muscle at rest."""

    nodes: np.ndarray  #: (n, 3) [m]
    tets: np.ndarray  #: (e, 4)
    along: np.ndarray  #: of nodes, from origin, 0, to insertion, 1, (n,)
    middle: int  #: the node that is dynamic


@dataclass(frozen=True)
class Arm:
    """A muscle, and the mechanism on two of whose bodies it has grown."""

    muscle: Muscle
    mechanism: dict[str, Any]  #: of the job
    origin: str
    insertion: str
    elbow: int  #: its rate
    fiber_modulus: float  #: [Pa]
    grown: float  #: share of the muscle's length at each end that is grown on
    seconds: float = 3.0
    tone: float = 0.02  #: activation at first: the fibers stand just beyond the length at which they go slack
    begins: float = 0.2  #: it rises from here on [s]
    rises: float = 0.6  #: to 1 in this time [s]

    def activation(self) -> np.ndarray:
        """At the samples of the job, (T,)."""
        t = np.arange(int(self.seconds * FPS) * SAMPLES + 1) / (FPS * SAMPLES)
        s = np.clip((t - self.begins) / self.rises, 0.0, 1.0)
        return self.tone + (1.0 - self.tone) * s * s * (3.0 - 2.0 * s)

    def write(self, folder: Path, method: str = "conjac", *, step: float = 1.0 / 100.0, dynamic: bool = True,
              active: bool = True, besides: dict[str, Any] | None = None, **params: float) -> Path:
        """A job folder. dynamic: whether the muscle's middle node is. besides: of the scene. params: of the method."""
        m = self.muscle
        used, corners = np.unique(boundary_faces(m.tets)[0], return_inverse=True)
        skin = m.along[used]
        # up to a tenth of the paint counts as an end: the ends here are the end faces alone
        fibers = np.where(skin < 1e-9, 0.0, np.where(skin > 1.0 - 1e-9, 1.0, 0.5))
        belly = 1.0 - np.clip((np.abs(2.0 * skin - 1.0) - 0.6) / 0.2, 0.0, 1.0)
        arrays = {"nodes": m.nodes, "tets": m.tets.astype(np.int32), "vertices": m.nodes[used],
                  "triangles": corners.reshape(-1, 3).astype(np.int32), "fibers": fibers, "belly": belly,
                  "origin": np.flatnonzero(m.along <= self.grown).astype(np.int32),
                  "insertion": np.flatnonzero(m.along >= 1.0 - self.grown).astype(np.int32),
                  "activation": self.activation() if active else np.full(len(self.activation()), self.tone),
                  "dynamic": np.array([m.middle], np.int32)}
        body = {
            "name": "Muscle", "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean",
                         "params": {"youngs_modulus": YOUNG, "poisson_ratio": POISSON}},
            "painted": {"youngs_modulus": {"low": TENDON, "high": YOUNG, "weights": "arrays/belly.npy"}},
            "fiber_material": {"kind": "afung", "params": {"fiber_modulus": self.fiber_modulus}},
            "fiber_field": {"kind": "gradient"}, "fibers": "arrays/fibers.npy",
            "fiber_activation": "arrays/activation.npy",
            "attach": [{"mechanism": "Arm", "body": self.origin, "nodes": "arrays/origin.npy"},
                       {"mechanism": "Arm", "body": self.insertion, "nodes": "arrays/insertion.npy"}]}
        if dynamic and method == "conjac":
            body["dynamic"] = {"nodes": "arrays/dynamic.npy"}
        scene = {"version": 1, "name": "muscle", "bodies": [body], "mechanisms": [self.mechanism],
                 "method": {"kind": method, "params": params},
                 "time": {"start": 1, "end": 1 + int(self.seconds * FPS), "fps": FPS, "step": step,
                          "samples_per_frame": SAMPLES}, **(besides or {})}
        (folder / "arrays").mkdir(parents=True, exist_ok=True)
        for key, array in arrays.items():
            np.save(folder / "arrays" / f"{key}.npy", array)
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        return folder

    def world(self, method: str = "conjac", **choices: Any) -> World:
        """The job's world; choices as `write` has them."""
        with tempfile.TemporaryDirectory(prefix="conjac-muscle-") as name:
            job = load(self.write(Path(name), method, **choices))
            return build(job, lambda *_: None, volumes_of(job, lambda *_: None))[0]


def belly_of(along: np.ndarray, tip: float, wide: float) -> np.ndarray:
    """Half width at shares of the length: a tendon's at both ends, the belly's in the middle."""
    return tip + (wide - tip) * np.sin(np.pi * np.clip((along - 0.08) / 0.84, 0.0, 1.0)) ** 1.5


def spindle(start: np.ndarray, end: np.ndarray, tip: float, wide: float, cells: tuple[int, int]) -> Muscle:
    """A turned shape between two points [m]; cells along and across."""
    nodes, tets = box_tets((cells[0], cells[1], cells[1]), (1.0, 2.0, 2.0))
    s, across = nodes[:, 0], nodes[:, 1:] - 1.0
    # squares around the axis become circles
    length = np.linalg.norm(across, axis=1)
    disc = across * (np.abs(across).max(axis=1) / np.maximum(length, 1e-300))[:, None]
    axis = end - start
    side = np.cross(axis, [0.0, 1.0, 0.0])
    x = start + s[:, None] * axis + belly_of(s, tip, wide)[:, None] * (
        disc @ np.stack([[0.0, 1.0, 0.0], side / np.linalg.norm(side)]))
    return Muscle(*_upright(x, tets), s, int(np.argmin(np.abs(s - 0.5) + length)))


def sheet(start: np.ndarray, end: np.ndarray, tip: float, wide: float, thick: float) -> Muscle:
    """A flat one, half as thick as `thick` on either side of the plane y = 0 [m]."""
    first = np.concatenate([[0], np.cumsum(ROWS)])
    s = np.repeat(np.linspace(0.0, 1.0, len(ROWS)), ROWS)
    v = np.concatenate([np.linspace(-1.0, 1.0, count) for count in ROWS])
    triangles = [t for i in range(len(ROWS) - 1) for t in _between(v, first[i], first[i + 1], first[i + 2])]
    axis = end - start
    side = np.cross(axis, [0.0, 1.0, 0.0])
    plane = start + s[:, None] * axis + (belly_of(s, tip, wide) * v)[:, None] * side / np.linalg.norm(side)
    count, half = len(s), np.array([0.0, 0.5 * thick, 0.0])
    tets = []
    for layer in (1, 2):  # both cut their prisms alike, so that one mirrors the other
        for a, b, c in np.sort(triangles, axis=1):
            up = layer * count
            tets += [(a, b, c, c + up), (a, b, b + up, c + up), (a, a + up, b + up, c + up)]
    middle = int(np.argmin(np.abs(s - 0.5) + np.abs(v)))
    return Muscle(*_upright(np.concatenate([plane, plane + half, plane - half]), np.array(tets)), np.tile(s, 3), middle)


def _between(v: np.ndarray, low: int, middle: int, high: int) -> list[tuple[int, int, int]]:
    """Triangles between the rows low … middle and middle … high of a sheet, (a + b − 2, 3)."""
    found, i, j = [], low, middle
    while i + 1 < middle or j + 1 < high:
        if j + 1 == high or (i + 1 < middle and v[i] + v[i + 1] < v[j] + v[j + 1]):
            found.append((i, i + 1, j))
            i += 1
        else:
            found.append((i, j + 1, j))
            j += 1
    return found


def _upright(nodes: np.ndarray, tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tets = np.array(tets, dtype=np.int32)
    turned = tet_volumes(nodes, tets) < 0.0
    tets[turned] = tets[turned][:, [0, 1, 3, 2]]
    return np.ascontiguousarray(nodes), tets


def _bone(name: str, start: np.ndarray, end: np.ndarray, radius: float, mass: float) -> dict[str, Any]:
    """A capsule between two points in a plane y = constant."""
    axis = end - start
    angle = 0.5 * float(np.arctan2(axis[0], axis[2]))
    return {"name": name, "position": (0.5 * (start + end)).tolist(),
            "rotation": [np.cos(angle), 0.0, np.sin(angle), 0.0],
            "shape": {"kind": "capsule", "params": {"radius": radius, "length": float(np.linalg.norm(axis))}},
            "mass": mass, "is_collider": False}


@cache
def flat() -> Arm:
    """Shoulder and elbow of bones that weigh less than the muscle, 12 cm each."""
    shoulder, elbow = np.zeros(3), np.array([0.0, 0.0, -0.12])
    fore = np.array([np.cos(-1.0), 0.0, np.sin(-1.0)])
    muscle = sheet(np.array([0.012, 0.0, -0.004]), elbow + 0.032 * fore + [0.004, 0.0, 0.004], 0.003, 0.014, 0.02)
    mechanism = {
        "name": "Arm",
        "bodies": [_bone("Upper Arm", shoulder, elbow, 0.005, 0.012),
                   _bone("Forearm", elbow, elbow + 0.12 * fore, 0.004, 0.010)],
        "joints": [{"name": "Shoulder", "child": "Upper Arm", "kind": "revolute", "position": shoulder.tolist(),
                    "rotation": LIFTS, "damping": [2e-4]},
                   {"name": "Elbow", "child": "Forearm", "parent": "Upper Arm", "kind": "revolute",
                    "position": elbow.tolist(), "rotation": LIFTS, "damping": [2e-4]}]}
    return Arm(muscle, mechanism, "Upper Arm", "Forearm", 1, 6.0e4, 0.03)


@cache
def solid(cells: tuple[int, int] = (24, 6)) -> Arm:
    """A forearm of 25 cm and 1.2 kg on an upper arm that stands still, and a biceps in front of it."""
    shoulder, elbow = np.array([0.0, 0.0, 0.30]), np.zeros(3)
    fore = np.array([np.cos(-1.2), 0.0, np.sin(-1.2)])
    muscle = spindle(np.array([0.022, 0.0, 0.28]), elbow + 0.045 * fore + [0.016, 0.0, 0.006], 0.007, 0.026, cells)
    mechanism = {
        "name": "Arm",
        "bodies": [_bone("Upper Arm", shoulder, elbow, 0.014, 2.0),
                   _bone("Forearm", elbow, elbow + 0.25 * fore, 0.012, 1.2)],
        "joints": [{"name": "Shoulder", "child": "Upper Arm", "kind": "fixed", "position": shoulder.tolist()},
                   {"name": "Elbow", "child": "Forearm", "parent": "Upper Arm", "kind": "revolute",
                    "position": elbow.tolist(), "rotation": LIFTS, "damping": [0.1]}]}
    return Arm(muscle, mechanism, "Upper Arm", "Forearm", 0, 2.0e5, 0.05)


@dataclass(frozen=True)
class Bent:
    """How an arm moved."""

    angles: np.ndarray  #: of all joints after each step, (steps, m) [rad]
    ms: float  #: median of a step
    speeds: np.ndarray  #: of the dynamic node, (steps, 3) [m/s]

    def row(self, elbow: int) -> dict[str, float]:
        degrees = np.degrees(self.angles[:, elbow])
        return {"ms_a_step": round(self.ms, 1), "largest_degrees": round(float(degrees.max()), 2),
                "rest_degrees": round(float(degrees[-1]), 4)}


def bend(arm: Arm, h: float, betas: dict[str, float]) -> dict[str, Bent]:
    """Every method through the whole motion, taking turns so that both see one machine."""
    worlds = {method: arm.world(method, beta=beta) for method, beta in betas.items()}
    states = {method: world.initial_state() for method, world in worlds.items()}
    angles: dict[str, list[np.ndarray]] = {method: [] for method in worlds}
    speeds: dict[str, list[np.ndarray]] = {method: [] for method in worlds}
    ms: dict[str, list[float]] = {method: [] for method in worlds}
    for k in range(round(arm.seconds / h)):
        for method, world in worlds.items():
            began = time.perf_counter()
            states[method] = world.step(replace(states[method], time=k * h), h)
            ms[method].append(1e3 * (time.perf_counter() - began))
            soft, joints = world.split_state(states[method])
            angles[method].append(joints.q)
            speeds[method].append(world.parts[0].velocity(soft)[arm.muscle.middle])
    return {method: Bent(np.array(angles[method]), float(np.median(ms[method])), np.array(speeds[method]))
            for method in worlds}


def measured() -> tuple[dict[str, Any], list[Claim]]:
    """Rows of both arms, how many unknowns move, and how far ConJac comes to rest from Vanilla."""
    betas, made, runs = {"vanilla": 1.0, "conjac": 0.5}, {}, {}
    for name, arm in (("flat", flat()), ("solid", solid())):
        made[name] = {"vertices": len(arm.muscle.nodes), "tets": len(arm.muscle.tets), "beta": betas}
        for h in (1.0 / 50.0, 1.0 / 100.0):
            runs[name] = bend(arm, h, betas)
            made[name][f"h {h:g}"] = {method: bent.row(arm.elbow) for method, bent in runs[name].items()}
    lively = runs["flat"]["conjac"]
    moving = int((np.abs(lively.speeds).max(axis=0) > 1e-9).sum() + (np.ptp(lively.angles, axis=0) > 1e-9).sum())
    off = float(np.abs(lively.angles[-1] - runs["flat"]["vanilla"].angles[-1]).max())
    ratio = runs["solid"]["conjac"].ms / runs["solid"]["vanilla"].ms
    return made, [claim("muscle_unknowns", moving, "that move", "<= 4", 4),
                  claim("muscle_rest", off, "rad from Vanilla's", "<= 1e-6", "exactly the same"),
                  claim("muscle_conjac_over_vanilla", ratio, "", "<= 1.3")]
