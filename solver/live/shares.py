"""How much of each tetrahedron lies inside of the mesh that it covers: cells at the surface stand out of it."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.normals import unit_normals
from ..meshing.volume import EDGES, unique_edges
from ..state import Index, Vec
from .skins import inside_of, middles

LEAST = 0.05  #: of a tetrahedron, that counts at least: with less it would have no stiffness to be solved with
SPACING = 0.5  #: of the longest edge, between points of the surface
STEPS = 4  #: parts of each edge in which points of a tetrahedron are counted


def share_inside(nodes: Vec, tets: Index, vertices: Vec, triangles: Index) -> Vec:
    """Return which share of each tetrahedron (e, 4) of nodes (n, 3) [m] is inside of a surface, (e,), 0.05 at least.

    vertices: (v, 3) [m]; triangles: (t, 3), their normals outwards.
    """
    ends = nodes[unique_edges(tets, EDGES)]
    longest = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
    points, face = middles(vertices, triangles, SPACING * longest)
    normals = unit_normals(vertices, triangles)[face]
    tree = cKDTree(points)
    corners = nodes[tets]
    middle = corners.mean(axis=1)
    away = tree.query(middle, distance_upper_bound=2.0 * longest)[0]
    # what the surface cannot reach is on the side of its middle
    reach = (1.0 - 1.0 / STEPS) * np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1) + SPACING * longest
    shares = np.ones(len(tets))
    whole, cut = np.flatnonzero((away >= reach) & (away < np.inf)), np.flatnonzero(away < reach)
    for some, weights in ((whole, np.full((1, 4), 0.25)), (cut, _lattice())):
        places = np.einsum("wc,eck->ewk", weights, corners[some]).reshape(-1, 3)
        inside = np.zeros(len(places), dtype=bool)
        inside[inside_of(tree, points, normals, places, 4.0 * longest)[0]] = True
        shares[some] = np.maximum(inside.reshape(len(some), len(weights)).mean(axis=1), LEAST)
    return shares


def _lattice() -> Vec:
    """Barycentric coordinates of points evenly inside of a tetrahedron, (w, 4)."""
    first = np.array([one for one in product(range(STEPS), repeat=3) if sum(one) < STEPS])
    corners = np.concatenate([first, STEPS - 1 - first.sum(axis=1, keepdims=True)], axis=1)
    weights: Vec = (corners + 0.25) / STEPS
    return weights
