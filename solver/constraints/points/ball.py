"""Two points stay together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.prescribed import OverTime
from ...state import Vec
from .ends import TiedEnd
from .rows import Displacement, PointRows


class BallConstraint:
    """φ = y, three rows at each pair of points, φ″ = 0. What is apart at the start comes together in a time."""

    def __init__(self, one: TiedEnd, other: TiedEnd, rest: Vec, params: Mapping[str, float],
                 length: OverTime | None) -> None:
        """params: `closes` [s]. rest: where the points are apart at the start, of all nodes (n, 3) [m]. length: unused.
        """
        self.joints = len(one.nodes)
        self._nodes = np.concatenate([one.nodes, other.nodes], axis=1)
        self._weights = np.concatenate([one.weights, -other.weights], axis=1)
        self._first = one.nodes.shape[1]
        gap = np.einsum("mw,mwi->mi", self._weights, rest[self._nodes])
        self.displacement: Displacement = ClosingGap(gap, params["closes"])  #: y
        self._joint = np.repeat(np.arange(self.joints, dtype=np.int32), 3)
        self._axes = np.tile(np.eye(3), (self.joints, 1))
        self._none = np.zeros(3 * self.joints)

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return three rows for each joint at positions (n, 3) [m] and a time [s]."""
        y = np.einsum("mw,mwi->mi", self._weights, x[self._nodes]) - self.displacement.at(time)
        return PointRows(self._nodes, self._weights, self._first, self._joint, y.ravel(), self._axes, self._none,
                         self._none > 0.0)


class ClosingGap:
    """A displacement that goes to 0 evenly in a time, or at once."""

    def __init__(self, gap: Vec, closes: float) -> None:
        """gap: at the start [m], (m, 3). closes: the time [s]."""
        self._gap, self._closes = gap, closes
        self.moves = bool(gap.any())
        self.jump = 0.0 if closes > 0.0 else float(np.abs(gap).max(initial=0.0))

    def at(self, time: float) -> Vec:
        """Return it at a time [s], (m, 3) [m]."""
        return still_open(time, self._closes) * self._gap

    def velocity(self, time: float) -> Vec:
        """Return its rate of change at a time [s], (m, 3) [m/s]."""
        return -self._gap / self._closes if 0.0 <= time < self._closes else np.zeros_like(self._gap)


def still_open(time: float, closes: float) -> float:
    """Return the share of a gap at the start that is left at a time, both in [s]: it closes evenly."""
    return max(1.0 - time / closes, 0.0) if closes > 0.0 else 0.0
