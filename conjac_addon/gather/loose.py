"""Loose parts of a mesh: what no edge joins."""

from __future__ import annotations

from itertools import combinations

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from .evaluation import coordinates
from .mesh import triangles as triangles_of

Box = tuple[NDArray[np.float64], NDArray[np.float64]]  #: its lowest and its highest corner

MANY = 64  #: loose parts of one mesh, above which nobody looks whether they are apart: hair cards, scales, gravel


def loose_parts(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """(n,) a number for each vertex, the same for those that edges join."""
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
    """Whether two of a mesh's loose parts neither cross each other nor hold each other, as letters of a word: what is
    filled with tetrahedra is in pieces then, which may fall onto each other."""
    label, triangles = loose_parts(mesh), triangles_of(mesh)
    used = np.unique(label[triangles[:, 0]])
    if not 2 <= len(used) <= MANY:
        return False
    x = coordinates(mesh)
    tree: dict[int, BVHTree] = {}
    box: dict[int, Box] = {}
    for part in used:
        own = np.flatnonzero(label == part)
        new = np.empty(len(x), dtype=np.int32)
        new[own] = np.arange(len(own))
        tree[part] = BVHTree.FromPolygons(x[own].tolist(), new[triangles[label[triangles[:, 0]] == part]].tolist())
        box[part] = x[own].min(axis=0), x[own].max(axis=0)
    joined = {part: part for part in used}
    for a, b in combinations(used, 2):
        if _holds(box[a], box[b]) or _holds(box[b], box[a]) or tree[a].overlap(tree[b]):
            joined = {part: joined[a] if group == joined[b] else group for part, group in joined.items()}
    return len(set(joined.values())) > 1


def _holds(outer: Box, inner: Box) -> bool:
    return bool((outer[0] <= inner[0]).all() and (inner[1] <= outer[1]).all())
