"""Cut along faces that are listed by their nodes."""

from __future__ import annotations

import numpy as np

from ...errors import BadScene
from ...job import schema
from ...meshing.closest import vertex_normals
from ...meshing.volume import boundary_faces, tet_faces
from ...state import Index, Mask, Vec
from .interface import Arrays, Shape
from .sheet import CuttingSheet


class Faces:
    """Cut that separates listed faces, where these are not already separated by an earlier cut."""

    def __init__(self, cut: schema.Cut, arrays: Arrays, shape: Shape) -> None:
        """Raise BadScene where a listed face belongs to no tetrahedron."""
        assert cut.faces is not None
        corners, _ = tet_faces(shape.tets)
        listed, known = (np.sort(rows, axis=1).astype(np.int64)
                         for rows in (arrays(cut.faces), shape.origin[corners]))
        count = int(shape.origin.max()) + 1
        keys = (known[:, 0] * count + known[:, 1]) * count + known[:, 2]
        listed_keys = (listed[:, 0] * count + listed[:, 1]) * count + listed[:, 2]
        unknown = np.flatnonzero(~np.isin(listed_keys, keys))
        if len(unknown):
            raise BadScene(f"face {int(unknown[0])} of the list, with nodes {listed[unknown[0]].tolist()}, belongs to "
                           "no tetrahedron", "Correct the list")
        self._is_listed = np.isin(keys, listed_keys)
        rows = shape.inner[self._is_listed[shape.inner[:, 0]], 0]
        self._sheet = _beyond_the_surface(shape, corners[rows]) if len(rows) else None

    def faces(self, shape: Shape) -> tuple[Mask, Mask]:
        """Return whether each face of `shape.inner` is listed, (k,), and that no tetrahedron is reassigned, (e,)."""
        return self._is_listed[shape.inner[:, 0]], np.zeros(len(shape.tets), dtype=bool)

    def intersections(self, a: Vec, b: Vec) -> Vec:
        """Return the fraction in [0, 1] at which each segment from a to b, (k, 3) [m], meets the listed faces or their
        extension beyond the boundary, (k,); NaN where it does not."""
        return np.full(len(a), np.nan) if self._sheet is None else self._sheet.intersections(a, b)


def _beyond_the_surface(shape: Shape, faces: Index) -> CuttingSheet:
    """Return a sheet of the faces, (f, 3), extended by the mean length of an edge where it meets the boundary.

    The artist's mesh, which may be slightly outside the tetrahedra, is cut by this sheet as well.
    """
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    _, first, counts = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    rim = edges[first[counts == 1]]
    border = boundary_faces(shape.tets)[0]
    outside = np.zeros(len(shape.x), dtype=bool)
    outside[border] = True
    rim = rim[outside[rim].all(axis=1)]
    length = float(np.linalg.norm(shape.x[edges[:, 0]] - shape.x[edges[:, 1]], axis=1).mean())
    ends = np.unique(rim)
    vertices = np.concatenate([shape.x, shape.x[ends] + length * vertex_normals(shape.x, border)[ends]])
    a, b = rim[:, 0], rim[:, 1]
    far_a, far_b = (len(shape.x) + np.searchsorted(ends, side) for side in (a, b))
    skirt = np.concatenate([np.stack([b, a, far_a], axis=1), np.stack([b, far_a, far_b], axis=1)])
    return CuttingSheet.of(vertices, np.concatenate([faces, skirt]).astype(np.int32), shape.size)
