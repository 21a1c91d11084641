"""Fibers as a vector attribute of the mesh says."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import BadScene
from ...state import Vec
from .interface import Muscle


class Attribute:
    """The mean of what the corners carry, brought inside from the surface by a harmonic solve."""

    def __init__(self, params: Mapping[str, float]) -> None:
        """params: none."""

    def directions(self, muscle: Muscle) -> Vec:
        """The carried vectors, (e, 3). Raises BadScene without any."""
        if muscle.vectors is None:
            raise BadScene("its mesh has no attribute of fiber directions", "Add the vector attribute conjac_fiber, or "
                           "choose another direction", where="fiber_vectors")
        mean: Vec = muscle.vectors[muscle.volume.tets].mean(axis=1)
        return mean
