"""Ball constraint: two points stay together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.prescribed import OverTime
from ...state import Vec
from .ends import TiedEnd
from .rows import Displacement, PointRows


class BallConstraint:
    """Ball constraint φ = y, three rows at each pair of points, φ″ = 0. Points that are apart at the start come
    together in a given time."""

    def __init__(self, one: TiedEnd, other: TiedEnd, rest: Vec, params: Mapping[str, float],
                 length: OverTime | None) -> None:
        """params: `closes`, the time in which the points come together [s]. rest: positions of all nodes at the start,
        (n, 3) [m]. length: unused."""
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
        """Return three rows for each pair of points at positions (n, 3) [m] and a time [s]."""
        y = np.einsum("mw,mwi->mi", self._weights, x[self._nodes]) - self.displacement.at(time)
        return PointRows(self._nodes, self._weights, self._first, self._joint, y.ravel(), self._axes, self._none,
                         self._none > 0.0)


class ClosingGap:
    """A displacement over time that decreases linearly to 0 in a given time, or at once."""

    def __init__(self, gap: Vec, closes: float) -> None:
        """gap: displacement at the start, (m, 3) [m]. closes: time at which it is 0 [s]."""
        self._gap, self._closes = gap, closes
        self.moves = bool(gap.any())
        self.jump = 0.0 if closes > 0.0 else float(np.abs(gap).max(initial=0.0))

    def at(self, time: float) -> Vec:
        """Return the displacement at a time [s], (m, 3) [m]."""
        return open_fraction(time, self._closes) * self._gap

    def velocity(self, time: float) -> Vec:
        """Return the rate of change of the displacement at a time [s], (m, 3) [m/s]."""
        return -self._gap / self._closes if 0.0 <= time < self._closes else np.zeros_like(self._gap)


def open_fraction(time: float, closes: float) -> float:
    """Return the fraction of an initial gap that is left at `time` if it closes linearly until `closes`, both in [s].
    """
    return max(1.0 - time / closes, 0.0) if closes > 0.0 else 0.0
