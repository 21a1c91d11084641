"""Cut along an open or closed mesh of triangles."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...job import schema
from ...meshing.closest import vertex_normals
from ...state import Index, Mask, Vec
from .interface import SHIFT, Arrays, Shape, between_centres

CHUNK = 20_000  # segments that are tested at once


class CuttingSheet:
    """Cut along a sheet, which separates the ends of segments that it crosses an odd number of times."""

    def __init__(self, cut: schema.Cut, arrays: Arrays, shape: Shape) -> None:
        assert cut.vertices is not None and cut.triangles is not None
        self._build(arrays(cut.vertices), arrays(cut.triangles), shape.size)

    @classmethod
    def of(cls, vertices: Vec, triangles: Index, size: float) -> CuttingSheet:
        """Return a sheet with these vertices [m], (s, 3), and triangles, (t, 3), for a body of this size [m]."""
        sheet = cls.__new__(cls)
        sheet._build(vertices, triangles, size)
        return sheet

    def _build(self, vertices: Vec, triangles: Index, size: float) -> None:
        self.vertices: Vec = vertices - SHIFT * size * vertex_normals(vertices, triangles)
        self.triangles = triangles
        corners = self.vertices[triangles]
        centres = corners.mean(axis=1)
        self._radius = float(np.linalg.norm(corners - centres[:, None], axis=2).max())
        self._tree = cKDTree(centres)

    def faces(self, shape: Shape) -> tuple[Mask, Mask]:
        """Return whether each face of `shape.inner` separates, (k,), and whether each tetrahedron is reassigned, (e,):
        the sheet passes between the centroids."""
        return between_centres(self, shape)

    def intersections(self, a: Vec, b: Vec) -> Vec:
        """Return the fraction in [0, 1] at which each segment from a to b, (k, 3) [m], first meets the sheet, (k,); NaN
        where it crosses the sheet an even number of times."""
        first, odd = np.full(len(a), np.inf), np.zeros(len(a), dtype=bool)
        for start in range(0, len(a), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(a)))
            reach = self._radius + 0.5 * np.linalg.norm(b[rows] - a[rows], axis=1)
            near = self._tree.query_ball_point(0.5 * (a[rows] + b[rows]), reach, return_sorted=True)
            counts = np.fromiter(map(len, near), dtype=np.int64, count=len(rows))
            which = np.repeat(rows, counts)
            if not len(which):
                continue
            triangle = np.concatenate([np.asarray(candidates, dtype=np.int64) for candidates in near if candidates])
            fraction, intersects = self._intersect(a[which], b[which], triangle)
            np.minimum.at(first, which[intersects], fraction[intersects])
            np.logical_xor.at(odd, which[intersects], True)
        return np.where(odd, np.clip(first, 0.0, 1.0), np.nan)

    def _intersect(self, a: Vec, b: Vec, triangle: np.ndarray) -> tuple[Vec, Mask]:
        """Return the fraction at which segments meet the plane of a triangle, (k,), and whether inside of it, (k,).

        a, b: ends, (k, 3) [m]. triangle: (k,). The side of an edge is computed identically for both of its triangles,
        so that no segment passes between these.
        """
        corners = self.triangles[triangle]
        p = self.vertices[corners]
        along = b - a
        positive = []
        for i, j in ((0, 1), (1, 2), (2, 0)):
            swapped = corners[:, i] > corners[:, j]
            low = np.where(swapped[:, None], p[:, j], p[:, i]) - a
            high = np.where(swapped[:, None], p[:, i], p[:, j]) - a
            positive.append((np.einsum("ij,ij->i", along, np.cross(low, high)) >= 0.0) != swapped)
        inside = (positive[0] == positive[1]) & (positive[1] == positive[2])
        normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        height = np.einsum("ij,ij->i", a - p[:, 0], normal)
        other = np.einsum("ij,ij->i", b - p[:, 0], normal)
        intersects = inside & ((height >= 0.0) != (other >= 0.0))
        fraction = np.zeros(len(a))
        fraction[intersects] = height[intersects] / (height[intersects] - other[intersects])
        return fraction, intersects
