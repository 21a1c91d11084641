"""Fibers of one direction in object space."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import BadScene
from ...state import Vec
from .interface import Muscle


def axis_of(params: Mapping[str, float]) -> Vec:
    """Return the unit axis of params fiber_x, fiber_y, fiber_z, (3,). Raises BadScene where all are 0."""
    axis = np.array([params["fiber_x"], params["fiber_y"], params["fiber_z"]], dtype=np.float64)
    length = np.linalg.norm(axis)
    if not length > 0.0:
        raise BadScene("its fibers have no direction", "Give Fiber X, Y or Z a value", where="fiber_field.params")
    unit: Vec = axis / length
    return unit


class Straight:
    """Fiber directions along one axis of object space."""

    def __init__(self, params: Mapping[str, float]) -> None:
        """params: fiber_x, fiber_y, fiber_z, the axis in object space. Raises BadScene where all are 0."""
        self._axis = axis_of(params)

    def directions(self, muscle: Muscle) -> Vec:
        """Return the direction of the axis in world space for all elements, (e, 3)."""
        along: Vec = muscle.to_world[:3, :3] @ self._axis
        return np.broadcast_to(along, (len(muscle.volume.tets), 3))
