"""How much a step changes edges: the measure of one that is too long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..assembly.edges import Edges
from ..state import Index, Vec

NONE = np.zeros(0, dtype=np.int32)


class EdgeChanges:
    """Edges of elements with a volume, and of cloth."""

    most = 0.99  #: fraction of the edges of a body in contact that is examined, those that a step changes least

    def __init__(self, tets: Index, rest: Vec, body: Index) -> None:
        """tets: (e, 4). rest: (n, 3) [m]. body: the number of each node's body, (n,)."""
        triangles = tets[tets[:, 2] == tets[:, 3]]  # which have their last node twice; hinges do not
        is_cloth = np.zeros(len(rest), dtype=bool)
        is_cloth[triangles] = True
        self._volumes, self._cloth = Edges(tets[~is_cloth[tets[:, 0]]], rest), Edges(triangles, rest)
        self._of_nodes, self._body = body, body[self._volumes.first]

    def largest(self, start: Vec, end: Vec, moved: Vec, pairs: Sequence[Index]) -> float:
        """Return the largest change of an edge in a step, as a fraction of its length: of cloth by how much longer or
        shorter it is, of all else with its rotation, by the velocities, or by the displacement where that is less.

        start, end: positions, (n, 3) [m]. moved: the displacement at the velocities of the step's end, (n, 3) [m].
        pairs: nodes in contact, (k,) each: of their bodies the hundredth of the edges that changes most is left out, as
        some small tetrahedra that are pressed rotate for a moment in however short a step.
        """
        in_contact = np.unique(self._of_nodes[np.concatenate(pairs)]) if pairs else NONE
        few = [np.flatnonzero(self._body == body) for body in in_contact]
        others = np.flatnonzero(~np.isin(self._body, in_contact))
        along = min(self._volumes.change_of_most(way, few, others, self.most) if len(in_contact) else
                    self._volumes.largest_change(way) for way in (moved, end - start))
        return max(along, self._cloth.largest_stretch(start, end))
