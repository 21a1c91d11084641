"""Contact surfaces of rigid bodies for soft bodies: triangles whose corners move with the bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import catalogue
from ..coordinates.inertia import hull_surface
from ..job import schema_mechanisms
from ..job.folder import Job, parameters
from ..state import Index, Vec
from .positions import frame, solid_of

FINE = 3  #: times that the triangles of a round shape are parted in four


@dataclass(frozen=True)
class RigidSkin:
    """A contact surface of one rigid body at the start frame."""

    name: str
    mechanism: str  #: name of the body's mechanism
    vertices: Vec  #: in world [m], (k, 3)
    triangles: Index  #: facing outwards, (t, 3)
    friction: float  #: Coulomb's coefficient
    shown: int  #: index of the body among all that are shown
    mass: float  #: [kg]; 0 where its motion is prescribed


def skins_of(job: Job) -> list[RigidSkin]:
    """Return the contact surfaces of all rigid colliders that carry no soft body, which would be their surface."""
    with_flesh = {(attach.mechanism, attach.body) for body in job.scene.bodies for attach in body.attach}
    skins, shown = [], 0
    for mechanism in job.scene.mechanisms:
        for body in mechanism.bodies:
            if body.is_collider and (mechanism.name, body.name) not in with_flesh:
                vertices, triangles = surface_of(job, body)
                at = frame(body.position, body.rotation)
                skins.append(RigidSkin(body.name, mechanism.name, vertices @ at[:3, :3].T + at[:3, 3], triangles,
                                       body.friction, shown,
                                       solid_of(job, body).mass if body.motion is None else 0.0))
            shown += 1
    return skins


def surface_of(job: Job, body: schema_mechanisms.RigidBody) -> tuple[Vec, Index]:
    """Return the surface of a rigid body in the body's own frame: vertices (k, 3) [m] and triangles (t, 3), facing
    outwards."""
    if body.vertices is not None:
        vertices = np.asarray(job.array(body.vertices), dtype=float)
        if "triangles" in catalogue.find("shape", body.shape.kind).reads and body.triangles is not None:
            return vertices, np.asarray(job.array(body.triangles), dtype=np.int32)
        return hull_surface(vertices)
    return BY_SIZE[body.shape.kind](**parameters("shape", body.shape))


def box(size_x: float, size_y: float, size_z: float) -> tuple[Vec, Index]:
    """Return vertices (8, 3) [m] and triangles (t, 3) of a box with these edge lengths [m]."""
    corners = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return hull_surface(corners * [size_x, size_y, size_z])


def sphere(radius: float) -> tuple[Vec, Index]:
    """Return vertices (k, 3) [m] and triangles (t, 3) of a sphere, a subdivided octahedron. radius: [m]."""
    vertices, triangles = hull_surface(np.concatenate([np.eye(3), -np.eye(3)]))
    for _ in range(FINE):
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        pairs, of = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
        middle = len(vertices) + of.reshape(-1, 3)
        vertices = np.concatenate([vertices, vertices[pairs].sum(axis=1)])
        vertices /= np.linalg.norm(vertices, axis=1)[:, None]
        (a, b, c), (ab, bc, ca) = triangles.T, middle.T
        triangles = np.concatenate([np.stack(corners, axis=1) for corners in (
            (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return radius * vertices, triangles.astype(np.int32)


def capsule(radius: float, length: float) -> tuple[Vec, Index]:
    """Return vertices (k, 3) [m] and triangles (t, 3) of a capsule along Z. radius: [m]. length: between the centres of
    its half spheres [m]."""
    vertices, triangles = sphere(radius)
    middle = np.abs(vertices[:, 2]) <= 1.0e-9 * radius
    ends = np.concatenate([vertices[vertices[:, 2] >= -1.0e-9 * radius] + [0.0, 0.0, 0.5 * length],
                           vertices[middle | (vertices[:, 2] < 0.0)] - [0.0, 0.0, 0.5 * length]])
    return (vertices, triangles) if length <= 0.0 else hull_surface(ends)


BY_SIZE: dict[str, Callable[..., tuple[Vec, Index]]] = {"box": box, "sphere": sphere, "capsule": capsule}
