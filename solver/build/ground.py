"""The scene's ground, for all that touches it: soft bodies, rigid ones, and cloth that slides over what is sharp."""

from __future__ import annotations

import numpy as np

from .. import catalogue
from ..contact.find.ground import NOWHERE, Ground
from ..contact.laws.ground_penalty import GroundPenalty
from ..coordinates.free_nodes import FreeNodes
from ..job.folder import Job, parameters
from ..state import Index, Vec
from ..world.bodies import BodyInWorld
from .fields import Prepared
from .inputs import over_time

DEEP = 0.05  #: of a body's size: what begins so deep in the ground is thrown


def ground_of(job: Job) -> Ground:
    """With its way through time and its coefficient of friction, whatever law has it; `NOWHERE` without one."""
    one = job.scene.ground
    if one is None:
        return NOWHERE
    mu = 0.0 if one.friction is None else float(parameters("friction", one.friction)["friction_coefficient"])
    return Ground(np.array(one.point), np.array(one.normal), mu,
                  None if one.motion is None else over_time(job, one.motion))


def on_ground(job: Job, prepared: list[Prepared], rest: Vec, coordinates: FreeNodes) -> GroundPenalty:
    """How the scene's ground pushes these nodes and brakes them. rest: (n, 3) [m]."""
    one = job.scene.ground
    if one is None:
        return GroundPenalty.nowhere(coordinates.is_free)
    per_area, law = one.stiffness_per_area, one.friction
    stiffness = np.full(len(rest), one.stiffness) if per_area is None else per_area * _skin(prepared, rest)
    friction = None if law is None else catalogue.find("friction", law.kind).load()(parameters("friction", law))
    return GroundPenalty(ground_of(job), stiffness, coordinates.is_free, friction, one.tangential_share)


def sunk(bodies: list[BodyInWorld], ground: Ground, rest: Vec, free: Index) -> list[str]:
    """What is said of bodies that begin deep in the ground, whose springs throw them out. free: nodes, ascending."""
    notes, inside = [], ground.find(rest[free], 0.0)
    nodes = free[inside.nodes]
    for body in bodies:
        own = (nodes >= body.nodes.start) & (nodes < body.nodes.stop)
        deep = -float(inside.gap[own].min(initial=0.0))
        if deep > DEEP * body.size:
            notes.append(f'"{body.name}": it begins {deep:.3g} m deep in the ground, which throws it out. Lift it, or '
                         "lower the ground")
    return notes


def _skin(prepared: list[Prepared], rest: Vec) -> Vec:
    """How much of its body's skin each node has at rest, as a plane there sees it, (n,) [m²]. rest: (n, 3) [m]."""
    faces, start = [], 0
    for one in prepared:
        faces.append(one.skin + start)
        start += len(one.volume.nodes)
    corners = np.concatenate(faces)
    a, b, c = (rest[corners[:, k]] for k in range(3))
    third = np.cross(b - a, c - a) / 6.0
    outwards = np.zeros_like(rest)
    for k in range(3):
        np.add.at(outwards, corners[:, k], third)
    area: Vec = np.linalg.norm(outwards, axis=1)
    return area
