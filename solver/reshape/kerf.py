"""What a blade takes away: where surfaces touch, both sides of a cut stand a little apart at once.

Sides that lie on each other would cross as soon as anything moves.
"""

from __future__ import annotations

import numpy as np

from ..meshing.volume import FACES
from ..state import Index, Vec

ROUNDS = 64  #: of a search for the way into a corner of many faces
FARTHEST = 2.0  #: of half a width: into corners so narrow that a node would have to go farther, it does not go on


def opened(x: Vec, tets: Index, source: Index, apart: Index, width: float) -> Vec:
    """Nodes (n, 3) [m] of a body that came apart, with those of a cut drawn back into their own side by half a width.

    tets: (e, 4). source: which node each was before, (n,). apart: rows in `tet_faces` of faces that came apart, (k, 2).
    width: [m]. Where a cut ends inside, its last nodes belong to both sides and stay.
    """
    faces = tets[apart.ravel() // 4][np.arange(2 * len(apart))[:, None], FACES[apart.ravel() % 4]]
    whole = (np.sort(faces[0::2], axis=1) == np.sort(faces[1::2], axis=1)).all(axis=1)
    faces = faces[np.repeat(~whole, 2)]
    has_copy = np.bincount(source)[source] > 1
    a, b, c = (x[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)

    node, normal = faces.ravel(), np.repeat(normal, 3, axis=0)
    node, normal = node[has_copy[node]], normal[has_copy[node]]
    order = np.argsort(node, kind="stable")
    nodes, first, count = np.unique(node[order], return_index=True, return_counts=True)
    if not len(nodes):
        return x
    column = np.arange(len(node)) - np.repeat(first, count)
    # those of nodes with fewer faces are filled up with their first
    around = np.repeat(normal[order][first][:, None], count.max(), axis=1)
    around[np.repeat(np.arange(len(nodes)), count), column] = normal[order]
    way = _into(around)
    length = np.linalg.norm(way, axis=1, keepdims=True)
    out = x.copy()
    out[nodes] -= 0.5 * width * way / length * np.minimum(1.0 / length, FARTHEST)
    return out


def _into(normals: Vec) -> Vec:
    """The shortest vector in the hull of unit normals (k, c, 3), (k, 3): of all ways, it leaves the nearest of those
    planes fastest. Gilbert's search."""
    way = normals.mean(axis=1)
    every = np.arange(len(way))
    for _ in range(ROUNDS):
        along = np.einsum("kci,ki->kc", normals, way)
        towards = normals[every, along.argmin(axis=1)] - way
        size = np.einsum("ki,ki->k", towards, towards)
        share = -np.einsum("ki,ki->k", towards, way) / np.maximum(size, 1e-300)
        way = way + np.clip(share, 0.0, 1.0)[:, None] * towards
    shortest: Vec = np.where(np.linalg.norm(way, axis=1, keepdims=True) > 1e-6, way, normals[:, 0])
    return shortest
