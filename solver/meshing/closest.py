"""Nearest points on triangles, and normals that show on which side of a sheet a point is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..state import Vec


def vertex_normals(points: Vec, triangles: NDArray) -> Vec:
    """Return area-weighted unit normals of points (n, 3), (n, 3); zero where the triangles (m, 3) around one do not
    agree on a side."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    area2 = np.linalg.norm(across, axis=1)
    count = len(points)
    corner = triangles.T.ravel()
    normals = np.stack([np.bincount(corner, np.tile(across[:, i], 3), count) for i in range(3)], axis=1)
    length, around = np.linalg.norm(normals, axis=1), np.bincount(corner, np.tile(area2, 3), count)
    clear = length > 0.3 * around
    unit: Vec = np.where(clear[:, None], normals / np.where(clear, length, 1.0)[:, None], 0.0)
    return unit


def closest_weights(points: Vec, corners: Vec) -> Vec:
    """Return the barycentric weights (..., 3) of the point of each triangle nearest to points (..., 3); corners (...,
    3, 3).

    Shapes broadcast. A triangle without area counts as its sides.
    """
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    across = np.cross(b - a, c - a)
    area2 = np.einsum("...k,...k", across, across)
    shape = np.broadcast_shapes(points.shape, a.shape)[:-1]
    best, weights = np.full(shape, np.inf), np.zeros((*shape, 3))
    inner = np.ones(shape, dtype=bool) & (area2 > 1e-300)
    over = np.zeros((*shape, 3))
    for i, (p, q) in enumerate(((a, b), (b, c), (c, a))):
        side, to_point = q - p, points - p
        length2 = np.maximum(np.einsum("...k,...k", side, side), 1e-300)
        along = np.clip(np.einsum("...k,...k", to_point, side) / length2, 0.0, 1.0)
        gap = to_point - along[..., None] * side
        away = np.einsum("...k,...k", gap, gap)
        nearer = away < best
        best = np.where(nearer, away, best)
        on_side = np.zeros((*shape, 3))
        on_side[..., i], on_side[..., (i + 1) % 3] = 1.0 - along, along
        weights = np.where(nearer[..., None], on_side, weights)
        # the area towards the third corner, seen along the normal
        over[..., (i + 2) % 3] = np.einsum("...k,...k", np.cross(side, to_point), across) / np.maximum(area2, 1e-300)
    inner &= (over >= 0.0).all(axis=-1)
    return np.where(inner[..., None], over, weights)


def triangle_distances(points: Vec, corners: Vec) -> Vec:
    """Return the distances from points (..., 3) to triangles with corners (..., 3, 3); shapes broadcast."""
    nearest = np.einsum("...i,...ij->...j", closest_weights(points, corners), corners)
    distances: Vec = np.linalg.norm(points - nearest, axis=-1)
    return distances
