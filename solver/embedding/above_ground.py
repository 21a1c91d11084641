"""Vertices that the nodes around them carry into the ground are drawn on it: a plane has a side, so that is exact."""

from __future__ import annotations

import numpy as np

from ..contact.find.ground import Ground
from ..state import Index, Vec

BELOW = 1.0e-5  #: how far below the ground vertices are drawn at most [m], of all bodies, so layers keep their order


class AboveGround:
    """Draws vertices at the ground, or as deep in it as they were placed, and keeps the order of those below it."""

    def __init__(self, ground: Ground, start: Vec, prescribed: Index, frame: float) -> None:
        """start: places of the vertices at the start [m], (n, 3). prescribed: vertices that are drawn where they are
        prescribed, in the ground or not. frame: how long one is [s]."""
        self._ground, self._frame = ground, frame
        self._placed = np.minimum(ground.gaps(start, 0.0), 0.0)
        self._placed[prescribed] = -np.inf

    def apply(self, points: Vec, frame: int) -> Vec:
        """Return vertices (v, 3) [m] at the frame-th frame, counted from 0; those that a cut has added come last.

        A depth d beyond that at the start becomes b d / (b + d), b what may be seen below the ground: it grows with d,
        so what lay on other bodies lies on them still, and what is above the ground is not moved.
        """
        placed = np.zeros(len(points))
        known = min(len(points), len(self._placed))
        placed[:known] = self._placed[:known]
        depth = placed - self._ground.gaps(points, frame * self._frame)
        low = np.flatnonzero((depth > 0.0) & np.isfinite(depth))
        if not len(low):
            return points
        deep, moved = depth[low], points.copy()
        moved[low] += (deep - BELOW * deep / (BELOW + deep))[:, None] * self._ground.normal
        return moved
