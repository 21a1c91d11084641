"""Surfaces of live bodies as they meet each other: points all over them, and which of these are inside of others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..meshing.cells import spread
from ..meshing.normals import unit_normals
from ..state import Index, Vec

FINE = 32.0  #: points along the diagonal of a body
DEEP = 0.15  #: of the smaller diagonal: what is deeper inside than this is not pushed, it may as well be behind
NEAR = 4  #: nearest points that decide which side of a surface a position is on
INWARDS = 0.15  #: of the way to the middle of its triangle, that a point is off its edges
OFF = 4.0  #: times a triangle's own size, that what is pushed may be off it
RESTS = 0.5  #: Coulomb's coefficient where none is given


class Skin:
    """Points all over a surface of triangles, each a mean of three corners."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: at rest, (n, 3) [m]; triangles: (t, 3), their normals outwards."""
        self.diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        self.spacing = spacing = max(self.diagonal, 1e-9) / FINE  #: between points [m]
        points, face = middles(vertices, triangles, spacing)
        # fine meshes have more than enough: one point in each box of the spacing
        _, first = np.unique(np.floor((points - vertices.min(axis=0)) / spacing).astype(np.int64), axis=0,
                             return_index=True)
        points, face = points[np.sort(first)], face[np.sort(first)]
        self.corners: Index = triangles[face]  #: (k, 3)
        self.weights: Vec = _shares(points, vertices[self.corners])  #: of the corners, (k, 3)

    def below(self, which: Index, places: Vec, vertices: Vec) -> Vec:
        """Shares (k, 3) of the corners of some points' triangles that make the places (k, 3) [m] nearest to others:
        straight below them, or the points themselves where that is far off. vertices: (n, 3) [m]."""
        found = _shares(places, vertices[self.corners[which]])
        far = np.abs(found).max(axis=1) > OFF
        found[far] = self.weights[which[far]]
        return found

    def points(self, vertices: Vec) -> Vec:
        """Return positions of its points, (k, 3) [m], with the vertices at (n, 3) [m]."""
        found: Vec = np.einsum("kc,kcd->kd", self.weights, vertices[self.corners])
        return found

    def normals(self, vertices: Vec) -> Vec:
        """Outwards, (k, 3), unit length."""
        return unit_normals(vertices, self.corners)


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
    """One body in a step, as the others collide with it."""

    def __init__(self, skin: Skin, vertices: Vec, before: Vec, touching: Vec, touching_before: Vec) -> None:
        """vertices, before: of its mesh at the step's end and start, (n, 3) [m]. touching: of the points by which it
        touches, (s, 3) [m]."""
        self.skin, self.touching, self.touching_before = skin, touching, touching_before
        self.low, self.high = before.min(axis=0), before.max(axis=0)
        #: how far any of it moves in the step [m]
        self.farthest = float(np.sqrt(((vertices - before) ** 2).sum(axis=1).max(initial=0.0)))
        self.vertices, self.before = vertices, before
        self._surface: tuple[cKDTree, Vec, Vec] | None = None

    def surface(self) -> tuple[cKDTree, Vec, Vec]:
        """A tree of the points of its surface where the step starts, these, and their normals, (k, 3) each."""
        if self._surface is None:
            points = self.skin.points(self.before)
            self._surface = cKDTree(points), points, self.skin.normals(self.before)
        return self._surface


@dataclass(frozen=True)
class Meeting:
    """Points of one body that a step takes into another one."""

    points: Index  #: among the touching points of the first, (k,)
    corners: Index  #: vertices of the second's mesh, (k, 3)
    weights: Vec  #: what these three count at the place that each is pushed from, (k, 3)
    normals: Vec  #: of that surface, (k, 3)
    gaps: Vec  #: along these, at the step's end [m], (k,), negative inside
    gaps_before: Vec  #: and at its start
    slides: Vec  #: how far the first's have moved along the second's surface in the step [m], (k, 3)


def meeting(one: Standing, other: Standing, most: int) -> Meeting | None:
    """Which touching points of `one` are inside of `other` at a step's end, the `most` deepest; None where none is.

    Each is pushed out of the side that it stood on when the step began. A point that has gone deep in a step is nearer
    to sides that it did not come through: at edges these would throw bodies off each other that lie on each other.
    """
    reach = one.farthest + other.farthest
    low, high = other.low - reach, other.high + reach
    near = np.flatnonzero(((one.touching_before > low) & (one.touching_before < high)).all(axis=1))
    if not len(near):
        return None
    tree, points, normals = other.surface()
    deep = DEEP * min(one.skin.diagonal, other.skin.diagonal)
    places = one.touching_before[near]
    away, which = _nearest(tree, places, max(reach + other.skin.spacing, deep))
    height = np.einsum("pkc,pkc->pk", places[:, None] - points[which], normals[which])
    best = np.where(np.isfinite(away), height, -np.inf).argmax(axis=1)
    rows = np.arange(len(near))
    some = np.flatnonzero(np.isfinite(away[:, 0]) & (height[rows, best] > -deep))
    near, places, which, height = near[some], places[some], which[some, best[some]], height[some, best[some]]
    # force and reaction must be in one line, or both would begin to turn
    corners, weights, normal = other.skin.corners[which], other.skin.below(which, places, other.before), normals[which]
    moved = one.touching[near] - places - np.einsum("kc,kcd->kd", weights, (other.vertices - other.before)[corners])
    out = np.einsum("ij,ij->i", moved, normal)
    gaps = height + out
    some = np.flatnonzero(gaps < 0.0)
    if not len(some):
        return None
    some = np.sort(some[np.argsort(gaps[some], kind="stable")[:most]])
    return Meeting(near[some], corners[some], weights[some], normal[some], gaps[some], height[some],
                   moved[some] - out[some, None] * normal[some])


def _nearest(tree: cKDTree, places: Vec, reach: float) -> tuple[Vec, Index]:
    """How far the nearest few points of a tree are from places (p, 3) [m], ∞ where they are beyond reach, and which
    they are, (p, NEAR) each."""
    near = min(NEAR, tree.n)
    away, which = tree.query(places, k=near, distance_upper_bound=reach)
    return away.reshape(-1, near), np.minimum(which.reshape(-1, near), tree.n - 1)
