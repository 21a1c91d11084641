"""Surface constraint: a point slides on a surface."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.prescribed import OverTime
from ...state import Vec
from .ball import open_fraction
from .ends import TiedEnd, closest_triangle
from .rows import PointRows

BEYOND = 1.0e-12  #: of the distance to a triangle's corner: less sideways is rounding


class OnSurface:
    """Constraint of a point to a surface: φ = n·y of the nearest triangle with the unit normal n; a second row is the
    distance of the point beyond a border."""

    joints = 1

    def __init__(self, one: TiedEnd, other: TiedEnd, rest: Vec, params: Mapping[str, float],
                 length: OverTime | None) -> None:
        """params: `closes`, the time in which an initial gap closes [s]. length: unused. Raises BadScene where `other`
        has no face."""
        self._point, self._weights, self._skin = one.nodes[:1], one.weights[:1], other.skin
        self._first, self._closes = one.nodes.shape[1], params["closes"]
        start = closest_triangle(self._skin, rest, self._weights[0] @ rest[self._point[0]])
        self._gap = self._separation(rest, *start)[0]

    def _separation(self, x: Vec, triangle: int, weights: Vec) -> tuple[float, Vec, Vec]:
        """Return n·y [m], the unit normal n, (3,), and the displacement y from a point of the triangle, (3,) [m]."""
        a, b, c = x[self._skin[triangle]]
        normal = np.cross(b - a, c - a)
        normal /= max(float(np.linalg.norm(normal)), 1e-300)
        y = self._weights[0] @ x[self._point[0]] - weights @ x[self._skin[triangle]]
        return float(normal @ y), normal, y

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return one row of the normal and one of the border at positions (n, 3) [m] and a time [s]."""
        triangle, weights = closest_triangle(self._skin, x, self._weights[0] @ x[self._point[0]])
        along, normal, y = self._separation(x, triangle, weights)
        gap = open_fraction(time, self._closes) * self._gap
        sideways = y - along * normal
        excess = float(np.linalg.norm(sideways))
        is_beyond = excess > BEYOND * float(np.abs(x[self._skin[triangle]] - x[self._skin[triangle][0]]).max())
        outward = sideways / excess if is_beyond else np.zeros(3)
        nodes = np.concatenate([self._point, self._skin[triangle][None]], axis=1)
        return PointRows(nodes, np.concatenate([self._weights, -weights[None]], axis=1), self._first,
                         np.zeros(2, np.int32), np.array([along - gap, excess if is_beyond else 0.0]),
                         np.stack([normal, outward]), np.zeros(2), np.zeros(2, dtype=bool))
