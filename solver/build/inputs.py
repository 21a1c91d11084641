"""Inputs of a job over time: pins, colliders, activations, motors, pulls. All samples are at the same times."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import Constant, Motion, OverTime
from ..forces.activation import Activation
from ..job.folder import Job
from ..state import Vec


def over_time(job: Job, samples: str | Vec) -> Motion:
    """Return the curve through samples (T, …), given as an array or by the name of an array of the job."""
    time = job.scene.time
    values = job.array(samples) if isinstance(samples, str) else np.asarray(samples, dtype=float)
    return Motion(values, 1.0 / (time.fps * time.samples_per_frame))


def positions_over_time(job: Job, samples: str | Vec | None, rest: Vec) -> OverTime:
    """Return the positions of points over time, (k, 3) [m]: the curve through samples (T, k, 3), or without samples the
    constant positions `rest`, (k, 3) [m]."""
    return Constant(rest) if samples is None else over_time(job, samples)


def number_over_time(job: Job, value: float | str) -> OverTime:
    """Return a number over time, (1,): constant, or the curve through an array of the job, samples (T,)."""
    return over_time(job, job.array(value)[:, None]) if isinstance(value, str) else Constant(np.array([value]))


def at_frame(job: Job, samples: str | Vec, frame: int, subframe: float = 0.0) -> Vec:
    """Return the value at a frame of the curve through samples (T, …), in the shape of one sample. subframe: in [0, 1).
    """
    # time in samples, so that the value at a sample is that sample exactly
    curve = Motion(over_time(job, samples).samples, 1.0)
    return curve.at((frame - job.scene.time.start + subframe) * job.scene.time.samples_per_frame)


def activation_of(job: Job, samples: str) -> Activation:
    """Return an activation over time, in [0, 1]. samples: name of its samples (T,)."""
    return Activation(over_time(job, job.array(samples)[:, None]))
