"""What a job prescribes over time: pins, colliders, activations, motors, pulls. All samples stand at the same times."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import Motion
from ..job.folder import Job
from ..state import Vec


def over_time(job: Job, samples: str | Vec) -> Motion:
    """The curve through samples (T, …): an array of the job's by its name, or what was made of some."""
    time = job.scene.time
    values = job.array(samples) if isinstance(samples, str) else np.asarray(samples, dtype=float)
    return Motion(values, 1.0 / (time.fps * time.samples_per_frame))
