"""Distance constraint: two points stay at a distance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.prescribed import Constant, OverTime
from ...errors import BadScene
from ...state import Vec
from .ends import TiedEnd
from .rows import PointRows

SHORT = 1.0e-9  #: of the size of all: points that are nearer have no direction


class Distance:
    """Distance constraint φ = |y| − L: as rods, or as strings that may be slack where `at_most`.
    [Notes, Penalty Forces]"""

    joints = 1

    def __init__(self, one: TiedEnd, other: TiedEnd, rest: Vec, params: Mapping[str, float],
                 length: OverTime | None) -> None:
        """params: `at_most`, whether the points may be nearer. length: L over time [m], (1,); None: the distance at
        positions `rest`, (n, 3) [m]. Raises BadScene where that is 0."""
        self._nodes = np.concatenate([one.nodes[:1], other.nodes[:1]], axis=1)
        self._weights = np.concatenate([one.weights[:1], -other.weights[:1]], axis=1)
        self._first = one.nodes.shape[1]
        self._one_sided = np.array([bool(params["at_most"])])
        away = float(np.linalg.norm(self._weights[0] @ rest[self._nodes[0]]))
        if not away > SHORT * float(np.ptp(rest, axis=0).max()):
            raise BadScene(f'its points on "{one.name}" and "{other.name}" are one and the same, so they have no '
                           "distance to keep", "Move them apart, or make it a Ball or a Hinge")
        self._length = Constant(np.array([away])) if length is None else length

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return one row at positions (n, 3) [m] and a time [s]."""
        y = self._weights[0] @ x[self._nodes[0]]
        size = max(float(np.linalg.norm(y)), 1e-300)
        return PointRows(self._nodes, self._weights, self._first, np.zeros(1, np.int32),
                         size - self._length.at(time).reshape(1), (y / size)[None], np.array([1.0 / size]),
                         self._one_sided)
