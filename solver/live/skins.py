"""Surfaces of live bodies as they meet each other: points all over them, and which of these are inside of others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.cells import spread
from ..state import Index, Vec

FINE = 32.0  #: points along the diagonal of a body
DEEP = 0.15  #: of the smaller diagonal: what is deeper inside than this is not pushed, it may as well be behind
NEAR = 4  #: points that are asked which side of a surface a place is on
INWARDS = 0.15  #: of the way to the middle of its triangle, that a point is off its edges
DELAY = 0.5  #: of a step: damping of what is pushed, as a share of its stiffness
RESTS = 0.5  #: Coulomb's coefficient where none is given


class Skin:
    """Points all over a surface of triangles, each a mean of three corners."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: at rest, (n, 3) [m]; triangles: (t, 3), their normals outwards."""
        self.diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        spacing = max(self.diagonal, 1e-9) / FINE
        points, face = middles(vertices, triangles, spacing)
        # fine meshes have more than enough: one point in each box of the spacing
        _, first = np.unique(np.floor((points - vertices.min(axis=0)) / spacing).astype(np.int64), axis=0,
                             return_index=True)
        points, face = points[np.sort(first)], face[np.sort(first)]
        self.corners: Index = triangles[face]  #: (k, 3)
        self.weights: Vec = _shares(points, vertices[self.corners])  #: of the corners, (k, 3)

    def points(self, vertices: Vec) -> Vec:
        """Where its points are, (k, 3) [m], with the vertices at (n, 3) [m]."""
        found: Vec = np.einsum("kc,kcd->kd", self.weights, vertices[self.corners])
        return found

    def normals(self, vertices: Vec) -> Vec:
        """Outwards, (k, 3), unit length."""
        a, b, c = (vertices[self.corners[:, i]] for i in range(3))
        across = np.cross(b - a, c - a)
        found: Vec = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
        return found


def middles(vertices: Vec, triangles: Index, spacing: float) -> tuple[Vec, Index]:
    """Points all over triangles as of `meshing.cells.spread`, but none on an edge, where the normal is of two."""
    points, face = spread(vertices, triangles, spacing)
    return points + INWARDS * (vertices[triangles[face]].mean(axis=1) - points), face


def inside_of(tree: cKDTree, points: Vec, normals: Vec, places: Vec, deep: float) -> tuple[Index, Index, Vec]:
    """Which places (p, 3) [m] are inside of a surface of which points and normals are known, (k, 3), by which of these
    each leaves it soonest, and how far that is, negative: (m,) each. deep: what is deeper [m] is not looked for."""
    near = min(NEAR, len(points))
    away, which = tree.query(places, k=near, distance_upper_bound=deep)
    away, which = away.reshape(-1, near), which.reshape(-1, near)
    some = np.flatnonzero(np.isfinite(away[:, 0]))
    which = np.where(np.isfinite(away[some]), which[some], which[some, :1])
    height = np.einsum("pkc,pkc->pk", places[some, None] - points[which], normals[which])
    best = height.argmax(axis=1)
    height = height[np.arange(len(some)), best]
    inside = height < 0.0
    return some[inside], which[np.arange(len(some)), best][inside], height[inside]


def _shares(points: Vec, corners: Vec) -> Vec:
    """Barycentric coordinates (k, 3) of points (k, 3) in triangles (k, 3, 3)."""
    u, v, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], points - corners[:, 0]
    uu, uv, vv, wu, wv = (np.einsum("ij,ij->i", p, q) for p, q in ((u, u), (u, v), (v, v), (w, u), (w, v)))
    area = np.maximum(uu * vv - uv * uv, 1e-300)
    second, third = (vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area
    return np.stack([1.0 - second - third, second, third], axis=1)


class Standing:
    """One body at the end of a step, for what it meets in that."""

    def __init__(self, skin: Skin, vertices: Vec, before: Vec, touching: Vec, touching_before: Vec) -> None:
        """vertices, before: of its mesh at the step's end and start, (n, 3) [m]. touching: of the points by which it
        touches, (s, 3) [m]."""
        self.skin, self.touching, self.touching_before = skin, touching, touching_before
        self.low, self.high = vertices.min(axis=0), vertices.max(axis=0)
        self._vertices, self._before = vertices, before
        self._tree: cKDTree | None = None

    def surface(self) -> tuple[cKDTree, Vec, Vec, Vec]:
        """A tree of the points of its surface, these, their normals, and where they were, (k, 3) each."""
        if self._tree is None:
            self._points, self._normals = self.skin.points(self._vertices), self.skin.normals(self._vertices)
            self._points_before = self.skin.points(self._before)
            self._tree = cKDTree(self._points)
        return self._tree, self._points, self._normals, self._points_before


@dataclass(frozen=True)
class Meeting:
    """Points of one body that are inside of another one."""

    points: Index  #: among the touching points of the first, (k,)
    places: Index  #: among the points of the second's surface, (k,)
    normals: Vec  #: of that surface, (k, 3)
    gaps: Vec  #: along these, at the step's end, negative [m], (k,)
    gaps_before: Vec  #: and at its start
    slides: Vec  #: how far the first's have moved along the second's surface in the step [m], (k, 3)


def meeting(one: Standing, other: Standing, most: int) -> Meeting | None:
    """Which touching points of `one` are inside of `other`, the `most` deepest; None where none is."""
    if (one.low > other.high).any() or (other.low > one.high).any():
        return None
    near = np.flatnonzero(((one.touching > other.low) & (one.touching < other.high)).all(axis=1))
    if not len(near):
        return None
    tree, points, normals, points_before = other.surface()
    found, which, height = inside_of(tree, points, normals, one.touching[near],
                                     DEEP * min(one.skin.diagonal, other.skin.diagonal))
    if not len(found):
        return None
    deepest = np.sort(np.argsort(height, kind="stable")[:most])
    near, which, height = near[found[deepest]], which[deepest], height[deepest]
    normal, before = normals[which], one.touching_before[near] - points_before[which]
    moved = one.touching[near] - points[which] - before
    slides = moved - np.einsum("ij,ij->i", moved, normal)[:, None] * normal
    return Meeting(near, which, normal, height, np.einsum("ij,ij->i", before, normal), slides)
