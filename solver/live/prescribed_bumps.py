"""Obstacles of a job as colliders of live bodies, each with the affine motion nearest to its own."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from ..build.inputs import over_time
from ..coordinates.prescribed import OverTime
from ..job.folder import Job
from ..state import Vec
from .bumps import Bump, BumpMesh

FLAT = 1.0e-9  #: of an obstacle's size: it is as flat as that where its vertices do not say how it is sheared


class PrescribedBump:
    """Collider that follows the motion of one obstacle of a job."""

    def __init__(self, vertices: Vec, mesh: BumpMesh, motion: OverTime | None, number: int) -> None:
        """vertices: at the start, (n, 3) [m]. mesh: collider at the start. motion: positions of vertices over time,
        (n, 3) [m]; None: no motion. number: among the obstacles of the job."""
        self._mesh, self._motion, self._number = mesh, motion, number
        self._middle = vertices.mean(axis=0)
        self._away = vertices - self._middle
        self._inverse = np.linalg.pinv(self._away, rcond=FLAT)

    def in_step(self, time: float, h: float) -> Bump:
        """Return the collider with its motion in a step of h seconds that starts at a time [s]."""
        return Bump(self._mesh, self._at(time + h), self._number, self._at(time))

    def _at(self, time: float) -> Vec:
        """Return the affine motion from the start to a time [s] that is nearest to that of the vertices, (4, 4) [m].
        Across a flat obstacle, where vertices do not determine the motion, it is rigid."""
        matrix = np.eye(4)
        if self._motion is None:
            return matrix
        positions = self._motion.at(time)
        middle = positions.mean(axis=0)
        away = positions - middle
        u, _, v = np.linalg.svd(away.T @ self._away)
        rotation = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v))]) @ v
        matrix[:3, :3] = rotation + (self._inverse @ (away - self._away @ rotation.T)).T
        matrix[:3, 3] = middle - matrix[:3, :3] @ self._middle
        return matrix


def find_prescribed_bumps(job: Job, names: Container[str] | None) -> list[PrescribedBump]:
    """Return colliders of the obstacles with faces; none where the job has no contact.

    names: of the obstacles that are included; None: all.
    """
    bumps: list[PrescribedBump] = []
    for number, obstacle in enumerate(job.scene.obstacles if job.scene.contact is not None else ()):
        if obstacle.triangles is None or not (names is None or obstacle.name in names):
            continue
        vertices = np.asarray(job.array(obstacle.vertices), dtype=float)
        mesh = BumpMesh(vertices, np.array(job.array(obstacle.triangles), dtype=np.int32))
        bumps.append(PrescribedBump(
            vertices, mesh, None if obstacle.motion is None else over_time(job, obstacle.motion), number))
    return bumps
