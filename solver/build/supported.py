"""Colliders that stand on the ground reach into it, so that nothing is pressed into the gap below them.

The ground yields under pressure and a collider does not: the lowest nodes of a body that one sweeps over the other,
millimetres deep, would get under the collider's lower edge and stay there, and their elements would be stretched to
needles. So walls continue below the ground, out of sight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..contact.find.ground import Ground
from ..coordinates.prescribed import OverTime
from ..job.folder import Job
from ..job.kinds import kind_of
from ..job.object_pose import vertices_to_fill
from ..job.schema import Body
from ..state import Index, Vec
from .ground import ground_of

DEPTH = 0.25  #: how far walls go on, as a fraction of the largest soft body's extent
THICKNESSES = 10.0  #: the same for cloth, which sinks by next to nothing, as a multiple of its thickness
NEAR = 0.05  #: of that depth: walls that end so far above the ground begin to stand on it
STEEP = 0.3  #: what rises less than that (the upward part of its unit normal) is a wall or hangs over; more, a slope
UNDERSIDE = -0.95  #: what rises less than that has no edge that sweeps: the lowest faces of a ball


@dataclass(frozen=True)
class Support:
    """The ground under colliders, with the depth to which their walls continue below it."""

    ground: Ground  #: always at one level
    depth: float  #: [m]

    def shifts(self, positions: Vec, triangles: Index) -> tuple[Index, Vec, Vec]:
        """Return the vertices that are moved downwards, (k,), their shifts along the ground's normal [m], (k,), and the
        derivatives of these by the vertices' heights, (k,).

        positions: of the vertices, (o, 3) [m]. triangles: (t, 3). Vertices at the ground or just in it move to
        the depth, vertices up to `NEAR` above it by less and less. Vertices of a slope do not move, so that it is as
        the artist sees it, nor do those of undersides alone: a wall stands on its lower edge.
        """
        height = self.ground.gaps(positions, 0.0)
        near = NEAR * self.depth
        on_ground = (height > -self.depth) & (height < near)
        if not on_ground.any():
            return np.zeros(0, np.int32), np.zeros(0), np.zeros(0)
        faces = triangles[on_ground[triangles].any(1)]
        across = np.cross(positions[faces[:, 1]] - positions[faces[:, 0]],
                          positions[faces[:, 2]] - positions[faces[:, 0]])
        length = np.linalg.norm(across, axis=1)
        rises = np.divide(across @ self.ground.normal, length, out=np.full(len(faces), -1.0), where=length > 0.0)
        wall, slope = np.zeros(len(positions), bool), np.zeros(len(positions), bool)
        wall[faces[(rises > UNDERSIDE) & (rises <= STEEP)]] = True
        slope[faces[rises > STEEP]] = True
        nodes = np.flatnonzero(on_ground & wall & ~slope).astype(np.int32)
        h = height[nodes]
        shift = np.where(h > 0.0, self.depth * (h / near - 1.0), -self.depth - h)
        return nodes, shift, np.where(h > 0.0, self.depth / near, -1.0)

    def extend_below(self, positions: Vec, triangles: Index) -> Vec:
        """Return positions (o, 3) [m] with walls continued below the ground; unchanged where none stands on it."""
        nodes, shift, _ = self.shifts(positions, triangles)
        if not len(nodes):
            return positions
        deep = positions.copy()
        deep[nodes] += shift[:, None] * self.ground.normal
        return deep


@dataclass(frozen=True)
class SupportedBody:
    """Motion of a collider whose walls continue below the ground."""

    motion: OverTime  #: of the collider as it is seen, (o, 3) [m] at a time
    triangles: Index
    support: Support

    @property
    def moves(self) -> bool:
        """Whether the collider moves at any time."""
        return self.motion.moves

    def at(self, time: float) -> Vec:
        """Return the positions of the vertices at `time` [s], (o, 3) [m]."""
        return self.support.extend_below(self.motion.at(time), self.triangles)

    def velocity(self, time: float) -> Vec:
        """Return the velocities of the vertices at `time` [s], (o, 3) [m/s]."""
        rate = self.motion.velocity(time)
        nodes, _, slope = self.support.shifts(self.motion.at(time), self.triangles)
        if len(nodes):
            normal = self.support.ground.normal
            rate[nodes] += (slope * (rate[nodes] @ normal))[:, None] * normal
        return rate


def _measure_depth(job: Job, body: Body) -> float:
    """Return how deep a body may sink into the ground where it is pressed against a wall [m]."""
    thickness = kind_of(body).thickness
    if thickness is not None:
        return THICKNESSES * thickness
    if body.surface is not None:
        points = vertices_to_fill(job, body.surface)
    elif body.tets is not None:
        points = job.array(body.tets.nodes)
    else:
        return 0.0
    return DEPTH * float(np.ptp(points, axis=0).max())


def support_of(job: Job) -> Support | None:
    """Return the scene's ground with the depth of walls below it; None without a ground, without bodies that are
    pressed into it, or where its level changes."""
    one, ground = job.scene.ground, ground_of(job)
    depth = max((_measure_depth(job, body) for body in job.scene.bodies), default=0.0)
    if one is None or depth == 0.0:
        return None
    rises = 0.0 if one.motion is None else float(np.ptp(job.array(one.motion) @ ground.normal))
    return Support(ground, depth) if rises < NEAR * depth else None
