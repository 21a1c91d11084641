"""Cut along an infinite plane."""

from __future__ import annotations

import numpy as np

from ...job import schema
from ...state import Mask, Vec
from .interface import SHIFT, Arrays, Shape, between_centres


class Plane:
    """Cut that separates the body in front of a plane from the body behind the plane."""

    def __init__(self, cut: schema.Cut, arrays: Arrays, shape: Shape) -> None:
        normal = np.array(cut.normal, dtype=np.float64)
        self.normal: Vec = normal / np.linalg.norm(normal)
        self.point: Vec = np.array(cut.point, dtype=np.float64) - SHIFT * shape.size * self.normal

    def faces(self, shape: Shape) -> tuple[Mask, Mask]:
        """Return whether each face of `shape.inner` separates, (k,), and whether each tetrahedron is reassigned, (e,):
        the plane passes between the centroids."""
        return between_centres(self, shape)

    def intersections(self, a: Vec, b: Vec) -> Vec:
        """Return the fraction in [0, 1] at which each segment from a to b, (k, 3) [m], meets the plane, (k,); NaN where
        it does not."""
        height, other = (a - self.point) @ self.normal, (b - self.point) @ self.normal
        intersects = (height >= 0.0) != (other >= 0.0)
        fractions: Vec = np.full(len(a), np.nan)
        fractions[intersects] = height[intersects] / (height[intersects] - other[intersects])
        return fractions
