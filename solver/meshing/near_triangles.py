"""Triangles of a surface near given points, from samples that are spread over it."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..state import Index, Vec
from .cells import spread

MOST = 300_000  #: samples of the surface
CANDIDATES = 24  #: samples of the surface that a point may be next to
FINER = 4.0  #: than edges of tetrahedra are distances between samples of the surface


def least_spacing(x: Vec, triangles: Index) -> float:
    """Return the spacing of `MOST` samples on a surface, in the units of its vertices x, (n, 3). triangles: (t, 3)."""
    area = 0.5 * float(np.linalg.norm(np.cross(x[triangles[:, 1]] - x[triangles[:, 0]],
                                               x[triangles[:, 2]] - x[triangles[:, 0]]), axis=1).sum())
    return float(np.sqrt(4.0 * area / MOST))


def find_near_triangles(points: Vec, x: Vec, triangles: Index, edge: float) -> Index:
    """Return some triangles near each of points (p, 3), as indices of triangles (t, 3) of vertices x (n, 3), (p, k),
    possibly repeated.

    edge: length of edges of the tetrahedra that fill the surface, in the units of x.
    """
    samples, of_triangle = spread(x, triangles, max(edge / FINER, least_spacing(x, triangles)))
    _, near = cKDTree(samples).query(points, min(CANDIDATES, len(samples)))
    triangles_near: Index = of_triangle[near.reshape(len(points), -1)]
    return triangles_near
