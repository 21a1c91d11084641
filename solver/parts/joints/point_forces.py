"""Forces that something outside of a mechanism has on points of its bodies, the same through a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec


@dataclass(frozen=True)
class PointForces:
    """They turn with nothing: each is the same in world as long as it acts."""

    bodies: Index  #: (k,)
    places: Vec  #: in the bodies' frames [m], (k, 3)
    forces: Vec  #: in world [N], (k, 3)

    @classmethod
    def none(cls) -> PointForces:
        """Nothing acts yet."""
        return cls(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)))

    def and_more(self, other: PointForces) -> PointForces:
        """Both."""
        return PointForces(*(np.concatenate([getattr(self, name), getattr(other, name)])
                             for name in ("bodies", "places", "forces")))

    def add(self, E: Vec, seconds: float, wrench: Vec) -> None:
        """Add their impulses in so many seconds to wrenches in the bodies' frames, (n, 6) [N m s, N s]; bodies stand at
        E (n, 4, 4)."""
        own = seconds * np.einsum("kji,kj->ki", E[self.bodies, :3, :3], self.forces)
        np.add.at(wrench, self.bodies, np.concatenate([np.cross(self.places, own), own], axis=1))
