"""Frames of a cache in world space; the cache itself has them in the space of their objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..frames.read import Cache
from ..job import schema
from ..job.folder import Job
from ..state import Index, Vec


class InWorld:
    """Reader of the frames of one bake in world space, with the transforms of the objects from its job folder."""

    def __init__(self, job: Job, cache: Cache) -> None:
        self.job, self.cache = job, cache
        self._bodies = {body.name: body for body in job.scene.bodies}
        self._triangles: dict[str, Index] = {}

    def vertices(self, frame: int) -> dict[str, Vec]:
        """Return the vertices at a frame, (n, 3) [m] by name, of every body that both the job and the cache have.

        Raises NoSuchThing where the frame is not baked, BadInput where it is damaged.
        """
        return {name: self._transform(self._bodies[name], frame, points)
                for name, points in self.cache.read_all_vertices(frame).items() if name in self._bodies}

    def read_rigid_centres(self, frame: int) -> Vec:
        """Return centres of mass of rigid bodies at a frame, (b, 3) [m].

        Raises NoSuchThing where the frame is not baked, BadInput where it is damaged.
        """
        if not self.cache.mechanisms():
            return np.zeros((0, 3))
        centres: Vec = self.cache.poses(frame)["pose"][:, :3, 3]
        return centres

    def triangles(self, name: str) -> Index:
        """Return the visible triangles of a body, (t, 3): its surface, of a volume without one its boundary."""
        if name not in self._triangles:
            cuts, body = self.cache.cuts.get(name), self._bodies[name]
            if cuts and len(cuts[-1].triangles):
                self._triangles[name] = cuts[-1].triangles
            elif body.surface is not None:
                self._triangles[name] = self.job.array(body.surface.triangles)
            else:
                from ..meshing.volume import boundary_faces

                assert body.tets is not None
                self._triangles[name] = boundary_faces(self.job.array(body.tets.tets))[0]
        return self._triangles[name]

    def _transform(self, body: schema.Body, frame: int, points: NDArray[Any]) -> Vec:
        if body.surface is None or body.surface.to_object is None:
            return points.astype(float)
        matrices = self.job.array(body.surface.to_object)
        to_world = np.linalg.inv(matrices[min(frame - self.job.frames[0], len(matrices) - 1)])
        placed: Vec = points @ to_world[:3, :3].T + to_world[:3, 3]
        return placed
