"""Ends of a constraint: points of a body as weighted sums of its nodes, and its surface or its edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import BadScene
from ...meshing.closest import closest_weights
from ...state import Index, Vec

LEAN = 1.0e-300  #: squared lengths below it are none


@dataclass(frozen=True)
class TiedEnd:
    """One end of a constraint: points of a body as weighted sums of its nodes."""

    name: str  #: name of the body
    nodes: Index  #: nodes of each point, (p, w)
    weights: Vec  #: weights of these nodes, whose sum is 1 for each point, (p, w)
    skin: Index  #: triangles of the body's surface, (t, 3)
    wires: Index  #: edges of no triangle, which are all edges of a body without triangles, (k, 2)


@dataclass(frozen=True)
class BodyShape:
    """A body's geometry, to which points are bound."""

    name: str
    nodes: Index  #: the body's nodes, (n,)
    tets: Index  #: (e, 4)
    skin: Index  #: (t, 3)
    wires: Index  #: (k, 2)
    #: whether it cannot be deformed, so that its nearest four nodes carry any point
    rigid: bool = False


def bind_points(shape: BodyShape, points: Vec, rest: Vec, radius: float = 0.0) -> TiedEnd:
    """Return points (p, 3) [m] bound to a body: to the nearest tetrahedron, extended beyond it where they are outside;
    else to the nearest triangle, edge or node. rest: positions of all nodes, (n, 3) [m]. radius: in a body of
    tetrahedra, the distance within which nodes move a point instead of one tetrahedron; 0: the tetrahedron does [m]."""
    if len(shape.tets):
        nodes, weights = _in_tets(shape.tets, points, rest)
        if radius > 0.0:
            nodes, weights = _in_balls(shape, nodes, points, rest, radius)
    elif len(shape.skin):
        nearest = [closest_triangle(shape.skin, rest, point) for point in points]
        nodes, weights = shape.skin[[k for k, _ in nearest]], np.array([w for _, w in nearest])
    elif len(shape.wires):
        on = [closest_segment(shape.wires, rest, point) for point in points]
        nodes, weights = shape.wires[[k for k, _ in on]], np.array([[1.0 - s, s] for _, s in on])
    else:
        away = np.linalg.norm(rest[shape.nodes][None] - points[:, None], axis=2)
        nodes, weights = shape.nodes[away.argmin(axis=1)][:, None], np.ones((len(points), 1))
    return TiedEnd(shape.name, np.ascontiguousarray(nodes, dtype=np.int32), weights, shape.skin, shape.wires)


def _in_tets(tets: Index, points: Vec, rest: Vec) -> tuple[Index, Vec]:
    """Return the nodes (p, 4) and barycentric weights (p, 4) of the tetrahedron that each point is in or nearest to."""
    origin = rest[tets[:, 0]]
    edges = np.stack([rest[tets[:, k]] - origin for k in (1, 2, 3)], axis=2)
    inverse = np.linalg.inv(edges)
    nodes, weights = np.empty((len(points), 4), np.int32), np.empty((len(points), 4))
    for k, point in enumerate(points):
        local = np.einsum("eij,ej->ei", inverse, point - origin)
        each = np.column_stack([1.0 - local.sum(axis=1), local])
        # how far outside, in units of the tetrahedron's heights
        best = int(each.min(axis=1).argmax())
        nodes[k], weights[k] = tets[best], each[best]
    return nodes, weights


def _in_balls(shape: BodyShape, nearest: Index, points: Vec, rest: Vec, radius: float) -> tuple[Index, Vec]:
    """Return nodes and weights, (p, w) both, that move each point by the affine motion which fits best the motion of
    all nodes within a radius [m] of it. For a point outside, the ball is around the nearest point of the skin, with a
    radius of at least their distance.

    nearest: nodes of the tetrahedron that each point is in or nearest to, (p, 4). Σ w = 1 and Σ w x is the point at
    `rest`, so that forces and torques on the body are those of the point. Nodes farther away count less and less.
    """
    moved = []
    for point, own in zip(points, nearest):
        center = _inside(shape, own, point, rest)
        reach = max(radius, float(np.linalg.norm(point - center)))
        away = np.linalg.norm(rest[shape.tets] - center, axis=2)
        nodes = np.union1d(shape.tets[(away <= reach).any(axis=1)], own)
        local = np.column_stack([np.ones(len(nodes)), (rest[nodes] - center) / reach])
        weight = 1.0 / (1.0 + (local[:, 1:] ** 2).sum(axis=1)) ** 2
        target = np.append(1.0, (point - center) / reach)
        moved.append((nodes, weight * (local @ np.linalg.solve((local * weight[:, None]).T @ local, target))))
    widest = max(len(nodes) for nodes, _ in moved)
    out_nodes, out_weights = np.empty((len(points), widest), np.int32), np.zeros((len(points), widest))
    for k, (nodes, weights) in enumerate(moved):
        out_nodes[k], out_nodes[k, : len(nodes)] = nodes[0], nodes
        out_weights[k, : len(nodes)] = weights
    return out_nodes, out_weights


def _inside(shape: BodyShape, tet: Index, point: Vec, rest: Vec) -> Vec:
    """Return a point, (3,) [m], or the nearest point of the skin where it is outside of the tetrahedron that it is
    nearest to."""
    corners = rest[tet]
    within = np.linalg.solve((corners[1:] - corners[0]).T, point - corners[0])
    if within.min() >= 0.0 and within.sum() <= 1.0:
        return point
    triangle, weights = closest_triangle(shape.skin, rest, point)
    on_skin: Vec = weights @ rest[shape.skin[triangle]]
    return on_skin


def closest_triangle(triangles: Index, x: Vec, point: Vec) -> tuple[int, Vec]:
    """Return the triangle nearest to a point, (3,) [m], and the weights of its corners, (3,), at positions x (n, 3)
    [m].

    Of equally near triangles the first is returned. Raises BadScene where there are no triangles.
    """
    if not len(triangles):
        raise BadScene("there is no face to be on", "Choose an object with faces")
    first = x[triangles[:, 0]]
    reach = np.sqrt(np.maximum(_square(x[triangles[:, 1]] - first), _square(x[triangles[:, 2]] - first)))
    away = np.sqrt(_square(first - point))
    near = np.flatnonzero(away - reach <= away.min())
    corners = x[triangles[near]]
    weights = closest_weights(point, corners)
    best = int(_square(np.einsum("ki,kij->kj", weights, corners) - point).argmin())
    return int(near[best]), weights[best]


def closest_segment(edges: Index, x: Vec, point: Vec) -> tuple[int, float]:
    """Return the edge nearest to a point, (3,) [m], and the fraction of it at the nearest point, in [0, 1], at
    positions x (n, 3) [m].

    Of equally near edges the first is returned. Raises BadScene where there are no edges.
    """
    if not len(edges):
        raise BadScene("there is no edge to be on", "Choose a rope, a curve or a mesh with edges")
    start, side = x[edges[:, 0]], x[edges[:, 1]] - x[edges[:, 0]]
    along = np.einsum("kj,kj->k", point - start, side) / np.maximum(_square(side), LEAN)
    along = np.clip(along, 0.0, 1.0)
    best = int(_square(start + along[:, None] * side - point).argmin())
    return best, float(along[best])


def _square(rows: Vec) -> Vec:
    """Return the squared lengths of vectors (k, 3), (k,)."""
    return np.asarray(np.einsum("kj,kj->k", rows, rows))
