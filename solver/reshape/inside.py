"""The faces that a cut lays open: where it passes through the tetrahedra, once for each side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..meshing.volume import EDGES
from ..state import Index, Vec

# of a tetrahedron whose corner 0, or corners 0 and 1, lie apart from the rest: the polygon around them, its edges as
# (corner on this side, corner on the other side), counter-clockwise as seen from the other side
ONE = ((0, 1), (0, 2), (0, 3))
TWO = ((0, 2), (0, 3), (1, 3), (1, 2))


@dataclass(frozen=True)
class Inside:
    """Each vertex stands on an edge between two nodes and belongs to the side of the first."""

    nodes: Index  #: (s, 2)
    shares: Vec  #: how far along from the first to the second, (s,)
    triangles: Index  #: facing away from their own side, (t, 3)


def laid_open(tets: Index, ends: Index, shares: Vec) -> Inside:
    """Return the surface of a cut inside of tetrahedra, (e, 4).

    ends: the edges between nodes, lower first, (k, 2), in order; shares: where along each it is crossed, NaN where it
    is not. Tetrahedra in which the cut ends, or which it crosses more than once, are left out.
    """
    key = ends[:, 0].astype(np.int64) << 32 | ends[:, 1]
    sides = tets[:, EDGES].astype(np.int64)
    edge = np.searchsorted(key, sides.min(axis=2) << 32 | sides.max(axis=2))
    met = ~np.isnan(shares)[edge]
    polygons = []
    for alone in range(4):
        others = [corner for corner in range(4) if corner != alone]
        if alone % 2:  # keeps the orientation of the tetrahedron
            others = [others[1], others[0], others[2]]
        polygons.append(_around(tets, met, [alone, *others], 1))
    polygons += [_around(tets, met, pair, 2) for pair in ([0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2])]
    ends_of_corner = np.concatenate(polygons)
    if not len(ends_of_corner):
        return Inside(np.zeros((0, 2), np.int32), np.zeros(0), np.zeros((0, 3), np.int32))
    # this side with the polygon as it is, the other with its edges turned round and the other way about
    both = np.concatenate([ends_of_corner, ends_of_corner[:, ::-1, ::-1]]).reshape(-1, 2)
    nodes, corner = np.unique(both, axis=0, return_inverse=True)
    low, high = nodes.min(axis=1), nodes.max(axis=1)
    share = shares[np.searchsorted(key, low << 32 | high)]
    share = np.where(nodes[:, 0] == low, share, 1.0 - share)
    return Inside(nodes.astype(np.int32), share, corner.reshape(-1, 3).astype(np.int32))


def _around(tets: Index, met: np.ndarray, order: list[int], count: int) -> np.ndarray:
    """Triangles around the first `count` corners of `order` in the tetrahedra that are cut just there, (t, 3, 2)."""
    mine = order[:count]
    between = np.array([(a in mine) != (b in mine) for a, b in EDGES.tolist()])
    here = tets[(met == between).all(axis=1)][:, order].astype(np.int64)
    polygon = here[:, np.array(ONE if count == 1 else TWO)]  # (t, corners, 2)
    triangles = [polygon[:, [0, i, i + 1]] for i in range(1, polygon.shape[1] - 1)]
    return np.concatenate(triangles)
