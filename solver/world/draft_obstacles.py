"""Obstacles that a draft touches, by points of its surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..contact.find.ground import mixed
from ..contact.find.obstacle_planes import ObstacleMesh
from ..state import Index, Vec

#: relative to a body's size: a point so near to an obstacle is bounded by the plane before it, a node so near to the
#: ground may touch it
NEAR = 0.02


@dataclass(frozen=True)
class DraftObstacle:
    """A mesh, on one side of which the draft is."""

    mesh: ObstacleMesh
    side: float  #: of `ObstacleMesh.side_of`
    friction: Vec  #: Coulomb's coefficient of its vertices, (n,)


@dataclass(frozen=True)
class TouchedPlanes:
    """Half-spaces normal · (x − place) ≥ 0 at a step's end of some points, one more than once where it is in a corner.
    """

    points: Index  #: (k,)
    places: Vec  #: [m], (k, 3)
    normals: Vec  #: unit, (k, 3)
    velocities: Vec  #: of what is touched [m/s], (k, 3)
    friction: Vec  #: Coulomb's coefficient, (k,)


@dataclass(frozen=True)
class DraftObstacles:
    """All obstacles of one draft."""

    obstacles: Sequence[DraftObstacle]
    size: float  #: of the body [m]
    gap: float  #: by which its surface stands out of its points [m]
    friction: Vec  #: Coulomb's coefficient of its points, (p,)

    def touched(self, begun: Vec, end: Vec, time: float, h: float) -> TouchedPlanes | None:
        """Return where its points touch, or come near, in a step; None where they do not.

        begun, end: points at the start of the step and where it would lead, (p, 3) [m]. time, h: of the step [s].
        """
        found: list[TouchedPlanes] = []
        for one in self.obstacles:
            planes = one.mesh.planes(begun, end, time, h, one.side, self.gap + NEAR * self.size)
            if planes is None:
                continue
            rough = np.einsum("kc,kc->k", planes.weights, one.friction[planes.corners])
            found.append(TouchedPlanes(planes.points, planes.places + self.gap * planes.normals, planes.normals,
                                       planes.velocities, mixed(rough, self.friction[planes.points])))
        if not found:
            return None
        names = ("points", "places", "normals", "velocities", "friction")
        return TouchedPlanes(*(np.concatenate([getattr(one, name) for one in found]) for name in names))
