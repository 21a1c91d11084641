"""The scene's ground, for all that touches it: soft bodies, rigid ones, and cloth that slides over what is sharp."""

from __future__ import annotations

import numpy as np

from ..contact.find.half_space import HalfSpace
from ..coordinates.prescribed import OverTime
from ..job.folder import Job, parameters
from ..job.schema import Ground
from .inputs import over_time


def way_of(job: Job, ground: Ground) -> OverTime | None:
    """Where its point goes, (3,) [m] at a time; None where it stands still."""
    return None if ground.motion is None else over_time(job, ground.motion)


def plane_of(job: Job, ground: Ground) -> HalfSpace:
    """Solid behind a plane."""
    return HalfSpace(np.array(ground.point), np.array(ground.normal), way_of(job, ground))


def coefficient_of(ground: Ground) -> float:
    """Its coefficient of friction, whatever law has it; 0 without one."""
    return 0.0 if ground.friction is None else float(parameters("friction", ground.friction)["friction_coefficient"])
