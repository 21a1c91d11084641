"""Start positions of a mechanism's bodies and targets of its motors, read from the scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import catalogue
from ..coordinates.inertia import Solid
from ..coordinates.prescribed import OverTime
from ..errors import BadInput
from ..job import schema_mechanisms, schema_values
from ..job.folder import Job, parameters
from ..state import Vec
from .inputs import over_time


@dataclass(frozen=True)
class WorldPositions:
    """Frames and mass properties of a mechanism's bodies at the start."""

    scene: schema_mechanisms.Mechanism
    own: Mapping[str, Vec]  #: own frames in world, (4, 4)
    bodies: Mapping[str, Vec]  #: frames at centres of mass in world, (4, 4); without obstacles
    solids: Mapping[str, Solid]

    def key(self, body: str) -> str:
        """Return the name in the tree of a body of the mechanism."""
        return f"{self.scene.name}/{body}"


def place_mechanism(job: Job, index: int, mechanism: schema_mechanisms.Mechanism) -> WorldPositions:
    """Return the bodies of a mechanism at the start. index: of the mechanism in the scene. Raises BadInput that names
    the body and its field."""
    own, bodies, solids = {}, {}, {}
    for i, body in enumerate(mechanism.bodies):
        own[body.name] = frame(body.position, body.rotation)
        if body.motion is not None:
            continue
        try:
            solid = solid_of(job, body)
        except BadInput as error:
            error.object = error.object or body.name
            error.where = error.where or f"$.mechanisms[{index}].bodies[{i}].shape"
            raise
        centre = np.eye(4)
        centre[:3, 3] = solid.centre
        solids[body.name], bodies[body.name] = solid, own[body.name] @ centre
    return WorldPositions(mechanism, own, bodies, solids)


def frame(position: schema_values.Vector, rotation: schema_values.Quaternion) -> Vec:
    """Return the frame (4, 4) at a position [m], turned by a quaternion (w, x, y, z) of any length but 0."""
    quaternion = np.asarray(rotation, dtype=float)
    quaternion /= np.abs(quaternion).max()  # so that its square does not overflow
    w, (x, y, z) = quaternion[0], quaternion[1:]
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    out = np.eye(4)
    out[:3, :3] += 2.0 / (quaternion @ quaternion) * (w * skew + skew @ skew)
    out[:3, 3] = position
    return out


def inverse(frames: Vec) -> Vec:
    """Return the inverse of a rigid transformation, both (4, 4)."""
    out = np.eye(4)
    out[:3, :3] = frames[:3, :3].T
    out[:3, 3] = -frames[:3, :3].T @ frames[:3, 3]
    return out


def solid_of(job: Job, body: schema_mechanisms.RigidBody) -> Solid:
    """Return the mass, centre and inertia of a rigid body in its own frame. Raises BadScene for invalid sizes, BadMesh
    for a surface that encloses no volume."""
    entry = catalogue.find("shape", body.shape.kind)
    arrays: dict[str, Any] = {name: job.array(getattr(body, name)) for name in entry.reads}
    solid: Solid = entry.load()(**parameters("shape", body.shape), **arrays, density=body.density)
    return solid if body.mass is None else solid.weighing(body.mass)


def target_of(job: Job, motor: schema_mechanisms.Motor) -> OverTime:
    """Return the target of a motor over time, (k,) for the rates of its joint."""
    return over_time(job, motor.target if isinstance(motor.target, str) else np.array([motor.target], dtype=float))


def until_of(job: Job, motor: schema_mechanisms.Motor) -> float:
    """Return the time at which a motor stops acting [s]; infinite where it does not."""
    return np.inf if motor.until is None else (motor.until - job.scene.time.start) / job.scene.time.fps
