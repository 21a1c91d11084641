"""Obstacles that one draft touches, from a job."""

from __future__ import annotations

import numpy as np

from ..contact.find.obstacle_planes import ObstacleMesh
from ..job.folder import Job, parameters
from ..state import Index, Vec
from ..world.draft_obstacles import DraftObstacle, DraftObstacles
from .contact import read_painted_friction
from .fields import Prepared
from .obstacles import obstacles_of


def draft_obstacles(job: Job, one: Prepared, start: Vec, painted: Vec | float, size: float) -> DraftObstacles | None:
    """Return the obstacles that a body touches; None where there are none.

    start: points of the body that collide, at the start, (p, 3) [m]. painted: fraction of the body's friction at each
    point, (p,). size: of the body [m].
    """
    contact = job.scene.contact
    if contact is None:
        return None
    obstacles, touches = obstacles_of(job), one.body.touches
    usual = float(parameters("contact", contact.law).get("friction_coefficient", 0.0))
    made = []
    for name, triangles, motion, own, mu in zip(obstacles.names, obstacles.triangles, obstacles.motions,
                                                obstacles.spans, obstacles.friction):
        if touches is not None and name not in touches:
            continue
        mesh = ObstacleMesh(triangles - own.start, motion)
        made.append(DraftObstacle(mesh, mesh.side_of(start),
                                  (usual if mu is None else mu) * obstacles.painted[own]))
    own_friction = usual if one.body.friction is None else one.body.friction
    # thin bodies keep a distance of their thickness from their middle surface
    gap = one.surface_offset or one.thickness or 0.0
    friction = np.broadcast_to(own_friction * np.clip(painted, 0.0, 1.0), (len(start),))
    return DraftObstacles(made, size, gap, friction) if made else None


def friction_of_nodes(job: Job, one: Prepared) -> Vec:
    """Return the painted fraction of a body's friction at each of its nodes, (n,)."""
    fractions: Vec = np.broadcast_to(read_painted_friction(job, one), (len(one.volume.nodes),))
    return fractions


def touching_nodes(one: Prepared) -> Index:
    """Return the nodes of a body's skin and wires, which collide, (p,) ascending."""
    corners = np.concatenate([one.skin.ravel(), one.wires.ravel()])
    nodes: Index = np.unique(corners).astype(np.int32)
    return nodes
