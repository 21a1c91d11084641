"""Obstacles of a draft, in contact with points of its surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..contact.find.ground import combine_friction
from ..contact.find.obstacle_planes import ObstacleMesh
from ..state import Index, Vec

#: relative to a body's size: a point so near to an obstacle is bounded by the plane before it, a node so near to the
#: ground may touch it
NEAR = 0.02


@dataclass(frozen=True)
class DraftObstacle:
    """Obstacle of a draft: a mesh on one side of which the draft is."""

    mesh: ObstacleMesh
    side: float  #: side, from `ObstacleMesh.side_of`
    friction: Vec  #: Coulomb's coefficient of its vertices, (n,)


@dataclass(frozen=True)
class TouchedPlanes:
    """Half-spaces normal · (x − origin) ≥ 0 that contain points at the end of a step.

    A point in a corner has several half-spaces.
    """

    points: Index  #: index of the point of each half-space, (k,)
    origins: Vec  #: a point of each plane [m], (k, 3)
    normals: Vec  #: unit, (k, 3)
    velocities: Vec  #: of the obstacle's surface [m/s], (k, 3)
    friction: Vec  #: Coulomb's coefficient, (k,)


@dataclass(frozen=True)
class DraftObstacles:
    """Obstacles of one draft, with the friction of both surfaces."""

    obstacles: Sequence[DraftObstacle]
    size: float  #: of the body [m]
    gap: float  #: distance of its surface from its points [m]
    friction: Vec  #: Coulomb's coefficient of its points, (p,)

    def find_touched_planes(self, start: Vec, end: Vec, time: float, h: float) -> TouchedPlanes | None:
        """Return the half-spaces of points that touch obstacles or come near them in a step; None without such points.

        start, end: points at the start of the step and at its predicted end, (p, 3) [m]. time, h: start and duration of
        the step [s].
        """
        touched: list[TouchedPlanes] = []
        for obstacle in self.obstacles:
            planes = obstacle.mesh.planes(start, end, time, h, obstacle.side, self.gap + NEAR * self.size)
            if planes is None:
                continue
            obstacle_friction = np.einsum("kc,kc->k", planes.weights, obstacle.friction[planes.corners])
            touched.append(TouchedPlanes(planes.points, planes.positions + self.gap * planes.normals, planes.normals,
                                         planes.velocities,
                                         combine_friction(obstacle_friction, self.friction[planes.points])))
        if not touched:
            return None
        names = ("points", "origins", "normals", "velocities", "friction")
        return TouchedPlanes(*(np.concatenate([getattr(planes, name) for planes in touched]) for name in names))
