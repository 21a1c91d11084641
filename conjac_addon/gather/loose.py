"""Loose parts of a mesh: sets of vertices that no edge connects."""

from __future__ import annotations

from itertools import combinations

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from .evaluation import coordinates
from .mesh import triangles as triangles_of

MANY = 64  #: loose parts of one mesh, above which nobody looks whether they are apart: hair cards, scales, gravel


def loose_parts(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Return a number for each vertex, (n,), equal for vertices that edges connect."""
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    edges = edges.reshape(-1, 2)
    label = np.arange(len(mesh.vertices), dtype=np.int32)
    while True:
        # both ends take the lower label, and that one's own, until nothing changes
        low = np.minimum(label[edges[:, 0]], label[edges[:, 1]])
        fresh = label.copy()
        np.minimum.at(fresh, edges[:, 0], low)
        np.minimum.at(fresh, edges[:, 1], low)
        fresh = fresh[fresh]
        if np.array_equal(fresh, label):
            return label
        label = fresh


def any_apart(mesh: bpy.types.Mesh) -> bool:
    """Whether two of a mesh's loose parts neither cross each other nor hold each other inside, as letters of a word or
    a ball in the hole of a ring: what is filled with tetrahedra is in pieces then, which may fall onto each other."""
    label, triangles = loose_parts(mesh), triangles_of(mesh)
    used = np.unique(label[triangles[:, 0]])
    if not 2 <= len(used) <= MANY:
        return False
    x = coordinates(mesh)
    tree: dict[int, BVHTree] = {}
    faces: dict[int, NDArray[np.int32]] = {}
    for part in used:
        own = np.flatnonzero(label == part)
        new = np.empty(len(x), dtype=np.int32)
        new[own] = np.arange(len(own))
        faces[part] = triangles[label[triangles[:, 0]] == part]
        tree[part] = BVHTree.FromPolygons(x[own].tolist(), new[faces[part]].tolist())
    # the first vertex of each part, from which the others are seen: around[a, b] is how often a goes around b
    first = x[used]
    around = np.array([[0.0 if a == b else _winding(point, x[faces[a]]) for b, point in zip(used, first)]
                       for a in used])
    filled = np.abs(around.sum(axis=0)) > 0.5  # what lies in a hollow, between two shells, is part of neither
    joined = {part: part for part in used}
    for (k, a), (m, b) in combinations(enumerate(used), 2):
        holds = filled[m] and abs(around[k, m]) > 0.5 or filled[k] and abs(around[m, k]) > 0.5
        if holds or tree[a].overlap(tree[b]):
            joined = {part: joined[a] if group == joined[b] else group for part, group in joined.items()}
    return len(set(joined.values())) > 1


def _winding(point: NDArray[np.float64], corners: NDArray[np.float64]) -> float:
    """Return how often triangles, corners (m, 3, 3), go around a point: the solid angles they are seen under, over
    4π."""
    if (point < corners.min(axis=(0, 1))).any() or (point > corners.max(axis=(0, 1))).any():
        return 0.0
    to = corners - point
    away = np.linalg.norm(to, axis=2)
    a, b, c = to[:, 0], to[:, 1], to[:, 2]
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = (away.prod(axis=1) + np.einsum("ij,ij->i", a, b) * away[:, 2] + np.einsum("ij,ij->i", b, c) * away[:, 0]
             + np.einsum("ij,ij->i", c, a) * away[:, 1])
    return float(np.arctan2(volume, below).sum() / (2.0 * np.pi))
