"""Fraction of each tetrahedron inside the mesh that cells cover: cells at the surface are partly outside."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.normals import unit_normals
from ..meshing.volume import EDGES, find_edges
from ..state import Index, Vec
from .skins import inside_of, middles

LEAST = 0.05  #: of a tetrahedron, that counts at least: with less it would have no stiffness to be solved with
SPACING = 0.5  #: of the longest edge, between points of the surface
STEPS = 4  #: parts of each edge in which points of a tetrahedron are counted


def fraction_inside(nodes: Vec, tets: Index, vertices: Vec, triangles: Index) -> Vec:
    """Return the fraction of the volume of each tetrahedron that is inside a surface, (e,), at least 0.05.

    nodes: (n, 3) [m]. tets: (e, 4). vertices: of the surface, (v, 3) [m]. triangles: (t, 3), with outward normals.
    """
    ends = nodes[find_edges(tets, EDGES)]
    longest = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
    points, face = middles(vertices, triangles, SPACING * longest)
    normals = unit_normals(vertices, triangles)[face]
    tree = cKDTree(points)
    corners = nodes[tets]
    middle = corners.mean(axis=1)
    away = tree.query(middle, distance_upper_bound=2.0 * longest)[0]
    # a tetrahedron that the surface does not intersect is on the side of its centroid
    reach = (1.0 - 1.0 / STEPS) * np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1) + SPACING * longest
    fractions = np.ones(len(tets))
    whole, cut = np.flatnonzero((away >= reach) & (away < np.inf)), np.flatnonzero(away < reach)
    for some, weights in ((whole, np.full((1, 4), 0.25)), (cut, _lattice())):
        positions = np.einsum("wc,eck->ewk", weights, corners[some]).reshape(-1, 3)
        inside = np.zeros(len(positions), dtype=bool)
        inside[inside_of(tree, points, normals, positions, 4.0 * longest)[0]] = True
        fractions[some] = np.maximum(inside.reshape(len(some), len(weights)).mean(axis=1), LEAST)
    return fractions


def _lattice() -> Vec:
    """Return barycentric coordinates of evenly spaced points inside a tetrahedron, (w, 4)."""
    first = np.array([cell for cell in product(range(STEPS), repeat=3) if sum(cell) < STEPS])
    corners = np.concatenate([first, STEPS - 1 - first.sum(axis=1, keepdims=True)], axis=1)
    weights: Vec = (corners + 0.25) / STEPS
    return weights
