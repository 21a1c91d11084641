"""Kerf of a cut: with contact, both sides of a cut start at a small distance.

Sides that coincide would intersect as soon as anything moves.
"""

from __future__ import annotations

import numpy as np

from ..contact.find.mesh import Surfaces
from ..meshing.volume import FACES, boundary_faces
from ..state import Index, Vec

ROUNDS = 64  #: of a search for the way into a corner of many faces
SHARES = (1.0, 0.5, 0.25, 0.1)  #: of the width that are tried
FARTHEST = 2.0  #: of half a width: into corners so narrow that a node would have to go farther, it does not go on


def opened(x: Vec, tets: Index, source: Index, apart: Index, width: float) -> Vec:
    """Nodes (n, 3) [m] of a body that came apart, with those of a cut drawn back into their own side by half a width.

    tets: (e, 4). source: which node each was before, (n,). apart: rows in `tet_faces` of faces that came apart, (k, 2).
    width: [m]. Where a cut ends inside, its last nodes belong to both sides and stay.
    """
    sides = tets[apart.ravel() // 4][np.arange(2 * len(apart))[:, None], FACES[apart.ravel() % 4]]
    whole = (np.sort(sides[0::2], axis=1) == np.sort(sides[1::2], axis=1)).all(axis=1)
    back = np.zeros(len(x), dtype=bool)
    back[sides[np.repeat(~whole, 2)]] = True
    back &= np.bincount(source)[source] > 1
    nodes = np.flatnonzero(back)
    if not len(nodes):
        return x
    skin = boundary_faces(tets)[0]
    # away from all of the skin around it, of which the cut is a part now: none of it may come nearer to other sides
    way = _into(_normals(x, skin, nodes))
    length = np.linalg.norm(way, axis=1, keepdims=True)
    out = x.copy()
    out[nodes] -= 0.5 * width * way / length * np.minimum(1.0 / length, FARTHEST)
    return out


def opened_if_clear(x: Vec, tets: Index, source: Index, apart: Index, width: float) -> Vec:
    """Return `opened` of a body that has moved: with a smaller width where it would intersect itself."""
    skin = boundary_faces(tets)[0]
    surfaces = Surfaces(x, skin, np.full(len(x), -1))
    for share in SHARES:
        there = opened(x, tets, source, apart, share * width)
        if surfaces.crossing(there) is None:
            break
    return there


def _normals(x: Vec, faces: Index, nodes: Index) -> Vec:
    """Unit normals of the faces (f, 3) around each of some nodes (k,), ascending, (k, c, 3); those of nodes with fewer
    are filled up with their first."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    of_corner, corner = np.repeat(np.arange(len(faces)), 3), faces.ravel()
    near = np.isin(corner, nodes)
    of_corner, corner = of_corner[near], corner[near]
    order = np.argsort(corner, kind="stable")
    _, first, count = np.unique(corner[order], return_index=True, return_counts=True)
    sorted_normals = normal[of_corner[order]]
    around = np.repeat(sorted_normals[first][:, None], count.max(), axis=1)
    around[np.repeat(np.arange(len(nodes)), count), np.arange(len(corner)) - np.repeat(first, count)] = sorted_normals
    return around


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
