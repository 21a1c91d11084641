"""Axis-aligned boxes around bodies, and the volumes that they sweep.

Needs only numpy: records of frames are read without the solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec

ARC = 0.25  #: of a displacement: largest distance of a rotating body from a straight path between two ends of steps


@dataclass(frozen=True)
class Boxes:
    """Axis-aligned boxes of bodies. A token is the number of a soft body; all rigid bodies have the last token."""

    token: Index  #: (b,)
    low: Vec  #: corners [m], (b, 3)
    high: Vec

    def sweep_to(self, other: Boxes) -> Boxes:
        """Return boxes that contain the bodies of these boxes during a motion to other boxes of the same bodies.

        A margin of ARC times the displacement allows for curved paths.
        """
        both = self.around(other)
        arc = ARC * np.maximum(np.abs(self.low - other.low), np.abs(self.high - other.high)).max(axis=1, initial=0.0)
        return Boxes(self.token, both.low - arc[:, None], both.high + arc[:, None])

    def around(self, other: Boxes) -> Boxes:
        """Return the unions of these boxes with other boxes of the same bodies."""
        return Boxes(self.token, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def and_those(self, other: Boxes) -> Boxes:
        """Return all boxes of both operands, in the order of their tokens."""
        token = np.concatenate([self.token, other.token])
        order = np.argsort(token, kind="stable")
        return Boxes(token[order], np.concatenate([self.low, other.low])[order],
                     np.concatenate([self.high, other.high])[order])
