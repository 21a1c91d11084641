"""Rubber ducks of our own that fall into a crate: a body, a head, a beak and a tail that are seen from one point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scenes.touching import ball, made
from solver.meshing.tetgen import TetGen
from solver.meshing.volume import boundary_faces
from solver.world.nodes import Nodes

#: (centre, radii) [m] of body and head, and what all vertices are seen from, inside of both
ROUND = (((0.0, 0.0, 0.0), (0.085, 0.062, 0.052)), ((0.050, 0.0, 0.072), (0.043, 0.041, 0.041)))
EYE = (0.038, 0.0, 0.040)
#: (direction, how far out [m], how wide [rad]) of beak and tail
BUMPS = (((1.0, 0.0, 0.30), 0.036, 0.30), ((-1.0, 0.0, 0.10), 0.020, 0.25))
SMOOTH = 8.0  #: the larger, the sharper the neck
SIZE = 0.85  #: times all of it
APART, HIGH = 0.21, 0.17  #: of neighbours in a layer, and of layers [m]


def duck_shape(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a duck in these directions from EYE, (n, 3) [m]; and how much of the beak each
    is, (n,)."""
    unit = directions / np.linalg.norm(directions, axis=1)[:, None]
    outward = np.zeros(len(directions))
    for centre, radii in ROUND:
        # where a ray from EYE leaves the ellipsoid
        start, along = (np.array(EYE) - centre) / radii, unit / radii
        a, b, c = (along**2).sum(axis=1), along @ start, float(start @ start) - 1.0
        outward += ((-b + np.sqrt(b * b - a * c)) / a) ** SMOOTH
    outward **= 1.0 / SMOOTH
    beak = np.zeros(len(directions))
    for k, (direction, far, wide) in enumerate(BUMPS):
        angle = np.arccos(np.clip(unit @ direction / np.linalg.norm(direction), -1.0, 1.0))
        bump = np.exp(-((angle / wide) ** 2))
        outward += far * bump
        beak = bump if k == 0 else beak
    return SIZE * (np.array(EYE) + outward[:, None] * unit), beak


def duck(cells: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and tets: the skin of a ball drawn onto the duck's, filled by TetGen. cells: across the ball."""
    nodes, tets = ball(1.0, cells)
    faces = boundary_faces(tets)[0]
    skin, triangles = np.unique(faces, return_inverse=True)
    return TetGen().mesh(duck_shape(nodes[skin])[0], triangles.reshape(-1, 3).astype(np.int32),
                         {"edge_length": 0.08, "ratio": 1.4})


def crate(half: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a floor with four walls, a sheet whose front is inside."""
    corners = np.array([[x, y] for x, y in ((-half, -half), (half, -half), (half, half), (-half, half))])
    vertices = np.concatenate([np.column_stack([corners, np.full(4, z)]) for z in (0.0, high)])
    faces = [[0, 1, 2], [0, 2, 3]]
    for i in range(4):
        j = (i + 1) % 4
        faces += [[i, i + 4, j], [j, i + 4, j + 4]]
    return vertices, np.array(faces, np.int32)


def falling(folder: Path, count: int, step: float, cells: int = 4, **scene: Any) -> Nodes:
    """So many ducks in layers of nine above a crate, each turned another way."""
    bodies = {}
    nodes, tets = duck(cells)
    for k in range(count):
        layer, slot = divmod(k, 9)
        x, y = divmod(slot, 3)
        turn, lean = 2.4 * k, 0.4 * np.sin(1.7 * k)
        about_z = np.array([[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]])
        about_x = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(lean), -np.sin(lean)], [0.0, np.sin(lean), np.cos(lean)]])
        shift = 0.03 * (layer % 2)
        at = np.array([(x - 1) * APART + shift, (y - 1) * APART - shift, 0.07 + HIGH * layer])
        bodies[f"Duck{k}"] = (nodes @ (about_z @ about_x).T + at, tets, 4e4)
    return made(folder, bodies, {"Crate": crate(0.36, 0.6)}, step,
                {"friction_coefficient": 0.3, "distance": 0.004}, **scene)
