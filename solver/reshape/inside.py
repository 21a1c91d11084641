"""Surface of a cut inside a body: its intersection with the tetrahedra, once for each side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..meshing.volume import EDGES
from ..state import Index, Vec

# polygon in which a cut separates corner 0, or corners 0 and 1, of a tetrahedron from the others: for each vertex the
# edge (corner on this side, corner on the other side), counter-clockwise as seen from the other side
ONE = ((0, 1), (0, 2), (0, 3))
TWO = ((0, 2), (0, 3), (1, 3), (1, 2))


@dataclass(frozen=True)
class Inside:
    """Surface of a cut. Each vertex is on an edge between two nodes and belongs to the side of the first."""

    nodes: Index  #: ends of the edge of each vertex, (s, 2)
    fractions: Vec  #: fraction from the first to the second node, (s,)
    triangles: Index  #: with normals away from their own side, (t, 3)


def cut_surface(tets: Index, ends: Index, fractions: Vec) -> Inside:
    """Return the surface of a cut inside tetrahedra, (e, 4), for both sides.

    ends: sorted edges between nodes, lower node first, (k, 2). fractions: along each edge, where the cut crosses
    it, (k,), NaN where it does not. Tetrahedra in which the cut ends, or which it crosses twice, are left out.
    """
    key = ends[:, 0].astype(np.int64) << 32 | ends[:, 1]
    sides = tets[:, EDGES].astype(np.int64)
    edge = np.searchsorted(key, sides.min(axis=2) << 32 | sides.max(axis=2))
    is_cut = ~np.isnan(fractions)[edge]
    polygons = []
    for single in range(4):
        others = [corner for corner in range(4) if corner != single]
        if single % 2:  # keeps the orientation of the tetrahedron
            others = [others[1], others[0], others[2]]
        polygons.append(_around(tets, is_cut, [single, *others], 1))
    polygons += [_around(tets, is_cut, pair, 2) for pair in ([0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2])]
    ends_of_corner = np.concatenate(polygons)
    if not len(ends_of_corner):
        return Inside(np.zeros((0, 2), np.int32), np.zeros(0), np.zeros((0, 3), np.int32))
    # the polygon of this side, and that of the other side with reversed edges and orientation
    both = np.concatenate([ends_of_corner, ends_of_corner[:, ::-1, ::-1]]).reshape(-1, 2)
    nodes, corner = np.unique(both, axis=0, return_inverse=True)
    low, high = nodes.min(axis=1), nodes.max(axis=1)
    fraction = fractions[np.searchsorted(key, low << 32 | high)]
    fraction = np.where(nodes[:, 0] == low, fraction, 1.0 - fraction)
    return Inside(nodes.astype(np.int32), fraction, corner.reshape(-1, 3).astype(np.int32))


def _around(tets: Index, is_cut: np.ndarray, order: list[int], count: int) -> np.ndarray:
    """Return triangles in the tetrahedra whose first `count` corners of `order` the cut separates from the others.

    is_cut: whether each edge of each tetrahedron is crossed, (e, 6). Shape (t, 3, 2): nodes of the edge of each vertex.
    """
    first_side = order[:count]
    between = np.array([(a in first_side) != (b in first_side) for a, b in EDGES.tolist()])
    cut_tets = tets[(is_cut == between).all(axis=1)][:, order].astype(np.int64)
    polygon = cut_tets[:, np.array(ONE if count == 1 else TWO)]  # (t, corners, 2)
    triangles = [polygon[:, [0, i, i + 1]] for i in range(1, polygon.shape[1] - 1)]
    return np.concatenate(triangles)
