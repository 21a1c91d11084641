"""Output of a cloth whose mesh changes: the artist's own vertices in it, and the mesh itself at each frame.

Everything that an artist painted is a function on the material space of the mesh at rest. So a frame stores for each
corner of its faces which of the artist's triangles contains it, which is enough to evaluate all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..state import Index, Vec
from .locate_faces import barycentric_weights, containing_faces

INTO = 1.0e-3  #: fraction of the distance to its middle by which a face is shrunk: then no corner lies on a seam


class StepMesh(Protocol):
    """Mesh of a cloth after a step."""

    @property
    def x(self) -> Vec:
        """Return positions of the vertices in the world, (n, 3) [m]."""

    @property
    def material(self) -> Vec:
        """Return X, positions of the vertices in material space, (n, 2) [m]."""

    @property
    def faces(self) -> Index:
        """Return the vertices of each face, (m, 3)."""

    @property
    def slide(self) -> Vec:
        """Return Ẋ, velocities of the vertices in material space, (n, 2) [m/s]."""

    @property
    def on(self) -> Index:
        """Return the feature on which each vertex lies, (n,); -1 for none."""

    @property
    def polar_gradients(self) -> Vec:
        """Return F at the vertices, (n, 3, 2): rotations and stretches of faces averaged separately."""


@dataclass(frozen=True)
class SheetRecord:
    """The mesh of a cloth at one frame, in object space."""

    x: Vec  #: [m], (n, 3)
    material: Vec  #: X [m], (n, 2)
    faces: Index  #: (m, 3)
    source: Index  #: (m, 3): the artist's triangle that each corner lies in, seen from the inside of its face
    sliding: Index  #: (k,): vertices that sit on something sharp
    speed: Vec  #: (k, 3) [m/s]: how fast the cloth moves through them, −F Ẋ
    rest: Vec  #: X of the artist's vertices [m], (N, 2)


class ShownSheet:
    """Output of one cloth at frames."""

    def __init__(self, rest: Vec, material: Vec, triangles: Index, to_object: Vec | None = None) -> None:
        """rest: the artist's vertices in the world at the start frame [m], (N, 3); vertices of no face do not move.
        material: their X [m], (N, 2). triangles: (M, 3). to_object: world to object space at each frame, (f, 4, 4)."""
        # copies, since kernels take no read-only arrays
        self.material, self._triangles = np.array(material, dtype=float), np.array(triangles, dtype=np.int32)
        self._to_object = to_object
        self._rest, self._used = rest, np.unique(triangles)

    def vertices(self, mesh: StepMesh, frame: int) -> Vec:
        """Return the artist's vertices at the present positions of their material, in object space at the frame-th
        frame, counted from 0, (N, 3) [m]."""
        points = self.material[self._used]
        corners = mesh.faces[containing_faces(points, mesh.material, mesh.faces)]
        weights = barycentric_weights(points, mesh.material, corners)
        out = self._rest.copy()
        out[self._used] = np.einsum("pk,pki->pi", weights, mesh.x[corners])
        return self._in_object_space(out, frame, 1.0)

    def record(self, mesh: StepMesh, frame: int) -> SheetRecord:
        """Return the mesh at the frame-th frame, counted from 0."""
        corners = mesh.material[mesh.faces]
        middle = corners.mean(axis=1, keepdims=True)
        inside = (corners + INTO * (middle - corners)).reshape(-1, 2)
        source = containing_faces(inside, self.material, self._triangles).reshape(-1, 3)
        sliding = np.flatnonzero(mesh.on >= 0).astype(np.int32)
        speed = -np.einsum("kij,kj->ki", mesh.polar_gradients[sliding], mesh.slide[sliding])
        return SheetRecord(self._in_object_space(mesh.x, frame, 1.0), mesh.material, mesh.faces, source, sliding,
                           self._in_object_space(speed, frame, 0.0), self.material)

    def _in_object_space(self, vectors: Vec, frame: int, moved: float) -> Vec:
        """Return positions, or directions where `moved` is 0, in object space."""
        if self._to_object is None:
            return vectors
        matrix = self._to_object[min(frame, len(self._to_object) - 1)]
        local: Vec = vectors @ matrix[:3, :3].T + moved * matrix[:3, 3]
        return local
