"""Contacts of nodes with a half space: the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...coordinates.prescribed import OverTime, Still
from ...state import Index, Vec


@dataclass(frozen=True)
class Contacts:
    """A table of pairs, one row a contact."""

    nodes: Index  #: (k,)
    normal: Vec  #: unit, away from the obstacle, (k, 3)
    gap: Vec  #: signed distance [m], (k,), negative inside


class HalfSpace:
    """A plane whose back is solid."""

    def __init__(self, point: Vec, normal: Vec, motion: OverTime | None = None) -> None:
        """point: (3,) [m], or its `motion`. normal: (3,), not zero, points out of the ground."""
        self._point = Still(point) if motion is None else motion
        self._normal = np.asarray(normal, dtype=float) / np.linalg.norm(normal)

    def find(self, x: Vec, time: float) -> Contacts:
        """Nodes of x, (n, 3) [m], that are inside at `time` [s]."""
        gap = (x - self._point.at(time)) @ self._normal
        nodes = np.flatnonzero(gap < 0.0).astype(np.int32)
        normal = np.empty((len(nodes), 3))
        normal[:] = self._normal
        return Contacts(nodes, normal, gap[nodes])

    def plane(self, time: float) -> tuple[Vec, float]:
        """(n, d) at `time` [s]: solid where n · x ≤ d; n unit, (3,), d [m]."""
        return self._normal, float(self._point.at(time) @ self._normal)

    def point(self, time: float) -> Vec:
        """Of the plane, which goes along with it, at `time` [s], (3,) [m]."""
        return self._point.at(time)

    def velocity(self, time: float) -> Vec:
        """Of the plane and all that is solid behind it at `time` [s], (3,) [m/s]."""
        return self._point.velocity(time)
