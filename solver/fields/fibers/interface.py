"""Protocol of sources of fiber directions, and their input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...meshing.volume import Volume
from ...state import Vec

SHORT = 1.0e-6  #: fraction of the longest vector below which one has no direction


@dataclass(frozen=True)
class Muscle:
    """Volume of a body, with the artist's input for the directions of its fibers."""

    volume: Volume
    weights: Vec | None  #: the Fibers map at nodes, (k,)
    vectors: Vec | None  #: directions at nodes, (k, 3)
    curves: Vec | None  #: positions [m] and tangents of combed curves, (s, 2, 3)
    to_world: Vec  #: from object to world space, (4, 4)
    notes: list[str]  #: receives sentences for the artist

    @property
    def centres(self) -> Vec:
        """Return the centres of the elements in world space, (e, 3) [m]."""
        centres: Vec = self.volume.nodes[self.volume.tets].mean(axis=1)
        return centres

    def in_object(self, points: Vec) -> Vec:
        """Return points in object space, (n, 3), from points in world space, (n, 3) [m]."""
        matrix = np.linalg.inv(self.to_world)
        local: Vec = points @ matrix[:3, :3].T + matrix[:3, 3]
        return local


class FiberField(Protocol):
    """Protocol of a rule for the directions of fibers in a muscle."""

    def directions(self, muscle: Muscle) -> Vec:
        """Return a direction of any length in each element in world space, (e, 3), zero where there is no fiber.

        Raises BadScene with the path of the field from the body on.
        """


def unit(directions: Vec) -> Vec:
    """Return directions (e, 3) of unit length, zero where one is shorter than `SHORT` times the longest."""
    lengths = np.linalg.norm(directions, axis=1)
    usable = lengths > SHORT * lengths.max(initial=0.0)
    scaled: Vec = np.where(usable, 1.0 / np.where(usable, lengths, 1.0), 0.0)[:, None] * directions
    return scaled
