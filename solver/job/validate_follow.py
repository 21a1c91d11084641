"""Validation of the object whose motion a body takes part in."""

from __future__ import annotations

import numpy as np

from . import schema
from .expect import check_array
from .folder import Job, refuse


def check_follow(job: Job, follow: schema.Follow, where: str) -> None:
    """Check the frames of a followed object and the fraction of its motion over time. Raises BadScene, NoSuchThing.

    where: path of `follow` in scene.json.
    """
    frames = check_array(job, follow.motion, f"{where}.motion", "f", (job.samples, 4, 4))
    if not (np.abs(np.linalg.det(frames[:, :3, :3])) > 1e-12).all():
        raise refuse("the object that it follows has zero scale at some sample", f"{where}.motion",
                     "Leave its scale above 0")
    if isinstance(follow.share, str):
        fraction = check_array(job, follow.share, f"{where}.share", "f", (job.samples,))
        if not 0.0 <= fraction.min() <= fraction.max() <= 1.0:
            raise refuse(f"Follow lies between 0 and 100 %, and it reaches from {100.0 * fraction.min():g} to "
                         f"{100.0 * fraction.max():g} %", f"{where}.share")
