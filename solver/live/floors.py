"""Ground of a live body, from the job or where the artist moves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..job.folder import Job, parameters
from ..parts.modes.body import ReducedBody
from ..parts.modes.loads import Floor
from ..state import Vec


def floor_of(job: Job, body: ReducedBody) -> Floor | None:
    """Return the ground of a job with the contact stiffness of a reduced body; None where the job has no ground."""
    ground = job.scene.ground
    if ground is None:
        return None
    friction = 0.0
    if ground.friction is not None:
        friction = float(parameters("friction", ground.friction).get("friction_coefficient", 0.0))
    normal = np.array(ground.normal) / np.linalg.norm(ground.normal)
    return body.floor(normal, float(normal @ np.array(ground.point)), friction)


def floor_at(floor: Floor | None, ground: Vec | None) -> Floor | None:
    """Return a floor on another plane. ground: a point of the plane [m] and its normal, (2, 3); None: no change."""
    if floor is None or ground is None:
        return floor
    normal = ground[1] / np.linalg.norm(ground[1])
    return replace(floor, normal=normal, offset=float(normal @ ground[0]))
