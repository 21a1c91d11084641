"""Simplification of a surface: fewer triangles that are near the original ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec
from .normals import unit_normals
from .thinning_kernels import collapse_edges


@dataclass(frozen=True)
class ThinnedSurface:
    """A simplified surface: triangles between some of the original vertices."""

    triangles: Index  #: indices of the original vertices, (t, 3)
    outside: Vec  #: largest distance of removed vertices in front of each triangle [m], (t,)


def simplify_surface(x: Vec, triangles: Index, tolerance: float, longest: float) -> ThinnedSurface:
    """Return a surface with fewer triangles, within a tolerance [m] of all original vertices.

    x: (n, 3) [m]. triangles: (m, 3). longest: largest length of new edges [m]. Borders and non-manifold parts do not
    change.
    """
    x, work = np.ascontiguousarray(x, dtype=float), np.array(triangles, np.int32, order="C")
    corners = work.ravel()
    # the corners of each vertex as a list, the highest number first
    head, after = np.full(len(x), -1, np.int32), np.full(len(corners), -1, np.int32)
    order = np.lexsort((np.arange(len(corners)), corners)).astype(np.int32)
    same = corners[order[1:]] == corners[order[:-1]]
    after[order[1:][same]] = order[:-1][same]
    last = np.r_[~same, True] if len(order) else np.zeros(0, dtype=bool)
    head[corners[order[last]]] = order[last]
    of, following = np.full(len(x), -1, np.int32), np.full(len(x), -1, np.int32)
    collapse_edges(x, work, head, after, tolerance, longest, np.full(len(work), -1, np.int32), following, of)
    is_left = work[:, 0] >= 0
    outside, removed = np.zeros(len(work)), np.flatnonzero(of >= 0)
    normals = unit_normals(x, np.where(is_left[:, None], work, 0))
    np.maximum.at(outside, of[removed],
                  np.einsum("gi,gi->g", normals[of[removed]], x[removed] - x[work[of[removed], 0]]))
    return ThinnedSurface(np.ascontiguousarray(work[is_left]), outside[is_left])
