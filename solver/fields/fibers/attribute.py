"""Fiber directions from a vector attribute of the mesh."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import BadScene
from ...state import Vec
from .interface import Muscle


class Attribute:
    """Fiber directions as the means of vectors at nodes, extended from the surface by a harmonic solve."""

    def __init__(self, params: Mapping[str, float]) -> None:
        """params: none."""

    def directions(self, muscle: Muscle) -> Vec:
        """Return the mean vector of each element's nodes, (e, 3). Raises BadScene without the attribute."""
        if muscle.vectors is None:
            raise BadScene("its mesh has no attribute of fiber directions", "Add the vector attribute conjac_fiber, or "
                           "choose another direction", where="fiber_vectors")
        mean: Vec = muscle.vectors[muscle.volume.tets].mean(axis=1)
        return mean
