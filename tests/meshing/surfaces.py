"""Surfaces for the meshers' tests: boxes, joins of them, and .obj files."""

from pathlib import Path

import numpy as np

from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces

DATA = Path(__file__).resolve().parents[1] / "data"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "meshes"


def box(size=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), cells=(2, 2, 2)):
    """A box's vertices and outward triangles."""
    nodes, tets = box_tets(cells, size, origin)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def joined(*surfaces):
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(v) for v, _ in surfaces)])
    return (np.concatenate([v for v, _ in surfaces]),
            np.concatenate([t + start for (_, t), start in zip(surfaces, starts)]))


def read_obj(path):
    """Vertices and triangles of an .obj file; polygons become fans."""
    vertices, triangles = [], []
    for line in path.read_text().splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            vertices.append([float(number) for number in rest[:3]])
        elif kind == "f":
            corners = [int(corner.split("/")[0]) for corner in rest]
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            triangles += [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
    return np.array(vertices), np.array(triangles, dtype=np.int32)
