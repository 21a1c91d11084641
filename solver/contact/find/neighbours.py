"""A Verlet list: pairs of a surface's primitives that were near each other, for searches at nearby positions.

A list is built with a skin and valid for all positions of nodes within that skin. Results are those of a new search,
whenever the list was built: pairs are filtered by their true distance, and pairs of nodes outside the skin are searched
again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import threads
from ...state import Index, Mask, Vec
from .near_kernels import REMAINING, may_touch, measure_displacements, merge_pairs, squares_within

SAFE = 1.0 + 1.0e-9  #: factor that exceeds the rounding of distances many times
FEW = 256  #: pairs that are not worth a second thread
CLOSING = (1.0 - REMAINING) / SAFE  #: of a pair's distance: no pair whose distance decreases by less counts as touching


@dataclass(frozen=True)
class Neighbours:
    """A Verlet list of all pairs that were within a distance of each other, by numbers among a surface's nodes."""

    positions: Vec  #: positions of nodes when the list was built, (s, 3) [m]
    distance: float  #: [m]
    pairs: Index  #: a point and a triangle, or two ends of an edge and two of another one, (k, 4)
    points: int  #: number of pairs of a point and a triangle, which come first
    keys: Index  #: unique number of each pair, ascending among pairs of one kind, (k,)
    distances: Vec  #: of the pairs when the list was built, (k,) [m]

    def measure(self, positions: Vec) -> tuple[Vec, Vec]:
        """Return distances of nodes from the listed positions, (s,) [m], and their common displacement, (3,) [m].

        Distances are relative to the common displacement, which changes no pair; it is zero where it does not reduce
        the sum of squares. positions: positions of nodes, (s, 3) [m].
        """
        moved, common = np.empty(len(positions)), np.empty(3)
        measure_displacements(positions, self.positions, common, moved)
        return moved, common

    def outside(self, moved: Vec, distance: float) -> Mask:
        """Return which nodes, (s,), are outside the skin: pairs without one are listed if within `distance` [m].

        moved: distances from the listed positions, (s,) [m].
        """
        far: Mask = moved * SAFE > 0.5 * (self.distance - distance)
        return far

    def after(self, positions: Vec, outside: Mask, pairs: Index, points: int, keys: Index, square: Vec) -> Neighbours:
        """Return the list updated by a new search for some nodes.

        positions: new listed positions, (s, 3) [m]. outside: nodes that were searched, (s,). pairs, keys, square: all
        pairs with one of these nodes, (m, 4), the first `points` of a point and a triangle, their keys, (m,), and
        squared distances, (m,) [m²].
        """
        most = len(self.pairs) + len(pairs)
        both: tuple[Index, Index, Vec] = (np.empty((most, 4), np.int32), np.empty_like(self.keys, shape=most),
                                          np.empty(most))
        old, new = (self.pairs, self.keys, self.distances), (pairs, keys, np.sqrt(square))
        of_points = int(merge_pairs(outside, *old, 0, self.points, *new, 0, points, *both, 0))
        count = int(merge_pairs(outside, *old, self.points, len(self.pairs), *new, points, len(pairs), *both,
                                of_points))
        return Neighbours(positions, self.distance, both[0][:count], of_points, both[1][:count], both[2][:count])

    def select_near(self, positions: Vec, moved: Vec, distance: float) -> tuple[Index, Vec]:
        """Return which listed pairs are within `distance` [m], (m,), and squared distances, (k,) [m²], else infinite.

        positions: positions of nodes, (s, 3) [m]. moved: their distances from the listed positions, (s,) [m].
        """
        square = np.empty(len(self.pairs))
        count = len(square)
        arguments = positions, moved * SAFE, self.pairs, self.points, self.distances, distance, square
        if count <= FEW:
            squares_within(0, count, *arguments)
        else:
            threads.parallel_for(squares_within, count, *arguments)
        return np.flatnonzero(square < np.inf), square

    def may_touch(self, moved: Vec, length: Vec) -> tuple[Index, Mask]:
        """Return which listed pairs may touch along displacements of nodes, (m,), and which nodes leave the skin, (s,).

        Pairs of nodes that leave the skin are not returned and may be missing in the list. moved: distances of nodes
        from the listed positions, (s,) [m]. length: lengths of their displacements, (s,) [m]. Pairs that cannot lose
        1 − REMAINING of their distance are not candidates, see `impact_times`.
        """
        range_of = (moved + length / CLOSING) * SAFE
        outside = range_of > 0.5 * self.distance
        may = np.empty(len(self.pairs), dtype=bool)
        threads.parallel_for(may_touch, len(may), np.where(outside, np.inf, range_of), self.pairs, self.points,
                             self.distances, may)
        return np.flatnonzero(may), outside


def lengths(vectors: Vec) -> Vec:
    """Return the lengths of vectors (n, 3), (n,)."""
    length: Vec = np.sqrt(np.einsum("ni,ni->n", vectors, vectors))
    return length
