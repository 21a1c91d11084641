"""Convex shapes for the contact kernels: points, polygons and edges, grown by a radius."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.spatial import ConvexHull

from ...state import Index, Vec

FLAT = 1.0e-6  #: triangles of a hull whose normals differ by less are one face


@dataclass(frozen=True)
class Convex:
    """The convex hull of a few points, grown by a radius: a sphere has one, a capsule two, a box eight."""

    most_points = 64  #: of one shape: a finer hull is thinned, since all pairs of edges may be tested

    points: Vec  #: in the own frame [m], (p, 3)
    radius: float  #: [m]
    faces: tuple[tuple[int, ...], ...] = ()  #: points of each, counterclockwise from outside
    edges: tuple[tuple[int, int, int, int], ...] = ()  #: two points, two faces; −1 where there is no face
    whole: Vec | None = None  #: all corners of a hull that was thinned, (q, 3); None where `points` are all

    @classmethod
    def sphere(cls, radius: float) -> Convex:
        """Return a sphere of a radius [m] about the origin."""
        return cls(np.zeros((1, 3)), radius)

    @classmethod
    def capsule(cls, radius: float, length: float) -> Convex:
        """Return a capsule of a radius [m] along Z about the origin; length: between the centres of its round ends [m].

        A capsule of no length is a sphere.
        """
        if length <= 0.0:
            return cls.sphere(radius)
        return cls(np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]]), radius, (), ((0, 1, -1, -1),))

    @classmethod
    def box(cls, size: Vec) -> Convex:
        """Return a box about the origin. size: extents along the axes, (3,) [m]."""
        unit = _unit_box()
        return cls(unit.points * np.asarray(size, dtype=float), 0.0, unit.faces, unit.edges)

    @classmethod
    def hull(cls, points: Vec) -> Convex:
        """Return the convex hull of points, (n, 3) [m], thinned to `most_points`. Raises scipy's QhullError where the
        points are in one plane."""
        whole = np.asarray(points, dtype=float)[ConvexHull(points).vertices]
        corners = whole[_spread_points(whole, cls.most_points)]
        hull = ConvexHull(corners)
        used, number = np.unique(hull.simplices, return_inverse=True)
        points, triangles = corners[used], number.reshape(-1, 3)
        faces = _polygons(points, triangles, hull.equations[:, :3])
        sides: dict[tuple[int, int], list[int]] = {}
        for f, face in enumerate(faces):
            for a, b in zip(face, (*face[1:], face[0])):
                sides.setdefault((min(a, b), max(a, b)), []).append(f)
        edges = tuple((a, b, on[0], on[1]) for (a, b), on in sides.items() if len(on) == 2)
        return cls(points, 0.0, faces, edges, whole if len(whole) > len(corners) else None)


@cache
def _unit_box() -> Convex:
    """Return a cube with sides of 1 m about the origin."""
    corners = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return Convex.hull(corners)


def _spread_points(points: Vec, most: int) -> Index:
    """Return the numbers of at most `most` of the points, (n, 3), each the farthest from those chosen before, (k,)."""
    if len(points) <= most:
        return np.arange(len(points), dtype=np.int32)
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    near = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(near)))
        near = np.minimum(near, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return np.array(chosen, dtype=np.int32)


def _polygons(points: Vec, triangles: Index, normals: Vec) -> tuple[tuple[int, ...], ...]:
    """Return polygons, each of all triangles with one normal, as numbers of their corners, counterclockwise.

    points: (p, 3) [m]. triangles: (t, 3). normals: unit, (t, 3).
    """
    faces = []
    left = np.ones(len(triangles), dtype=bool)
    for t in range(len(triangles)):
        if not left[t]:
            continue
        same = left & (normals @ normals[t] > 1.0 - FLAT)
        left &= ~same
        corners = np.unique(triangles[same])
        middle, n = points[corners].mean(axis=0), normals[t]
        across = np.linalg.norm(points[corners] - middle, axis=1)
        e = (points[corners[np.argmax(across)]] - middle) / across.max()
        away = points[corners] - middle
        angle = np.arctan2(away @ np.cross(n, e), away @ e)
        faces.append(tuple(int(c) for c in corners[np.argsort(angle)]))
    return tuple(faces)


#: shapes of the catalogue that are not given by vertices, from its parameters
BY_SIZE: dict[str, Callable[..., Convex]] = {
    "box": lambda size_x, size_y, size_z: Convex.box(np.array([size_x, size_y, size_z])),
    "sphere": Convex.sphere,
    "capsule": Convex.capsule,
}


@dataclass(frozen=True)
class Shapes:
    """Many convex shapes in flat arrays, each in its own frame; `place_points` writes their positions in the world."""

    point_start: Index  #: (s + 1,)
    points: Vec  #: own frames, (P, 3)
    owner: Index  #: shape of each point, (P,)
    face_start: Index  #: (s + 1,) rows of `corner_start`
    corner_start: Index  #: (F + 1,)
    corners: Index  #: points of every face in turn, counted over all shapes
    edge_start: Index  #: (s + 1,)
    edges: Index  #: (e, 4) two points and two faces, counted over all shapes; −1 for no face
    radius: Vec  #: (s,)
    whole: Vec  #: all corners, also of hulls that were thinned, for contact with the ground, (Q, 3)
    whole_owner: Index  #: shape of each corner, (Q,)

    @classmethod
    def of(cls, shapes: Sequence[Convex]) -> Shapes:
        """Return the shapes in flat arrays, in their order."""
        points = [shape.points for shape in shapes]
        whole = [shape.points if shape.whole is None else shape.whole for shape in shapes]
        first = np.cumsum([0, *(len(p) for p in points)])
        faces = [tuple(int(first[s]) + c for c in face) for s, shape in enumerate(shapes) for face in shape.faces]
        first_face = np.cumsum([0, *(len(shape.faces) for shape in shapes)])
        edges = [(a + first[s], b + first[s], *(f + first_face[s] if f >= 0 else -1 for f in on))
                 for s, shape in enumerate(shapes) for a, b, *on in shape.edges]
        return cls(_index(first), _stack(points), _owners(points), _index(first_face),
                   _index(np.cumsum([0, *(len(face) for face in faces)])), _index([c for face in faces for c in face]),
                   _index(np.cumsum([0, *(len(shape.edges) for shape in shapes)])),
                   _index(edges).reshape(-1, 4), np.array([shape.radius for shape in shapes], dtype=float),
                   _stack(whole), _owners(whole))

    def __len__(self) -> int:
        return len(self.radius)


def _stack(points: Sequence[Vec]) -> Vec:
    """Return points of all shapes, (P, 3)."""
    return np.ascontiguousarray(np.concatenate([*points, np.zeros((0, 3))]))


def _owners(points: Sequence[Vec]) -> Index:
    """Return the shape of each point, (P,)."""
    return _index(np.repeat(np.arange(len(points)), [len(own) for own in points]))


def _index(values: object) -> Index:
    return np.ascontiguousarray(values, dtype=np.int32)
