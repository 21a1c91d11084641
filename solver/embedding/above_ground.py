"""Correction of drawn vertices that the nodes around them carry into the ground: they are drawn on it."""

from __future__ import annotations

import numpy as np

from ..contact.find.ground import Ground
from ..state import Index, Vec

BELOW = 1.0e-5  #: how far below the ground vertices are drawn at most [m], of all bodies, so layers keep their order


class AboveGround:
    """Correction that draws vertices on the ground, or as deep in it as they start, and preserves the order of those
    below it."""

    def __init__(self, ground: Ground, start: Vec, prescribed: Index, frame: float) -> None:
        """start: positions of the vertices at the start [m], (n, 3). prescribed: vertices that are drawn where they are
        prescribed, in the ground or not. frame: duration of a frame [s]."""
        self._ground, self._frame = ground, frame
        self._placed = np.minimum(ground.gaps(start, 0.0), 0.0)
        self._placed[prescribed] = -np.inf

    def apply(self, points: Vec, frame: int) -> Vec:
        """Return the corrected vertices (v, 3) [m] at the frame-th frame, counted from 0. points: (v, 3) [m]; vertices
        that a cut has added are last.

        A depth d beyond that at the start becomes b d / (b + d), with b the depth that may be seen: it grows with d, so
        layers of bodies are still in order, and vertices above the ground do not move.
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
