"""Scenes of soft bodies that touch, as worlds: a folded mat, jellies in a bowl, balls in a box, a block that rests.

Each function builds the job folder that a user's bake would read, with the settings of a new soft body unless others
are given, and answers its one part.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from solver.build.world import build
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.world.nodes import Nodes

NEW: dict[str, Any] = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}}  #: a new soft body's


def made(folder: Path, bodies: dict[str, tuple[np.ndarray, np.ndarray, float]],
         obstacles: dict[str, tuple[np.ndarray, np.ndarray]], step: float, contact: dict[str, Any] | None,
         law: str = "barrier", dynamic: np.ndarray | None = None, **scene: Any) -> Nodes:
    """bodies: nodes (n, 3), tets (e, 4) and Young's modulus [Pa] of each. obstacles: vertices and triangles of each.
    contact: the law's parameters, None for a scene without. law: which. dynamic: nodes of each body, (k,). scene: other
    fields of the job."""
    arrays: dict[str, np.ndarray] = {}
    whole: dict[str, Any] = {"version": 1, "name": "touching", "bodies": [], "method": {"kind": "vanilla"}, **NEW,
                             "time": {"start": 1, "end": 25, "fps": 24, "step": step}, **scene}
    for name, (nodes, tets, modulus) in bodies.items():
        if np.linalg.det(nodes[tets[0, 1:]] - nodes[tets[0, :1]]) < 0.0:
            tets = tets[:, [0, 1, 3, 2]]
        arrays[f"{name}_nodes"], arrays[f"{name}_tets"] = nodes, tets.astype(np.int32)
        whole["bodies"].append({"name": name, "tets": {"nodes": f"arrays/{name}_nodes.npy",
                                                       "tets": f"arrays/{name}_tets.npy"},
                                "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": modulus}}})
        if dynamic is not None:
            arrays["dynamic"] = dynamic.astype(np.int32)
            whole["bodies"][-1]["dynamic"] = {"nodes": "arrays/dynamic.npy"}
    if contact is not None:
        whole["contact"] = {"law": {"kind": law, "params": contact}}
        whole["obstacles"] = []
        for name, (vertices, triangles) in obstacles.items():
            arrays[f"{name}_vertices"], arrays[f"{name}_triangles"] = vertices, triangles.astype(np.int32)
            whole["obstacles"].append({"name": name, "vertices": f"arrays/{name}_vertices.npy",
                                       "triangles": f"arrays/{name}_triangles.npy"})
    (folder / "arrays").mkdir(parents=True)
    for name, array in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", array)
    (folder / "scene.json").write_text(json.dumps(whole), encoding="utf-8")
    part = build(load(folder), lambda *_: None)[0].parts[0]
    assert isinstance(part, Nodes)
    return part


def ball(radius: float, cells: int = 4,
         at: tuple[float, float, float] | np.ndarray = (0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and tets: a cube whose shells are drawn onto spheres."""
    nodes, tets = box_tets((cells, cells, cells), (2.0, 2.0, 2.0))
    nodes = nodes - 1.0
    length = np.linalg.norm(nodes, axis=1)
    return radius * nodes * (np.abs(nodes).max(axis=1) / np.maximum(length, 1e-9))[:, None] + np.asarray(at), tets


def bowl(radius: float, rings: int = 12, around: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of the lower half of a sphere about the origin, a sheet whose front is its inner side."""
    tilt = np.linspace(0.0, 0.5 * np.pi, rings + 1)[1:]
    turn = np.arange(around) * 2 * np.pi / around
    circles = np.stack([np.outer(np.sin(tilt), np.cos(turn)), np.outer(np.sin(tilt), np.sin(turn)),
                        -np.outer(np.cos(tilt), np.ones(around))], axis=-1).reshape(-1, 3)
    triangles = []
    for i in range(around):
        j = (i + 1) % around
        triangles.append([0, 1 + i, 1 + j])
        for ring in range(rings - 1):
            a, b = 1 + ring * around + i, 1 + ring * around + j
            triangles += [[a, a + around, b], [b, a + around, b + around]]
    return radius * np.concatenate([[[0.0, 0.0, -1.0]], circles]), np.array(triangles, np.int32)


def ten_jellies(folder: Path, cells: int, step: float, **scene: Any) -> Nodes:
    """Ten balls of 18 cm, in two layers, just above a bowl and each other."""
    bodies = {}
    for k in range(10):
        layer, slot = divmod(k, 5)
        turn = np.pi / 2 * slot + 0.4 * layer
        ring = 0.2 if slot else 0.0
        height = 0.24 * layer + 0.02 * slot if slot else -0.2 + 0.25 * layer
        at = (ring * np.cos(turn) + 0.01 * layer * (not slot), ring * np.sin(turn), height)
        bodies[f"Jelly{k}"] = (*ball(0.09, cells, at), 2e4 * (1 + k % 3))
    return made(folder, bodies, {"Bowl": bowl(0.45)}, step, {"friction_coefficient": 0.4}, **scene)


def balls_in_a_box(folder: Path, count: int, cells: int, step: float, **scene: Any) -> Nodes:
    """Balls of 10 cm in layers of ten, nearer to each other and to the floor than surfaces push."""
    gap, bodies = 0.001, {}
    for k in range(count):
        layer, slot = divmod(k, 10)
        x, y = divmod(slot, 5)
        at = np.array([x, y, layer]) * (0.1 + gap) + [0.0, 0.0, 0.05 + gap]
        bodies[f"Ball{k}"] = (*ball(0.05, cells, at), 2e4)
    corners = np.array([[-1.0, -1.0, 0.0], [1.2, -1.0, 0.0], [1.2, 1.4, 0.0], [-1.0, 1.4, 0.0]])
    floor = (corners, np.array([[0, 1, 2], [0, 2, 3]]))
    return made(folder, bodies, {"Floor": floor}, step, {"friction_coefficient": 0.3, "distance": 0.003}, **scene)


def resting_block(folder: Path, cells: tuple[int, int, int], step: float, contact: bool, **scene: Any) -> Nodes:
    """A block of 3 cm cells that lies on a sheet of larger faces, which touches all corners of its underside."""
    size = tuple(0.03 * n for n in cells)
    nodes, tets = box_tets(cells, size)  # type: ignore[arg-type]
    grid = np.linspace(-0.2, size[0] + 0.2, 9)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    number = np.arange(81).reshape(9, 9)
    a, b, c, d = number[:-1, :-1].ravel(), number[1:, :-1].ravel(), number[1:, 1:].ravel(), number[:-1, 1:].ravel()
    sheet = (np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3),
             np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))
    law = {"friction_coefficient": 0.4, "distance": 0.003} if contact else None
    return made(folder, {"Block": (nodes + [0.0, 0.0, 0.002], tets, 1e5)}, {"Sheet": sheet}, step, law, **scene)


CELLS, SIZE, GAP = (140, 34, 1), (1.4, 0.34, 0.01), 0.002  #: of the folded mat; 20,000 faces


def folded_mat(folder: Path, step: float, contact: bool, **scene: Any) -> Nodes:
    """A mat that is folded in the middle, its halves nearer to each other than surfaces push; without gravity."""
    nodes, tets = box_tets(CELLS, SIZE)
    radius = 0.5 * GAP + 0.5 * SIZE[2] + 0.03
    straight = 0.5 * (SIZE[0] - np.pi * radius)
    along, across, above = nodes.T
    turn = np.clip((along - straight) / radius, 0.0, np.pi)
    # above the outer side of the lower half; the halves come nearer to each other towards their ends
    beyond = np.maximum(along - straight - np.pi * radius, 0.0)
    lower = np.minimum(along, straight)
    r = radius + (0.5 * SIZE[2] - above)
    x = lower + r * np.sin(turn) - beyond
    z = -r * np.cos(turn)
    lean = (radius - 0.5 * (GAP + SIZE[2])) / straight
    z += np.where(turn < 0.5 * np.pi, 1.0, -1.0) * lean * (straight - np.minimum(lower, x).clip(0.0))
    mat = (np.stack([x, across, z], axis=1), tets, 1e5)
    return made(folder, {"Mat": mat}, {}, step, {"distance": 2.0 * GAP} if contact else None,
                gravity=[0.0, 0.0, 0.0], **scene)
