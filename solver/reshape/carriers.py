"""Search for the tetrahedron that carries a point next to a cut: the nearest on the same side."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..embedding.bind import barycentric
from ..meshing.closest import triangle_distances
from ..meshing.volume import FACES
from ..state import Index, Mask, Vec
from .cuts.interface import Cut, Shape

NEAR = 32  #: number of tetrahedra that are tried for each point
REACH = 3.0  #: of a tetrahedron's radius: farther points are not embedded in it
INSIDE = -1.0e-9  #: least barycentric weight of a point in a tetrahedron, but for rounding
CHUNK = 4_000


class Carriers:
    """Tetrahedra of a body at the moment of a cut, each assigned to one side of the cut."""

    def __init__(self, shape: Shape, cut: Cut, moved: Mask) -> None:
        """moved: whether each tetrahedron is assigned to the side opposite to its centroid, (e,)."""
        self._shape, self._cut, self._moved = shape, cut, moved
        self._corners = shape.x[shape.tets]
        self._radius = np.linalg.norm(self._corners - shape.centres[:, None], axis=2).max(axis=1)
        self._tree = cKDTree(shape.centres)

    def are_separated(self, tet: Index, points: Vec) -> Mask:
        """Return whether tetrahedra, (k,), and points, (k, 3) [m], are on different sides of the cut, (k,)."""
        separated: Mask = ~np.isnan(self._cut.intersections(self._shape.centres[tet], points)) != self._moved[tet]
        return separated

    def find(self, points: Vec, eyes: Vec, group_of_tet: Index, group: Index) -> Index:
        """Return the nearest tetrahedron of each point's group on the same side of the cut, (k,), or −1.

        points: (k, 3) [m]. eyes: points slightly off the cut on the side of each point, (k, 3) [m]. group_of_tet: group
        of each tetrahedron, (e,). group: group of each point, (k,).
        """
        nearest = np.full(len(points), -1, dtype=np.int32)
        for start in range(0, len(points), CHUNK):
            rows = slice(start, min(start + CHUNK, len(points)))
            nearest[rows] = self._nearest(points[rows], eyes[rows], group_of_tet, group[rows])
        return nearest

    def _nearest(self, points: Vec, eyes: Vec, group_of_tet: Index, group: Index) -> Index:
        """Return the nearest tetrahedron of the group of each point, (p,), that no cut separates from its eye; -1 for
        none. points, eyes: (p, 3) [m]. group_of_tet: (e,). group: of each point, (p,)."""
        count = min(NEAR, len(self._shape.tets))
        away, tets = self._tree.query(points, np.arange(1, count + 1))
        usable = (group_of_tet[tets] == group[:, None]) & (away <= REACH * self._radius[tets])
        row, column = np.nonzero(usable)
        seen = ~self.are_separated(tets[row, column], eyes[row])
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
