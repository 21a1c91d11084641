"""Fiber directions that wind around an axis through the object's origin."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...state import Vec
from .interface import Muscle
from .straight import axis_of


class Helix:
    """Fiber directions at a constant angle to an axis, right-handed where it is positive; along the axis on the axis
    itself."""

    def __init__(self, params: Mapping[str, float]) -> None:
        """params: fiber_x, fiber_y, fiber_z, the axis in object space; fiber_angle [rad].

        Raises BadScene where the axis is zero.
        """
        self._axis, self._angle = axis_of(params), params["fiber_angle"]

    def directions(self, muscle: Muscle) -> Vec:
        """Return cos(angle) times the axis + sin(angle) times the direction around it, in world space, (e, 3)."""
        centres = muscle.in_object(muscle.centres)
        around = np.cross(self._axis, centres)
        distance = np.linalg.norm(around, axis=1)[:, None]
        near = distance <= 1.0e-9 * distance.max(initial=0.0)
        local = (math.cos(self._angle) * self._axis
                 + math.sin(self._angle) * np.where(near, 0.0, around / np.where(near, 1.0, distance)))
        world: Vec = local @ muscle.to_world[:3, :3].T
        return world
