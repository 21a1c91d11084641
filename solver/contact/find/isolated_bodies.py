"""Isolated bodies, whose common motion changes no pair, and bodies that do not collide with themselves.

Ten bodies that fall side by side move further than any list of near pairs is valid for; relative to its own mean each
body hardly moves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...state import Index, Mask, Vec
from ...threads import parallel_for
from .isolated_bodies_kernels import body_boxes, mark_near_others, measure_own_displacements


class IsolatedBodies:
    """The bodies of a surface, with a test of which are isolated: far from all bodies with which they collide."""

    def __init__(self, owner: Index, collide: Mask | None, triangles: Index) -> None:
        """owner: body of each node, (s,). collide: whether two bodies collide, (k, k); None for all. triangles: numbers
        of nodes, (t, 3)."""
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

    def find_isolated_nodes(self, before: Vec, after: Vec, distance: float, fraction: float) -> Mask:
        """Return which nodes, (s,), are of a body with no other colliding body near it on straight displacements.

        before, after: positions, (s, 3) [m]. Bodies are near within `distance` [m] plus `fraction` times the longest
        displacement of both.
        """
        count = len(self._collide)
        box, more, near = np.empty((count, 6)), np.empty(count), np.empty(count, dtype=bool)
        parallel_for(body_boxes, count, before, after, self._nodes, self._first, distance, fraction, box, more)
        size = (box[:, 3:] - box[:, :3]).sum(axis=1)
        near[:] = False
        parallel_for(mark_near_others, count, before, after, self._triangles, self._starts, self._collide, box, more,
                     size, near)
        isolated: Mask = ~near[self._of]
        return isolated

    def measure_own_displacements(self, before: Vec, after: Vec) -> tuple[Vec, Callable[[], Vec]]:
        """Return lengths of displacements relative to the common one of their body, (s,) [m], and a function that
        returns the common displacement for each node, (s, 3) [m].

        before, after: positions, (s, 3) [m]. The common displacement is zero where that does not reduce the sum of
        squares.
        """
        out, common = np.empty(len(before)), np.empty((len(self._collide), 3))
        parallel_for(measure_own_displacements, len(common), before, after, self._nodes, self._first, common, out)
        return out, lambda: common[self._of]


def with_groups_of_bodies(group: Index, owner: Index | None, collide: Mask | None) -> Index:
    """Return the group of each node, (s,), where each body that does not collide with itself is a group, too.

    Searches pass over the pairs of one group at once. group: of each node, −1 without one, (s,). owner: body of each
    node, (s,). collide: whether two bodies collide, or one with itself, (k, k). Without owner or collide there are no
    such bodies.
    """
    groups: Index = group.astype(np.int32)
    if owner is not None and collide is not None:
        is_one_group = (groups < 0) & ~np.diagonal(collide)[owner]
        groups[is_one_group] = int(groups.max(initial=-1)) + 2 + owner[is_one_group]
    return groups
