"""Obstacles of a scene: meshes that stand still or move as they are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..job.folder import Job
from ..state import Index, Vec


@dataclass(frozen=True)
class Obstacles:
    """Meshes that soft bodies touch, as nodes behind those of the bodies."""

    names: list[str]
    places: Vec  #: at the start, (o, 3) [m]
    triangles: list[Index]  #: of each, (t, 3), numbers among the obstacles' nodes
    motion: Vec | None  #: of all of them at each sample, (T, o, 3) [m]; None where all are still


def obstacles_of(job: Job) -> Obstacles:
    """Those of the scene; none where it has no contact."""
    scene = job.scene
    if scene.contact is None:
        return Obstacles([], np.zeros((0, 3)), [], None)
    places, triangles, first = [np.zeros((0, 3))], [], 0
    for one in scene.obstacles:
        places.append(np.asarray(job.array(one.vertices), dtype=float))
        triangles.append(np.asarray(job.array(one.triangles), dtype=np.int32) + np.int32(first))
        first += len(places[-1])
    motion: Vec | None = None
    if any(one.motion is not None for one in scene.obstacles):
        motion = np.concatenate([job.array(one.motion) if one.motion is not None
                                 else np.broadcast_to(where, (job.samples, *where.shape))
                                 for one, where in zip(scene.obstacles, places[1:])], axis=1)
    return Obstacles([one.name for one in scene.obstacles], np.concatenate(places), triangles, motion)
