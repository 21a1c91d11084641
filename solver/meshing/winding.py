"""Generalized winding number of a surface around points."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec

CHUNK = 2_000_000  # point-triangle pairs at a time, about 300 MB


def winding_numbers(points: Vec, vertices: Vec, triangles: Index) -> Vec:
    """Return the winding number of the surface around each point, (p,): 1 inside, 0 outside, in between near an open
    border.

    points: (p, 3); vertices: (n, 3); triangles: (m, 3). A sum of solid angles. [Jacobson 2013]
    """
    winding = np.zeros(len(points))
    step = max(1, CHUNK // max(1, len(triangles)))
    for start in range(0, len(points), step):
        block = points[start:start + step, None]
        a, b, c = (vertices[triangles[:, i]][None] - block for i in range(3))
        la, lb, lc = (np.sqrt(np.einsum("ijk,ijk->ij", side, side)) for side in (a, b, c))
        numerator = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
        denominator = (la * lb * lc + np.einsum("ijk,ijk->ij", a, b) * lc + np.einsum("ijk,ijk->ij", b, c) * la
                       + np.einsum("ijk,ijk->ij", c, a) * lb)
        winding[start:start + step] = np.arctan2(numerator, denominator).sum(axis=1) / (2.0 * np.pi)
    return winding
