"""Bodies that are apart from all others: what they do together changes no pair.

Ten bodies that fall side by side move by more than any list of near pairs serves; each by itself hardly changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...state import Index, Mask, Vec
from ...threads import parallel_for
from .lonely_kernels import body_boxes, near_others, own_ways


class LonelyBodies:
    """Those of a surface that are apart from all others: of its bodies, nodes and triangles of each."""

    def __init__(self, owner: Index, meets: Mask | None, triangles: Index) -> None:
        """owner: of each node, (s,). meets: whether two of them touch each other, (k, k); all do where left out.
        triangles: numbers of nodes, (t, 3)."""
        which, of = np.unique(owner, return_inverse=True)
        self._of = of.astype(np.int32)  #: (s,), a number among those that there are
        self._nodes = np.argsort(self._of, kind="stable").astype(np.int32)  #: body by body
        self._first = np.searchsorted(self._of[self._nodes], np.arange(len(which) + 1))  #: of each body among these
        self._meets = np.ones((len(which), len(which)), dtype=bool) if meets is None else meets[np.ix_(which, which)]
        of_triangles = self._of[triangles[:, 0]]
        order = np.argsort(of_triangles, kind="stable")
        self._triangles = np.ascontiguousarray(triangles[order])
        self._starts = np.searchsorted(of_triangles[order], np.arange(len(which) + 1))  #: of each body among these

    def lonely(self, here: Vec, there: Vec, distance: float, share: float) -> Mask:
        """Which nodes, (s,), are of a body that has no other one within a distance [m], and a share of the longest way
        of both, on straight ways from places to others, (s, 3) [m] each."""
        count = len(self._meets)
        box, more, near = np.empty((count, 6)), np.empty(count), np.empty(count, dtype=bool)
        parallel_for(body_boxes, count, here, there, self._nodes, self._first, distance, share, box, more)
        size = (box[:, 3:] - box[:, :3]).sum(axis=1)
        near[:] = False
        parallel_for(near_others, count, here, there, self._triangles, self._starts, self._meets, box, more, size, near)
        lonely: Mask = ~near[self._of]
        return lonely

    def own_ways(self, here: Vec, there: Vec) -> tuple[Vec, Callable[[], Vec]]:
        """Lengths of ways between places, (s, 3) [m] each, less the middle of those of each body where that makes them
        less, (s,) [m]; and what gives that middle of each node's body, else zero, (s, 3) [m]."""
        out, together = np.empty(len(here)), np.empty((len(self._meets), 3))
        parallel_for(own_ways, len(together), here, there, self._nodes, self._first, together, out)
        return out, lambda: together[self._of]
