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

DIGITS = 5  #: significant digits of the scale, which a matrix in single precision resolves for any rotation


@dataclass(frozen=True)
class ObjectPose:
    """Transforms from object space to mesh space, in which tetrahedra are made, and from mesh space to the world."""

    scale: Vec  #: object space to metres, symmetric, rounded, (3, 3)
    to_world: Vec  #: mesh space to world [m], a rotation and a translation except for rounding, (4, 4)

    def scale_vertices(self, vertices: Vec) -> Vec:
        """Return vertices in mesh space, (n, 3) [m], from vertices in object space, (n, 3)."""
        scaled: Vec = vertices @ self.scale
        return scaled

    def in_world(self, nodes: Vec) -> Vec:
        """Return nodes in the world, (k, 3) [m], from nodes in mesh space, (k, 3) [m]."""
        placed: Vec = nodes @ self.to_world[:3, :3].T + self.to_world[:3, 3]
        return placed

    def orient(self, tets: Index) -> Index:
        """Return tetrahedra, (e, 4), of positive volume in the world, from those of positive volume in mesh space.

        Two of their nodes are swapped where `to_world` mirrors.
        """
        return tets[:, [0, 2, 1, 3]] if np.linalg.det(self.to_world[:3, :3]) < 0.0 else tets


def pose_of(job: Job, surface: schema.Surface) -> ObjectPose | None:
    """Return the transforms of a surface at the start frame; None where the job has it in the world only.

    Raises numpy.linalg.LinAlgError where its matrix cannot be inverted, which `job.validate` refuses.
    """
    if surface.object_vertices is None:
        return None
    back: NDArray[Any] = np.eye(4) if surface.to_object is None else job.array(surface.to_object)[0]
    to_world = np.linalg.inv(back)
    # polar decomposition: a symmetric stretch, then a rotation, mirrored or not
    _, stretch, axes = np.linalg.svd(to_world[:3, :3])
    largest = float(f"{stretch[0]:.{DIGITS}g}")
    scale = largest * np.round((axes.T * stretch) @ axes / largest, DIGITS) + 0.0
    to_world[:3, :3] = to_world[:3, :3] @ np.linalg.inv(scale)
    return ObjectPose(scale, to_world)


def vertices_to_fill(job: Job, surface: schema.Surface) -> Vec:
    """Return the vertices of a surface in mesh space, (n, 3) [m], which do not change where the object is rotated.

    Mesh space is object space with its scale, or the world where the job has no object space.
    """
    pose = pose_of(job, surface)
    vertices: Vec = (job.array(surface.vertices) if pose is None
                     else pose.scale_vertices(job.array(surface.object_vertices or "")))
    return vertices
