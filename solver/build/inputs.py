"""Inputs of a job over time: pins, colliders, activations, motors, pulls. All samples are at the same times."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import Motion, OverTime, Still
from ..forces.activation import Activation
from ..job.folder import Job
from ..state import Vec


def over_time(job: Job, samples: str | Vec) -> Motion:
    """The curve through samples (T, …): an array of the job's by its name, or what was made of some."""
    time = job.scene.time
    values = job.array(samples) if isinstance(samples, str) else np.asarray(samples, dtype=float)
    return Motion(values, 1.0 / (time.fps * time.samples_per_frame))


def places_over_time(job: Job, samples: str | Vec | None, still: Vec) -> OverTime:
    """Return positions of points over time, (k, 3) [m]; without samples they stay where they are, (k, 3)."""
    return Still(still) if samples is None else over_time(job, samples)


def number_over_time(job: Job, value: float | str) -> OverTime:
    """Return a number, or samples (T,) of it, as (1,) at a time."""
    return over_time(job, job.array(value)[:, None]) if isinstance(value, str) else Still(np.array([value]))


def at_frame(job: Job, samples: str | Vec, frame: int, subframe: float = 0.0) -> Vec:
    """The value of the curve through samples (T, …) at a frame, of one sample's shape; `subframe` in [0, 1)."""
    # counted in samples, so that at a sample there is that sample to the last bit
    curve = Motion(over_time(job, samples).samples, 1.0)
    return curve.at((frame - job.scene.time.start + subframe) * job.scene.time.samples_per_frame)


def activation_of(job: Job, samples: str) -> Activation:
    """A share over time, by the name of its samples (T,)."""
    return Activation(over_time(job, job.array(samples)[:, None]))
