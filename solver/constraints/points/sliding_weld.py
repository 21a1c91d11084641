"""Sliding weld: two bodies stay at their distance where they are near each other, and slide along each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...coordinates.prescribed import Constant
from ...errors import BadScene
from ...forces.stencils import ElasticBody
from ...forces.weld import areas, find_near_points, patches, refuse_distant
from ...meshing.closest_kernels import nearest_triangles
from ...state import Index, Mask, Vec
from .point_constraint import PointConstraint
from .rows import PointRows

ROUND = 1.0e-9  #: of a triangle's size: less is rounding


class SlidingWeld(PointConstraint):
    """Weld of two bodies that slide along each other: each point of the first body's skin that is near the second body
    keeps its distance from it, whichever of its faces is nearest at the time: a hard row a point along the face's
    normal, and no force along the face.

    A point that slides over a border of the second body comes off there. [Notes, Hard Constraints]
    """

    def __init__(self, bodies: Sequence[ElasticBody], rest: Vec, params: Mapping[str, float]) -> None:
        """params: `distance` [m] within which points are welded; `stiffness` [N/m³], for each m² of skin, with which
        the end of a step is found; `lasts` [s], the time at which the weld ends, 0 for never. Raises BadScene where
        there are not two bodies, or they are not near each other."""
        if len(bodies) != 2:
            raise BadScene("a weld joins two bodies", "Name the two soft bodies that slide along each other")
        glued, base = bodies
        points = find_near_points(glued, base, rest, params["distance"])[0] if len(base.skin) else np.zeros(0, np.int32)
        kind = DistanceConstraint(points, base.skin, rest)
        points = points[kind.is_over_surface()]
        refuse_distant(glued, base, points, params["distance"])
        whole = (areas(glued.skin, rest) + patches(glued.wires, rest))[points]
        super().__init__(DistanceConstraint(points, base.skin, rest), params["stiffness"] * float(whole.mean()),
                         Constant(np.zeros(1)), lasts=params["lasts"] or np.inf)


class DistanceConstraint:
    """Distance constraint φ = ± |y| − g of each point to a surface, y from the nearest point of the surface, g the
    value of ± |y| at the start. A row is idle where the nearest point is on a border of the surface and its own point
    is beyond the border."""

    def __init__(self, points: Index, skin: Index, rest: Vec) -> None:
        """points: nodes, (k,). skin: triangles of the surface, (t, 3). rest: of all nodes, (n, 3) [m]."""
        self.joints = len(points)
        self._points, self._skin = points.astype(np.int64), np.ascontiguousarray(skin, dtype=np.int32)
        self._is_border = border(skin)
        self._gaps, self._rest, self._side = np.zeros(len(points)), rest, np.ones(len(points))
        if len(points) and len(skin):
            # a point stays on its side; right over an edge of the skin it is in the plane of one of two faces, where
            # rounding would choose another side in each step
            self._side = np.where(self._nearest(rest)[3] < 0.0, -1.0, 1.0)
            self._gaps = self.rows(rest, 0.0).value

    def is_over_surface(self) -> Mask:
        """Return a mask of the points that are over the surface at the start, and not beyond a border of it, (k,)."""
        is_over: Mask = self.rows(self._rest, 0.0).direction.any(axis=1) if len(self._points) else np.zeros(0, bool)
        return is_over

    def _nearest(self, x: Vec) -> tuple[npt.NDArray[np.int64], Vec, Vec, Vec, Vec, Mask]:
        """Return the face nearest to each point, (k,), weights of its corners at the nearest point of it, (k, 3), y,
        (k, 3) [m], the component of y along the face's normal, (k,) [m], the normal, (k, 3), and whether the nearest
        point is on an edge or a corner that the point is not right above, (k,)."""
        corners = x[self._skin]
        sides = corners[:, 1:] - corners[:, :1]
        reach = np.sqrt(np.einsum("tsi,tsi->ts", sides, sides).max(axis=1))
        positions, face, weights = x[self._points], np.zeros(self.joints, np.int64), np.zeros((self.joints, 3))
        nearest_triangles(positions, self._skin, x, reach, face, weights)
        normal = np.cross(sides[face, 0], sides[face, 1])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        y, least = positions - np.einsum("kj,kji->ki", weights, corners[face]), ROUND * reach[face]
        along = np.einsum("ki,ki->k", y, normal)
        is_over = np.linalg.norm(y, axis=1) - np.abs(along) > least
        return face, weights, y, np.where(np.abs(along) > least, along, 0.0), normal, is_over

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return one row for each point at positions (n, 3) [m]."""
        face, weights, y, along, normal, is_over = self._nearest(x)
        nodes, away = np.concatenate([self._points[:, None], self._skin[face]], axis=1), np.linalg.norm(y, axis=1)
        # over an edge or a corner the value is the distance to it, so that it is continuous from face to face
        direction = np.where(is_over[:, None], self._side[:, None] * y / np.maximum(away, 1e-300)[:, None], normal)
        direction[((weights == 0.0) & self._is_border[face]).any(axis=1) & is_over] = 0.0
        value = np.where(direction.any(axis=1), np.where(is_over, self._side * away, along) - self._gaps, 0.0)
        return PointRows(nodes, np.concatenate([np.ones((self.joints, 1)), -weights], axis=1), 1,
                         np.arange(self.joints), value, direction, np.zeros(self.joints),
                         np.zeros(self.joints, dtype=bool))


def border(triangles: Index) -> Mask:
    """Return a mask of the sides that triangles (t, 3) do not share with another one, (t, 3): column j is the side
    without corner j."""
    sides = np.sort(np.stack([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]], axis=1), axis=2)
    _, inverse, counts = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True, return_counts=True)
    is_single: Mask = (counts == 1)[inverse.ravel()].reshape(-1, 3)
    return is_single
