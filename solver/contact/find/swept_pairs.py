"""Candidate pairs along displacements, and a search that reuses those of the search before it.

Admissible displacements of embedded vertices are found in rounds that begin at the same positions, and each round
shortens the displacements of some nodes. Where rounds do not suffice, and in line searches, one more search follows
with a single fraction for all. Only pairs of nodes that move otherwise than in the last search have to be found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...state import Index, Mask, Vec

MOST_AGAIN = 0.5  #: fraction of the nodes outside the skin above which all of these are searched again


@dataclass(frozen=True)
class SweptPairs:
    """Pairs that may touch on straight displacements and have a node outside the skin of a list."""

    before: Vec  #: positions at the start, (s, 3) [m]
    after: Vec  #: and at the end, (s, 3) [m]
    outside: Mask  #: nodes outside the skin, (s,)
    pairs: Index  #: (k, 4)
    points: int  #: number of pairs of a point and a triangle, which come first

    def find_nodes_to_search(self, after: Vec, outside: Mask) -> Mask | None:
        """Return the nodes whose pairs are not known for displacements to other positions, (s,).

        These are nodes that move otherwise, and those that are outside the skin only now. None where they are so many
        that a search of all costs less. after: positions at the end, (s, 3) [m]. outside: nodes outside the skin, (s,).
        """
        again: Mask = (after != self.after).any(axis=1) | (outside & ~self.outside)
        return None if np.count_nonzero(again) > MOST_AGAIN * np.count_nonzero(outside) else again

    def without(self, nodes: Mask) -> tuple[Index, int]:
        """Return the pairs with none of some nodes, (m, 4), and the number of those of a point and a triangle.

        nodes: (s,).
        """
        others = ~nodes[self.pairs].any(axis=1)
        return self.pairs[others], int(np.count_nonzero(others[: self.points]))


def find_swept_pairs(last: SweptPairs | None, before: Vec, after: Vec, outside: Mask,
                     search: Callable[[Vec, Vec, Mask], tuple[Index, int]]) -> SweptPairs:
    """Return the pairs that may touch on straight displacements and have a node outside the skin of a list.

    last: pairs of the search before this one, None without one. before, after: positions at the start and at the end,
    (s, 3) [m]. outside: nodes outside the skin, (s,). search: returns pairs with one of some nodes, (k, 4), and the
    number of those of a point and a triangle, which come first.
    """
    again = (None if last is None or not np.array_equal(last.before, before)
             else last.find_nodes_to_search(after, outside))
    if last is None or again is None:
        return SweptPairs(before, after, outside, *search(before, after, outside))
    unchanged, points = last.without(again)
    more, points_more = search(before, after, again) if again.any() else (unchanged[:0], 0)
    both = np.concatenate([unchanged[:points], more[:points_more], unchanged[points:], more[points_more:]])
    has_outside = outside[both].any(axis=1)  # a list has all other pairs
    return SweptPairs(before, after, outside, both[has_outside],
                      int(np.count_nonzero(has_outside[: points + points_more])))
