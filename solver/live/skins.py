"""Contact of live bodies: sampled points of their surfaces, and points of one body inside another."""

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
    """Sampled points of a surface of triangles, each a weighted mean of three vertices."""

    def __init__(self, vertices: Vec, triangles: Index) -> None:
        """vertices: at rest, (n, 3) [m]. triangles: (t, 3), with outward normals."""
        self.diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        self.spacing = spacing = max(self.diagonal, 1e-9) / FINE  #: between points [m]
        points, face = middles(vertices, triangles, spacing)
        # fine meshes have more points than needed: one in each box of the spacing remains
        _, first = np.unique(np.floor((points - vertices.min(axis=0)) / spacing).astype(np.int64), axis=0,
                             return_index=True)
        points, face = points[np.sort(first)], face[np.sort(first)]
        self.corners: Index = triangles[face]  #: (k, 3)
        self.weights: Vec = barycentric_coordinates(points, vertices[self.corners])  #: barycentric coordinates, (k, 3)

    def below(self, which: Index, positions: Vec, vertices: Vec) -> Vec:
        """Return barycentric coordinates, (k, 3), of the projections of positions onto the planes of triangles, or of
        the sampled points where a projection is far outside its triangle.

        which: sampled points, whose triangles are meant, (k,). positions: positions, (k, 3) [m]. vertices: (n, 3) [m].
        """
        barycentric = barycentric_coordinates(positions, vertices[self.corners[which]])
        far = np.abs(barycentric).max(axis=1) > OFF
        barycentric[far] = self.weights[which[far]]
        return barycentric

    def points(self, vertices: Vec) -> Vec:
        """Return positions of the sampled points, (k, 3) [m]. vertices: (n, 3) [m]."""
        points: Vec = np.einsum("kc,kcd->kd", self.weights, vertices[self.corners])
        return points

    def normals(self, vertices: Vec) -> Vec:
        """Return outward unit normals at the sampled points, (k, 3). vertices: (n, 3) [m]."""
        return unit_normals(vertices, self.corners)


def friction_of(given: float | None) -> float:
    """Return Coulomb's coefficient of a body. given: in the scene; None where there is none."""
    return RESTS if given is None else given


def middles(vertices: Vec, triangles: Index, spacing: float) -> tuple[Vec, Index]:
    """Return points spread over triangles, (k, 3) [m], and the triangle of each, (k,). None is on an edge.

    vertices: (n, 3) [m]. triangles: (t, 3). spacing: largest distance of neighbouring points, approximately [m].
    """
    points, face = spread(vertices, triangles, spacing)
    return points + INWARDS * (vertices[triangles[face]].mean(axis=1) - points), face


def inside_of(tree: cKDTree, points: Vec, normals: Vec, positions: Vec, deep: float) -> tuple[Index, Index, Vec]:
    """Find positions inside a sampled surface. Return their indices, the sampled points whose tangent planes are
    nearest, and the signed distances from these planes, negative [m]: (m,) each.

    tree: of the sampled points. points, normals: of the surface, (k, 3) [m] and unit. positions: positions, (p, 3) [m].
    deep: positions farther than this from all sampled points are not inside [m].
    """
    near = min(NEAR, len(points))
    away, which = tree.query(positions, k=near, distance_upper_bound=deep)
    away, which = away.reshape(-1, near), which.reshape(-1, near)
    some = np.flatnonzero(np.isfinite(away[:, 0]))
    which = np.where(np.isfinite(away[some]), which[some], which[some, :1])
    height = np.einsum("pkc,pkc->pk", positions[some, None] - points[which], normals[which])
    best = height.argmax(axis=1)
    height = height[np.arange(len(some)), best]
    inside = height < 0.0
    return some[inside], which[np.arange(len(some)), best][inside], height[inside]


def barycentric_coordinates(points: Vec, corners: Vec) -> Vec:
    """Return barycentric coordinates of points, (k, 3) [m], in triangles with corners (k, 3, 3) [m]: (k, 3)."""
    u, v, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], points - corners[:, 0]
    uu, uv, vv, wu, wv = (np.einsum("ij,ij->i", p, q) for p, q in ((u, u), (u, v), (v, v), (w, u), (w, v)))
    area = np.maximum(uu * vv - uv * uv, 1e-300)
    second, third = (vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area
    return np.stack([1.0 - second - third, second, third], axis=1)


class SurfaceMotion:
    """Surface and touching points of one body at the start and the end of a step, for contact with others."""

    def __init__(self, skin: Skin, vertices: Vec, before: Vec, touching: Vec, touching_before: Vec) -> None:
        """vertices, before: of the surface at the step's end and start, (n, 3) [m]. touching, touching_before: of the
        points that are tested against other bodies, at the step's end and start, (s, 3) [m]."""
        self.skin, self.touching, self.touching_before = skin, touching, touching_before
        self.low, self.high = before.min(axis=0), before.max(axis=0)
        #: largest displacement of a vertex in the step [m]
        self.farthest = float(np.sqrt(((vertices - before) ** 2).sum(axis=1).max(initial=0.0)))
        self.vertices, self.before = vertices, before
        self._surface: tuple[cKDTree, Vec, Vec] | None = None

    def surface(self) -> tuple[cKDTree, Vec, Vec]:
        """Return a tree of sampled points at the step's start, the points [m] and their normals, (k, 3) each."""
        if self._surface is None:
            points = self.skin.points(self.before)
            self._surface = cKDTree(points), points, self.skin.normals(self.before)
        return self._surface


@dataclass(frozen=True)
class SurfaceContacts:
    """Contacts of points of a first body that a step moves into a second one."""

    points: Index  #: among the touching points of the first body, (k,)
    corners: Index  #: vertices of the second body's surface, (k, 3)
    weights: Vec  #: barycentric coordinates of the contact in those corners, (k, 3)
    normals: Vec  #: outward unit normals of the second body's surface, (k, 3)
    gaps: Vec  #: along the normals, at the step's end [m], (k,), negative inside
    gaps_before: Vec  #: along the normals, at the step's start [m], (k,)
    slides: Vec  #: tangential displacement relative to the second body in the step [m], (k, 3)


def surface_contacts(one: SurfaceMotion, other: SurfaceMotion, most: int) -> SurfaceContacts | None:
    """Return the contacts of touching points of `one` inside `other` at a step's end, the `most` deepest; None where
    there are none.

    Each normal is that of the side where the point was at the step's start. A point that has moved deep inside in a
    step may be nearer to other sides, whose normals would separate resting bodies violently at edges.
    """
    reach = one.farthest + other.farthest
    low, high = other.low - reach, other.high + reach
    near = np.flatnonzero(((one.touching_before > low) & (one.touching_before < high)).all(axis=1))
    if not len(near):
        return None
    tree, points, normals = other.surface()
    deep = DEEP * min(one.skin.diagonal, other.skin.diagonal)
    positions = one.touching_before[near]
    away, which = _nearest(tree, positions, max(reach + other.skin.spacing, deep))
    height = np.einsum("pkc,pkc->pk", positions[:, None] - points[which], normals[which])
    best = np.where(np.isfinite(away), height, -np.inf).argmax(axis=1)
    rows = np.arange(len(near))
    some = np.flatnonzero(np.isfinite(away[:, 0]) & (height[rows, best] > -deep))
    near, positions, which, height = near[some], positions[some], which[some, best[some]], height[some, best[some]]
    # force and reaction must be collinear, or both bodies would start to rotate
    corners, weights, normal = (other.skin.corners[which], other.skin.below(which, positions, other.before),
                                normals[which])
    moved = one.touching[near] - positions - np.einsum("kc,kcd->kd", weights, (other.vertices - other.before)[corners])
    out = np.einsum("ij,ij->i", moved, normal)
    gaps = height + out
    some = np.flatnonzero(gaps < 0.0)
    if not len(some):
        return None
    some = np.sort(some[np.argsort(gaps[some], kind="stable")[:most]])
    return SurfaceContacts(near[some], corners[some], weights[some], normal[some], gaps[some], height[some],
                   moved[some] - out[some, None] * normal[some])


def _nearest(tree: cKDTree, positions: Vec, reach: float) -> tuple[Vec, Index]:
    """Return distances [m] from positions to the nearest points of a tree, ∞ beyond `reach` [m], and their indices,
    (p, NEAR) each. positions: (p, 3) [m]."""
    near = min(NEAR, tree.n)
    away, which = tree.query(positions, k=near, distance_upper_bound=reach)
    return away.reshape(-1, near), np.minimum(which.reshape(-1, near), tree.n - 1)
