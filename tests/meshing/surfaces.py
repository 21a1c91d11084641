"""Surfaces for the meshers' tests: boxes, globes and joins of them."""

from pathlib import Path

import numpy as np

from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces

DATA = Path(__file__).resolve().parents[1] / "data"


def box(size=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), cells=(2, 2, 2)):
    """A box's vertices and outward triangles."""
    nodes, tets = box_tets(cells, size, origin)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def globe(rings):
    """A UV sphere of radius 1, closed: its poles are fans of slivers."""
    down, around = np.pi * np.arange(1, rings) / rings, np.pi * np.arange(2 * rings) / rings
    rows = np.stack([np.outer(np.sin(down), np.cos(around)), np.outer(np.sin(down), np.sin(around)),
                     np.outer(np.cos(down), np.ones(2 * rings))], axis=2).reshape(-1, 3)
    vertices = np.concatenate([rows, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    at = np.arange(len(rows)).reshape(rings - 1, 2 * rings)
    right = np.roll(at, -1, axis=1)
    a, b, c, d = at[:-1].ravel(), right[:-1].ravel(), at[1:].ravel(), right[1:].ravel()
    north, south = np.full(2 * rings, len(rows)), np.full(2 * rings, len(rows) + 1)
    return vertices, np.concatenate([np.stack(corners, axis=1) for corners in (
        (a, c, b), (b, c, d), (north, at[0], right[0]), (south, right[-1], at[-1]))]).astype(np.int32)


def joined(*surfaces):
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(v) for v, _ in surfaces)])
    return (np.concatenate([v for v, _ in surfaces]),
            np.concatenate([t + start for (_, t), start in zip(surfaces, starts)]))
