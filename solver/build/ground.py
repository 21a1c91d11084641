"""The scene's ground, for all that touches it: soft bodies, rigid ones, and cloth that slides over what is sharp."""

from __future__ import annotations

import numpy as np

from ..contact.find.ground import NOWHERE, Ground
from ..job.folder import Job, parameters
from .inputs import over_time


def ground_of(job: Job) -> Ground:
    """With its way through time and its coefficient of friction, whatever law has it; `NOWHERE` without one."""
    one = job.scene.ground
    if one is None:
        return NOWHERE
    mu = 0.0 if one.friction is None else float(parameters("friction", one.friction)["friction_coefficient"])
    return Ground(np.array(one.point), np.array(one.normal), mu,
                  None if one.motion is None else over_time(job, one.motion))
