"""A Verlet list: pairs of a surface's primitives that were near each other, for searches at nearby positions.

Built once with a skin, it is valid for all positions of nodes within that skin. Results are those of a new search,
whenever it was built: pairs are filtered by their true distance, and those of nodes outside the skin are searched
again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import threads
from ...state import Index, Mask, Vec
from .near_kernels import LEFT, may_touch, merge_pairs, still_near, ways

SAFE = 1.0 + 1.0e-9  #: rounding of distances, many times
FEW = 256  #: pairs that are not worth a second thread
LEFT_OVER = (1.0 - LEFT) / SAFE  #: of its distance: by less no pair comes near enough to count as meeting


@dataclass(frozen=True)
class Neighbours:
    """All pairs that were within a distance of each other; numbers among a surface's nodes."""

    places: Vec  #: where nodes were then, (s, 3) [m]
    distance: float  #: [m]
    pairs: Index  #: a point and a triangle, or two ends of an edge and two of another one, (k, 4)
    points: int  #: that many pairs of a point and a triangle stand first
    keys: Index  #: a number of each pair's own, which rises among those of each kind, (k,)
    distances: Vec  #: how far from each other they were, (k,) [m]

    def moved(self, here: Vec) -> tuple[Vec, Vec]:
        """How far nodes at places (s, 3) are from where they were, (s,) [m], or from there and on by one way for all,
        where squares of that are less: what all go alike changes no pair. And that way, (3,) [m]."""
        moved, together = np.empty(len(here)), np.empty(3)
        ways(here, self.places, together, moved)
        return moved, together

    def outside(self, moved: Vec, distance: float) -> Mask:
        """Nodes, (s,), without which no pair that is not listed can have come within a distance [m]."""
        far: Mask = moved * SAFE > 0.5 * (self.distance - distance)
        return far

    def after(self, places: Vec, outside: Mask, pairs: Index, points: int, keys: Index, square: Vec) -> Neighbours:
        """Return a list where some nodes, (s,), are at other positions, with all pairs of these there: `points` of a
        point and a triangle first, a number of each, and squared distances [m²]."""
        most = len(self.pairs) + len(pairs)
        both: tuple[Index, Index, Vec] = (np.empty((most, 4), np.int32), np.empty_like(self.keys, shape=most),
                                          np.empty(most))
        old, new = (self.pairs, self.keys, self.distances), (pairs, keys, np.sqrt(square))
        of_points = int(merge_pairs(outside, *old, 0, self.points, *new, 0, points, *both, 0))
        count = int(merge_pairs(outside, *old, self.points, len(self.pairs), *new, points, len(pairs), *both,
                                of_points))
        return Neighbours(places, self.distance, both[0][:count], of_points, both[1][:count], both[2][:count])

    def near(self, here: Vec, moved: Vec, distance: float) -> tuple[Index, Vec]:
        """Return which listed pairs are within a distance [m] at positions (s, 3), (m,), and the squared distances of
        all, (k,), infinite where that is more."""
        square = np.empty(len(self.pairs))
        count = len(square)
        arguments = here, moved * SAFE, self.pairs, self.points, self.distances, distance, square
        if count <= FEW:
            still_near(0, count, *arguments)
        else:
            threads.parallel_for(still_near, count, *arguments)
        return np.flatnonzero(square < np.inf), square

    def may_touch(self, moved: Vec, way: Vec) -> tuple[Index, Mask]:
        """Return which listed pairs may touch along displacements of these lengths (s,) [m], (m,), none with a node
        outside the skin; and these nodes, (s,), whose pairs may be missing. moved: distances of nodes from where they
        were, (s,) [m].

        Two sides that keep .9 of their distance are not candidates, see `meeting_times`.
        """
        range_of = (moved + way / LEFT_OVER) * SAFE
        outside = range_of > 0.5 * self.distance
        may = np.empty(len(self.pairs), dtype=bool)
        threads.parallel_for(may_touch, len(may), np.where(outside, np.inf, range_of), self.pairs, self.points,
                             self.distances, may)
        return np.flatnonzero(may), outside


def lengths(vectors: Vec) -> Vec:
    """Return lengths of rows (n, 3), (n,)."""
    length: Vec = np.sqrt(np.einsum("ni,ni->n", vectors, vectors))
    return length
