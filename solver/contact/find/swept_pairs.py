"""Candidate pairs of one search along displacements, for the next search from the same positions.

The search for admissible displacements of embedded vertices goes in rounds, each of which shortens the displacements of
a few nodes, and ends with one fraction for all where rounds do not suffice. Line searches look at both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Mask, Vec

MOST_AGAIN = 0.5  #: fraction of the nodes that were searched last, above which all are searched again


@dataclass(frozen=True)
class SweptPairs:
    """Pairs that may touch on straight displacements and have a node outside the skin of a list."""

    before: Vec  #: positions at the start, (s, 3) [m]
    after: Vec  #: and at the end, (s, 3) [m]
    outside: Mask  #: nodes outside the skin, (s,)
    pairs: Index  #: (k, 4)
    points: int  #: number of pairs of a point and a triangle, which come first

    def searched_again(self, after: Vec, outside: Mask) -> Mask | None:
        """Return the nodes, (s,), whose pairs are not known for displacements to other positions, (s, 3) [m].

        These are nodes that move otherwise, and those that are outside the skin only now, outside (s,). None where they
        are so many that a new search of all costs less.
        """
        again: Mask = (after != self.after).any(axis=1) | (outside & ~self.outside)
        return None if np.count_nonzero(again) > MOST_AGAIN * np.count_nonzero(self.outside) else again

    def without(self, nodes: Mask) -> tuple[Index, int]:
        """Return the pairs with none of some nodes, (m, 4), and the number of those of a point and a triangle.

        nodes: (s,).
        """
        kept = ~nodes[self.pairs].any(axis=1)
        return self.pairs[kept], int(np.count_nonzero(kept[: self.points]))
