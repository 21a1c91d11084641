"""Changes of edges in a step, which measure whether the step is too long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..assembly.edges import Edges
from ..state import Index, Vec

NONE = np.zeros(0, dtype=np.int32)


class EdgeChanges:
    """Edges of tetrahedra and of cloth, with measures of their changes in a step."""

    most = 0.99  #: fraction of the edges of a body in contact that is examined, those that a step changes least

    def __init__(self, tets: Index, rest: Vec, body: Index) -> None:
        """tets: elements, (e, 4). rest: positions, (n, 3) [m]. body: number of each node's body, (n,)."""
        triangles = tets[tets[:, 2] == tets[:, 3]]  # which have their last node twice; hinges do not
        is_cloth = np.zeros(len(rest), dtype=bool)
        is_cloth[triangles] = True
        self._volumes, self._cloth = Edges(tets[~is_cloth[tets[:, 0]]], rest), Edges(triangles, rest)
        self._of_nodes, self._body = body, body[self._volumes.first]

    def largest(self, start: Vec, end: Vec, moved: Vec, pairs: Sequence[Index]) -> float:
        """Return the largest change of an edge in a step, relative to its length.

        Of cloth it is the change of length; of other bodies that of the edge vector, with rotation, by velocities or by
        displacement, whichever is less. start, end: positions, (n, 3) [m]. moved: displacement at the velocities of
        the step's end, (n, 3) [m]. pairs: nodes in contact, (k,) each: the hundredth of the edges of their bodies that
        changes most is left out, as some small compressed tetrahedra rotate briefly in a step of any length.
        """
        in_contact = np.unique(self._of_nodes[np.concatenate(pairs)]) if pairs else NONE
        few = [np.flatnonzero(self._body == body) for body in in_contact]
        others = np.flatnonzero(~np.isin(self._body, in_contact))
        along = min(self._volumes.change_of_most(displacement, few, others, self.most) if len(in_contact) else
                    self._volumes.largest_change(displacement) for displacement in (moved, end - start))
        return max(along, self._cloth.largest_stretch(start, end))
