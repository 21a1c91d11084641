"""Isolated bodies: their common motion changes no pair.

Ten bodies that fall side by side move further than any list of near pairs is valid for; each one relative to its own
mean hardly moves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...state import Index, Mask, Vec
from ...threads import parallel_for
from .isolated_bodies_kernels import body_boxes, near_others, own_ways


class IsolatedBodies:
    """Isolated bodies of a surface: of its bodies, nodes and triangles of each."""

    def __init__(self, owner: Index, collide: Mask | None, triangles: Index) -> None:
        """owner: of each node, (s,). collide: whether two of them do, (k, k); all do where left out. triangles:
        numbers of nodes, (t, 3)."""
        which, of = np.unique(owner, return_inverse=True)
        self._of = of.astype(np.int32)  #: (s,), a number among those that there are
        self._nodes = np.argsort(self._of, kind="stable").astype(np.int32)  #: body by body
        self._first = np.searchsorted(self._of[self._nodes], np.arange(len(which) + 1))  #: of each body among these
        every = np.ones((len(which), len(which)), dtype=bool)
        self._collide = every if collide is None else collide[np.ix_(which, which)]
        of_triangles = self._of[triangles[:, 0]]
        order = np.argsort(of_triangles, kind="stable")
        self._triangles = np.ascontiguousarray(triangles[order])
        self._starts = np.searchsorted(of_triangles[order], np.arange(len(which) + 1))  #: of each body among these

    def isolated(self, here: Vec, there: Vec, distance: float, share: float) -> Mask:
        """Which nodes, (s,), are of a body that has no other one within a distance [m], and a share of the longest way
        of both, on straight ways from places to others, (s, 3) [m] each."""
        count = len(self._collide)
        box, more, near = np.empty((count, 6)), np.empty(count), np.empty(count, dtype=bool)
        parallel_for(body_boxes, count, here, there, self._nodes, self._first, distance, share, box, more)
        size = (box[:, 3:] - box[:, :3]).sum(axis=1)
        near[:] = False
        parallel_for(near_others, count, here, there, self._triangles, self._starts, self._collide, box, more, size,
                     near)
        isolated: Mask = ~near[self._of]
        return isolated

    def own_ways(self, here: Vec, there: Vec) -> tuple[Vec, Callable[[], Vec]]:
        """Return lengths of displacements between positions, (s, 3) [m] each, less the mean of those of each body where
        that makes them less, (s,) [m]; and a function for that mean of each node's body, else zero, (s, 3) [m]."""
        out, together = np.empty(len(here)), np.empty((len(self._collide), 3))
        parallel_for(own_ways, len(together), here, there, self._nodes, self._first, together, out)
        return out, lambda: together[self._of]
