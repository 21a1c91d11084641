"""Boxes around bodies along the world's axes, and what they sweep.

Needs only numpy: records of frames are read without the solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec

ARC = 0.25  #: of a move: how far from a straight line what turns may go between two ends of steps


@dataclass(frozen=True)
class Boxes:
    """Boxes of bodies: soft ones, and rigid bodies, which all have the last token."""

    token: Index  #: (b,)
    low: Vec  #: corners [m], (b, 3)
    high: Vec

    def swept(self, other: Boxes) -> Boxes:
        """Return those that hold these bodies here, there and between."""
        both = self.around(other)
        arc = ARC * np.maximum(np.abs(self.low - other.low), np.abs(self.high - other.high)).max(axis=1, initial=0.0)
        return Boxes(self.token, both.low - arc[:, None], both.high + arc[:, None])

    def around(self, other: Boxes) -> Boxes:
        """Return those that hold these boxes and others of the same bodies."""
        return Boxes(self.token, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def and_those(self, other: Boxes) -> Boxes:
        """Return these boxes and others, in the order of their tokens."""
        token = np.concatenate([self.token, other.token])
        order = np.argsort(token, kind="stable")
        return Boxes(token[order], np.concatenate([self.low, other.low])[order],
                     np.concatenate([self.high, other.high])[order])
