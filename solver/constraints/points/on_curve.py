"""Curve constraint: a point slides along a curve."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.prescribed import OverTime
from ...state import Vec
from .ball import open_fraction
from .ends import TiedEnd, closest_segment
from .rows import PointRows, across


class OnCurve:
    """Constraint of a point to a curve: y across the nearest edge is 0, in two rows; a third is the distance of the
    point beyond an end or a corner.

    A bead on a string, a curtain ring on its rail: the point slides freely.
    """

    joints = 1

    def __init__(self, one: TiedEnd, other: TiedEnd, rest: Vec, params: Mapping[str, float],
                 length: OverTime | None) -> None:
        """params: `closes`, the time in which an initial gap closes [s]. length: unused. Raises BadScene where `other`
        has no edge."""
        self._point, self._weights, self._edges = one.nodes[:1], one.weights[:1], other.wires
        self._first, self._closes = one.nodes.shape[1], params["closes"]
        self._gap = self._separation(rest, *closest_segment(self._edges, rest, self._at(rest)))[0]

    def _at(self, x: Vec) -> Vec:
        """Return the constrained point at positions x (n, 3) [m], (3,) [m]."""
        at: Vec = self._weights[0] @ x[self._point[0]]
        return at

    def _separation(self, x: Vec, edge: int, along: float) -> tuple[Vec, Vec]:
        """Return the displacement y from a point on the edge, (3,) [m], and the edge's unit direction, (3,)."""
        a, b = x[self._edges[edge]]
        tangent = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)
        return self._at(x) - (1.0 - along) * a - along * b, tangent

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return two rows across the edge and one of the ends at positions (n, 3) [m] and a time [s]."""
        edge, along = closest_segment(self._edges, x, self._at(x))
        y, tangent = self._separation(x, edge, along)
        y = y - open_fraction(time, self._closes) * self._gap
        one, other = (axis[0] for axis in across(tangent[None]))
        beyond = float(tangent @ y) if along in (0.0, 1.0) else 0.0
        nodes = np.concatenate([self._point, self._edges[edge][None]], axis=1)
        weights = np.concatenate([self._weights, [[along - 1.0, -along]]], axis=1)
        directions = np.stack([one, other, tangent if along in (0.0, 1.0) else np.zeros(3)])
        return PointRows(nodes, weights, self._first, np.zeros(3, np.int32),
                         np.array([one @ y, other @ y, beyond]), directions, np.zeros(3), np.zeros(3, dtype=bool))
