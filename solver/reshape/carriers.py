"""Which tetrahedron carries a point next to a cut: the nearest on its own side."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..embedding.bind import barycentric
from ..meshing.closest import triangle_distances
from ..meshing.volume import FACES
from ..state import Index, Mask, Vec
from .cuts.interface import Cut, Shape

NEAR = 32  # tetrahedra to look at for each point
REACH = 3.0  # of a tetrahedron's radius: one that is farther away carries nothing
INSIDE = -1.0e-9
CHUNK = 4_000


class Carriers:
    """The tetrahedra of a body at the moment of a cut, each wholly on one side of it."""

    def __init__(self, shape: Shape, cut: Cut, moved: Mask) -> None:
        """moved: tetrahedra that go with the other side than their middle, (e,)."""
        self._shape, self._cut, self._moved = shape, cut, moved
        self._corners = shape.x[shape.tets]
        self._radius = np.linalg.norm(self._corners - shape.centres[:, None], axis=2).max(axis=1)
        self._tree = cKDTree(shape.centres)

    def crossed(self, tet: Index, points: Vec) -> Mask:
        """Whether points (k, 3) [m] and tetrahedra (k,) are on different sides of the cut."""
        crossed: Mask = ~np.isnan(self._cut.crossings(self._shape.centres[tet], points)) != self._moved[tet]
        return crossed

    def find(self, points: Vec, eyes: Vec, group_of_tet: Index, group: Index) -> Index:
        """The nearest tetrahedron of each point's group on its eye's side of the cut, (k,), or −1.

        points, eyes: (k, 3) [m], an eye a little off the cut on the side that the point belongs to. group_of_tet:
        (e,), group: (k,).
        """
        found = np.full(len(points), -1, dtype=np.int32)
        for start in range(0, len(points), CHUNK):
            rows = slice(start, min(start + CHUNK, len(points)))
            found[rows] = self._nearest(points[rows], eyes[rows], group_of_tet, group[rows])
        return found

    def _nearest(self, points: Vec, eyes: Vec, group_of_tet: Index, group: Index) -> Index:
        count = min(NEAR, len(self._shape.tets))
        away, tets = self._tree.query(points, np.arange(1, count + 1))
        usable = (group_of_tet[tets] == group[:, None]) & (away <= REACH * self._radius[tets])
        row, column = np.nonzero(usable)
        seen = ~self.crossed(tets[row, column], eyes[row])
        row, column = row[seen], column[seen]
        corners = self._corners[tets[row, column]]
        gap = triangle_distances(points[row, None], corners[:, FACES]).min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap[barycentric(points[row], corners).min(axis=1) >= INSIDE] = 0.0
        distance = np.full(tets.shape, np.inf)
        distance[row, column] = gap
        best = distance.argmin(axis=1)
        everyone = np.arange(len(points))
        chosen: Index = np.where(np.isinf(distance[everyone, best]), -1, tets[everyone, best]).astype(np.int32)
        return chosen
