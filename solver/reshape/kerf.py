"""Kerf of a cut: where surfaces are in contact, both sides of a cut start at a small distance.

Sides that coincide would intersect as soon as anything moves.
"""

from __future__ import annotations

import numpy as np

from ..contact.find.mesh import Surfaces
from ..meshing.volume import FACES, boundary_faces
from ..state import Index, Vec

ROUNDS = 64  #: iterations of the search for the direction into a corner of many faces
FRACTIONS = (1.0, 0.5, 0.25, 0.1)  #: fractions of the width that are tried
FARTHEST = 2.0  #: of half a width: largest displacement of a node, which limits it in narrow corners


def open_kerf(x: Vec, tets: Index, source: Index, separated: Index, width: float) -> Vec:
    """Return the nodes of a separated body, (n, 3) [m], with those of a cut moved into their side by half a width.

    tets: (e, 4). source: node before the cut of each node, (n,). separated: rows in `tet_faces` of the separated faces,
    (k, 2). width: [m]. Where a cut ends inside the body, its last nodes belong to both sides and do not move.
    """
    sides = tets[separated.ravel() // 4][np.arange(2 * len(separated))[:, None], FACES[separated.ravel() % 4]]
    whole = (np.sort(sides[0::2], axis=1) == np.sort(sides[1::2], axis=1)).all(axis=1)
    back = np.zeros(len(x), dtype=bool)
    back[sides[np.repeat(~whole, 2)]] = True
    back &= np.bincount(source)[source] > 1
    nodes = np.flatnonzero(back)
    if not len(nodes):
        return x
    skin = boundary_faces(tets)[0]
    # away from all adjacent faces of the boundary, which includes the cut: none may approach the other sides
    direction = _into(_normals(x, skin, nodes))
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    out = x.copy()
    out[nodes] -= 0.5 * width * direction / length * np.minimum(1.0 / length, FARTHEST)
    return out


def open_kerf_if_clear(x: Vec, tets: Index, source: Index, separated: Index, width: float) -> Vec:
    """Return the nodes of a deformed body after `open_kerf`, (n, 3) [m], by less than its width where it intersects
    itself.

    Parameters as of `open_kerf`. The smallest fraction of the width is used even where the body intersects itself.
    """
    skin = boundary_faces(tets)[0]
    surfaces = Surfaces(x, skin, np.full(len(x), -1))
    for fraction in FRACTIONS:
        positions = open_kerf(x, tets, source, separated, fraction * width)
        if surfaces.intersection(positions) is None:
            break
    return positions


def _normals(x: Vec, faces: Index, nodes: Index) -> Vec:
    """Return the unit normals of the faces around each of some nodes, (k, c, 3).

    faces: (f, 3). nodes: ascending, (k,). Rows of nodes with fewer than c faces repeat their first normal.
    """
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
    """Return the shortest vector in the convex hull of each set of unit normals, (k, 3), by Gilbert's algorithm.

    Along this direction, the distance to the nearest of the planes with these normals, (k, c, 3), grows fastest.
    """
    direction = normals.mean(axis=1)
    every = np.arange(len(direction))
    for _ in range(ROUNDS):
        along = np.einsum("kci,ki->kc", normals, direction)
        towards = normals[every, along.argmin(axis=1)] - direction
        size = np.einsum("ki,ki->k", towards, towards)
        fraction = -np.einsum("ki,ki->k", towards, direction) / np.maximum(size, 1e-300)
        direction = direction + np.clip(fraction, 0.0, 1.0)[:, None] * towards
    shortest: Vec = np.where(np.linalg.norm(direction, axis=1, keepdims=True) > 1e-6, direction, normals[:, 0])
    return shortest
