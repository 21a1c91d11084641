"""Pose of a body's object at the start frame, without its scale.

Tetrahedra are made in the object's own space with its scale, in metres: an object that is moved or rotated retains
them, and edge lengths are true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..state import Index, Vec
from . import schema
from .folder import Job

DIGITS = 5  # of the scale: as many as a matrix in single precision resolves, however the object is rotated


@dataclass(frozen=True)
class Place:
    """From object space to where tetrahedra are made, and from there to the world."""

    scale: Vec  #: object space to metres, symmetric, rounded, (3, 3)
    to_world: Vec  #: from there to world [m], a turn and a shift but for rounding, (4, 4)

    def scaled(self, vertices: Vec) -> Vec:
        """Vertices in object space, (n, 3), in metres."""
        scaled: Vec = vertices @ self.scale
        return scaled

    def in_world(self, nodes: Vec) -> Vec:
        """Places [m], (k, 3), in the world."""
        placed: Vec = nodes @ self.to_world[:3, :3].T + self.to_world[:3, 3]
        return placed

    def turned(self, tets: Index) -> Index:
        """Positive tetrahedra, (e, 4), still positive in the world: mirrored ones are turned."""
        return tets[:, [0, 2, 1, 3]] if np.linalg.det(self.to_world[:3, :3]) < 0.0 else tets


def place_of(job: Job, surface: schema.Surface) -> Place | None:
    """None for a surface that is known in the world alone.

    Raises numpy.linalg.LinAlgError where the matrix cannot be inverted; `job.validate` has refused that.
    """
    if surface.object_vertices is None:
        return None
    back: NDArray[Any] = np.eye(4) if surface.to_object is None else job.array(surface.to_object)[0]
    to_world = np.linalg.inv(back)
    # polar decomposition: a turn, mirrored or not, after a stretch along axes of its own
    _, stretch, axes = np.linalg.svd(to_world[:3, :3])
    largest = float(f"{stretch[0]:.{DIGITS}g}")
    scale = largest * np.round((axes.T * stretch) @ axes / largest, DIGITS) + 0.0
    to_world[:3, :3] = to_world[:3, :3] @ np.linalg.inv(scale)
    return Place(scale, to_world)


def vertices_to_fill(job: Job, surface: schema.Surface) -> Vec:
    """Return the vertices of a surface where tetrahedra are made, (n, 3) [m]: in object space with its scale, so that
    turning the object changes none; in the world where the job has no object space."""
    place = place_of(job, surface)
    vertices: Vec = (job.array(surface.vertices) if place is None
                     else place.scaled(job.array(surface.object_vertices or "")))
    return vertices
