"""Obstacles of a scene: meshes that stand still or move as they are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates.prescribed import OverTime
from ..job.folder import Job
from ..state import Index, Vec
from .inputs import places_over_time


@dataclass(frozen=True)
class Obstacles:
    """Meshes that soft bodies touch, as nodes behind those of the bodies."""

    names: list[str]
    places: Vec  #: at the start, (o, 3) [m]
    triangles: list[Index]  #: of each, (t, 3), numbers among the obstacles' nodes
    motions: list[OverTime]  #: of each, (o, 3) [m] at a time


def obstacles_of(job: Job) -> Obstacles:
    """Those of the scene; none where it has no contact."""
    scene = job.scene
    if scene.contact is None:
        return Obstacles([], np.zeros((0, 3)), [], [])
    places, triangles, motions, first = [np.zeros((0, 3))], list[Index](), list[OverTime](), 0
    for one in scene.obstacles:
        places.append(np.asarray(job.array(one.vertices), dtype=float))
        triangles.append(np.asarray(job.array(one.triangles), dtype=np.int32) + np.int32(first))
        motions.append(places_over_time(job, one.motion, places[-1]))
        first += len(places[-1])
    return Obstacles([one.name for one in scene.obstacles], np.concatenate(places), triangles, motions)
