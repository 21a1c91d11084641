"""Measure artefacts of impacts: dropped and suddenly stopped bodies, with the settings of a new soft body.

A ball, a cube, a torus and Suzanne of 0.2, 1 and 2 m fall by one metre onto a ground, and a bar whose end moves at 3
m/s stops at once. `drop_stretch` is the longest edge, relative to its rest length, divided by that of the same scene
with every stage solved to 1e-6, at the same step. `drop_spin_deg` is the deviation of the best-fit rotation of a
symmetric body, the ball, the cube and the torus, from the upright; `drop_spin_conjac_deg` is the same for ConJac with
eight spots at the positions of *Suggest*. `drop_sink` is the depth of a body in the ground once it rests, relative to
its height. Meshes of all but Suzanne are mirror symmetric, since otherwise the mesh itself rotates the landing body.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import json

import numpy as np

from benchmarks.report import claim, emit
from solver.build.soft_bodies import assemble, prepare_all
from solver.build.suggest import suggest_spots
from solver.errors import ConJacError
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.meshing.volume import EDGES, drop_unused_nodes, find_edges
from solver.simulate import Halved, Timeline, advance_frame
from solver.state import State
from solver.stepping import LANDS
from solver.world.nodes import Nodes

SIZES, DROP, FPS = (0.2, 1.0, 2.0), 1.0, 24.0
STOPPED = 3.0  #: speed of the bar's end before it stops [m/s]
FRAMES = 36  #: after which what was dropped has landed and bounced
SETTLING = 72  #: frames at steps of one frame, braked, until it rests
#: of a new soft body, as operators/first_settings gives them
DENSITY, GRAVITY, WOBBLE, SLOWEST, SAG, SINK, HALF_LIFE = 1000.0, 9.81, 2.5, 0.3, 0.06, 0.0003, 0.75
QUICK: dict[str, Any] = {"kind": "quick"}
SOLVED: dict[str, Any] = {"kind": "qlb", "params": {"tolerance": 1e-6}}
SPOTS: dict[str, Any] = {"method": {"kind": "conjac"}, "spot": {"kind": "turn"}, "dynamic": {"suggested": 8}}
SUZANNE = Path(__file__).resolve().parents[1] / "tests" / "data" / "suzanne.npz"


@dataclass(frozen=True)
class Shape:
    """A body that stands on z = 0 and is one metre wide."""

    nodes: np.ndarray
    tets: np.ndarray
    symmetric: bool


def standing(nodes: np.ndarray, tets: np.ndarray, symmetric: bool) -> Shape:
    nodes = nodes - [*0.5 * (nodes.min(axis=0) + nodes.max(axis=0))[:2], nodes[:, 2].min()]
    return Shape(nodes / np.ptp(nodes[:, 0]), tets.astype(np.int32), symmetric)


def mirrored(cells: tuple[int, int, int], size: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, (n, 3) [m], and tetrahedra, (e, 4), of a grid around the origin with eight mirrored octants.

    An asymmetric mesh would rotate a body that lands.
    """
    octant, tets = box_tets((cells[0] // 2, cells[1] // 2, cells[2] // 2), tuple(0.5 * s for s in size))
    nodes, all_tets = [], []
    for signs in np.array(np.meshgrid(*[(1, -1)] * 3)).T.reshape(-1, 3):
        turned = tets if signs.prod() > 0 else tets[:, [0, 1, 3, 2]]
        all_tets.append(turned + len(octant) * len(nodes))
        nodes.append(octant * signs)
    found, same = np.unique(np.round(np.concatenate(nodes), 9) + 0.0, axis=0, return_inverse=True)
    return found, same.ravel()[np.concatenate(all_tets)]


def cube() -> Shape:
    return standing(*mirrored((6, 6, 6), (1.0, 1.0, 1.0)), True)


def ball() -> Shape:
    """Return a ball, mapped from the grid of a cube."""
    nodes, tets = mirrored((8, 8, 8), (2.0, 2.0, 2.0))
    x, y, z = (nodes**2).T
    squares = np.stack([1 - y / 2 - z / 2 + y * z / 3, 1 - z / 2 - x / 2 + z * x / 3, 1 - x / 2 - y / 2 + x * y / 3])
    return standing(nodes * np.sqrt(squares.T), tets, True)


def torus() -> Shape:
    """Return a torus that lies flat, made of the tetrahedra of a grid that are inside."""
    nodes, tets = mirrored((14, 14, 4), (1.0, 1.0, 0.3))
    around = np.linalg.norm(nodes[:, :2], axis=1)
    away = np.hypot(around - 0.35, nodes[:, 2])
    inside = (away[tets] < 0.165).all(axis=1)
    nodes, tets = drop_unused_nodes(nodes, tets[inside])
    return standing(nodes, tets, True)


def suzanne() -> Shape:
    saved = np.load(SUZANNE)
    return standing(saved["nodes"], saved["tets"], False)


SHAPES = {"ball": ball, "cube": cube, "torus": torus, "Suzanne": suzanne}


def bar() -> Shape:
    return standing(*box_tets((16, 4, 4), (1.0, 0.25, 0.25)), False)


def built(folder: Path, nodes: np.ndarray, tets: np.ndarray, stage_solver: dict[str, Any], **body: Any) -> Any:
    """Write and load the job of a body with the settings of a new soft body.

    body: settings that differ; `motion` is (indices of pinned nodes, their positions), `chosen` lists dynamic nodes.
    """
    (folder / "arrays").mkdir()
    motion, chosen = body.pop("motion", None), body.pop("chosen", None)
    arrays = {"nodes": nodes, "tets": tets}
    if chosen is not None:
        arrays["dynamic"] = np.array(chosen, dtype=np.int32)
        body["dynamic"] = {"nodes": "arrays/dynamic.npy"}
    if motion is not None:
        arrays |= {"pinned": motion[0], "motion": motion[1]}
        body["pin"] = {"nodes": "arrays/pinned.npy", "node_motion": "arrays/motion.npy"}
    for name, array in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", array)
    sizes = np.ptp(nodes, axis=0)
    young = DENSITY * max((WOBBLE * sizes.max() / SLOWEST) ** 2, GRAVITY * sizes[2] / SAG)
    scene = {
        "version": 1, "name": "impact", "method": {"kind": "vanilla"}, "integrator": {"kind": "sdirk2"},
        "stage_solver": stage_solver, "time": {"start": 1, "end": 1 + FRAMES, "fps": FPS, "step": 1.0 / 48.0},
        "bodies": [{"name": "body", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
                    "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": young}},
                    "wobble_half_life": HALF_LIFE, **body}]}
    if motion is None:
        scene["ground"] = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness_per_area": DENSITY * GRAVITY / SINK,
                           "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    return load(folder)


def world_of(nodes: np.ndarray, tets: np.ndarray, stage_solver: dict[str, Any], **body: Any) -> tuple[Nodes, Timeline]:
    with tempfile.TemporaryDirectory(prefix="conjac-impact-") as name:
        job = built(Path(name), nodes, tets, stage_solver, **body)
        prepared = [suggest_spots(job, one, lambda *_: None) for one in prepare_all(job, lambda *_: None)]
        return assemble(job, prepared), Timeline.of(job.scene.time)


def seen(world: Nodes, timeline: Timeline) -> tuple[list[np.ndarray], State, int]:
    """Return positions of all nodes at each frame, the last state, and the number of steps that were halved for other
    reasons than a landing."""
    state, halved, out = world.initial_state(), Halved(), []
    for frame in range(timeline.start + 1, timeline.end + 1):
        state = advance_frame(world, state, timeline, frame, halved=halved)
        out.append(world.coordinates.positions(state.q, state.time))
    return out, state, sum(str(why) != LANDS for _, why in halved)


def longest(world: Nodes, frames: list[np.ndarray]) -> float:
    """Return the largest ratio of the length of an edge in any frame to its rest length."""
    pairs = find_edges(world.tets, EDGES)
    rest = np.linalg.norm(np.diff(world.rest[pairs], axis=1)[:, 0], axis=1)
    return max(float((np.linalg.norm(np.diff(x[pairs], axis=1)[:, 0], axis=1) / rest).max()) for x in frames)


def turned(world: Nodes, frames: list[np.ndarray]) -> float:
    """Return the largest angle of the best-fit rotation from the rest shape to a frame [degrees]."""
    mass_fraction = (world.mass / world.mass.sum())[:, None]
    before, most = world.rest - (mass_fraction * world.rest).sum(axis=0), 0.0
    for x in frames:
        u, _, v = np.linalg.svd(before.T @ (mass_fraction * (x - (mass_fraction * x).sum(axis=0))))
        flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v))])
        cosine = 0.5 * (np.trace(u @ flip @ v) - 1.0)
        most = max(most, float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))))
    return most


def sunk(nodes: np.ndarray, tets: np.ndarray) -> float:
    """Return the depth of a body in the ground at rest, relative to its height. nodes: (n, 3) [m]. tets: (e, 4)."""
    on = nodes - [0.0, 0.0, nodes[:, 2].min()]
    braked = {"kind": "rayleigh", "params": {"mass_damping": 5.0}}
    world, _ = world_of(on, tets, QUICK, damping=braked)
    state = world.initial_state()
    for frame in range(SETTLING):
        state = advance_frame(world, state, Timeline(0, SETTLING, FPS, 1.0 / FPS, 10), frame + 1)
    lowest = float(world.coordinates.positions(state.q, state.time)[:, 2].min())
    return -lowest / float(np.ptp(nodes[:, 2]))


def dropped(name: str, size: float, shape: Shape) -> dict[str, Any]:
    """Return the row of a shape of width `size` [m] that is dropped."""
    nodes = size * shape.nodes
    high = nodes + [0.0, 0.0, DROP]
    row: dict[str, Any] = {"scene": f"{name}, {size:g} m", "nodes": len(nodes)}
    found = {}
    for key, stage_solver in (("ours", QUICK), ("solved", SOLVED)):
        try:
            world, timeline = world_of(high, shape.tets, stage_solver)
            frames, _, halved = seen(world, timeline)
        except ConJacError as failure:
            row[f"{key} failed"] = str(failure)
            continue
        found[key] = longest(world, frames)
        row[f"longest edge, {key}"] = round(found[key], 3)
        row[f"halved, {key}"] = halved
        if key == "ours" and shape.symmetric:
            row["turned"] = round(turned(world, frames), 3)
    if shape.symmetric:
        row["turned, ConJac"] = round(followed(high, shape.tets), 3)
    row["stretch"] = round(found["ours"] / found["solved"], 3) if len(found) == 2 else float("inf")
    row["sink"] = round(sunk(nodes, shape.tets), 4)
    return row


def followed(high: np.ndarray, tets: np.ndarray) -> float:
    """Return the largest rotation of a dropped body with ConJac and the spots of *Suggest* [degrees].

    high: nodes at the drop height, (n, 3) [m]. tets: (e, 4).
    """
    world, timeline = world_of(high, tets, QUICK, **SPOTS)
    return turned(world, seen(world, timeline)[0])


def stopped() -> dict[str, Any]:
    """Return the row of a bar whose end moves along y and stops at once."""
    shape = bar()
    pinned = np.flatnonzero(shape.nodes[:, 0] < shape.nodes[:, 0].min() + 1e-9).astype(np.int32)
    times = np.arange(2 * FRAMES + 1) / (2 * FPS)
    displacement = STOPPED * np.minimum(times, 0.5)
    motion = shape.nodes[pinned] + displacement[:, None, None] * np.array([0.0, 1.0, 0.0])
    row: dict[str, Any] = {"scene": "bar that stops", "nodes": len(shape.nodes)}
    for key, stage_solver in (("ours", QUICK), ("solved", SOLVED)):
        world, timeline = world_of(shape.nodes, shape.tets, stage_solver, motion=(pinned, motion))
        frames, _, row[f"halved, {key}"] = seen(world, timeline)
        row[f"longest edge, {key}"] = round(longest(world, frames), 3)
    row["stretch"] = round(row["longest edge, ours"] / row["longest edge, solved"], 3)
    return row


def main() -> None:
    threads.configure(1)
    rows = []
    for name, make in SHAPES.items():
        shape = make()
        for size in SIZES:
            rows.append(dropped(name, size, shape))
            print(rows[-1], file=sys.stderr, flush=True)
    rows.append(stopped())
    print(rows[-1], file=sys.stderr, flush=True)
    emit("impacts", [claim("drop_stretch", max(row["stretch"] for row in rows), "of solved stages", "<= 2"),
                     claim("drop_spin_deg", max(row.get("turned", 0.0) for row in rows), "degrees", "<= 1"),
                     claim("drop_spin_conjac_deg", max(row.get("turned, ConJac", 0.0) for row in rows), "degrees",
                           "<= 1"),
                     claim("drop_sink", max(row.get("sink", 0.0) for row in rows), "of the height", "<= 0.02")],
         {row["scene"]: row for row in rows})


if __name__ == "__main__":
    main()
