"""Rows that keep cloth out of faces, smooth edges and vertices of things: n · (v − v_thing) ≥ −gap / h."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...contact.find.near_kernels import boxes, near_pairs
from ...linear.constrained.rows import MOST, Keys, SpreadRows, VertexRows
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .things import Moment, Things
from .touching_kernels import edge_rows, point_rows
from .unknowns import Unknowns

AHEAD = 2.0  #: how many steps' moves away something is looked for
SLACK = 0.05  #: of an edge's length: what is looked for at least
DEEP = 0.05  #: of an edge's length: what is further inside a thing is on its other side
PUSH = 0.5  #: [m/s]: what is inside comes out no faster
LIKE = 0.98  #: cosine between two directions at one vertex that are one


@dataclass(frozen=True)
class Touching:
    """Rows of Lagrangian vertices, and of points within edges and faces of the cloth."""

    rows: VertexRows
    spread: SpreadRows
    friction: Vec  #: of the rows of vertices, (r,)
    normal: Vec  #: of those, (r, 3)
    velocity: Vec  #: of the things there [m/s], (r, 3)


def touching(mesh: SheetMesh, unknowns: Unknowns, things: Things, now: Moment, gravity: Vec, h: float) -> Touching:
    """Those of a step of h seconds. Where cloth will hardly come within it nothing is asked."""
    count = len(mesh.x)
    fastest = float(np.linalg.norm(mesh.v, axis=1).max(initial=0.0)) + float(
        np.linalg.norm(now.velocity, axis=1).max(initial=0.0)) + h * float(np.linalg.norm(gravity))
    edge = float(np.sqrt(mesh.areas.mean()))
    thickest = max((one.thickness for one in things.parts), default=0.0)
    deep = DEEP * edge + thickest
    reach = max(AHEAD * h * fastest, SLACK * edge) + thickest
    x, v = np.concatenate([mesh.x, now.x]), np.concatenate([mesh.v, now.velocity])
    faces = things.triangles + np.int32(count)
    group = np.repeat(np.array([0, 1], np.int32), [count, len(now.x)])

    vertices, vertex_table = _of_vertices(mesh, x, v, faces, group, things, reach, h, gravity, deep)
    spread_tables = [_of_points(mesh, x, v, faces, group, things, reach, h, gravity, deep),
                     _of_edges(mesh, x, v, group, things, reach, h, gravity, deep)]
    spread = _spread(unknowns, count, [one for one in spread_tables if one is not None])
    return Touching(vertices, spread, *vertex_table)


@dataclass(frozen=True)
class _Pairs:
    nodes: Index  #: (k, 4)
    weights: Vec  #: (k, 4)
    direction: Vec  #: (k, 3)
    target: Vec  #: (k,)
    key: Keys  #: (k,)


def _of_vertices(mesh: SheetMesh, x: Vec, v: Vec, faces: Index, group: Index, things: Things, reach: float, h: float,
                 gravity: Vec, deep: float) -> tuple[VertexRows, tuple[Vec, Vec, Vec]]:
    count = len(mesh.x)
    free = np.flatnonzero(mesh.on < 0).astype(np.int32)
    points = np.repeat(free[:, None], 3, axis=1)
    found = _near(x, np.concatenate([points, faces]), len(free), group, reach)
    pairs = np.column_stack([free[found[:, 0]], found[:, 1] - len(free)]).astype(np.int32)
    normals = _normals(x, faces)
    weights, direction, gap, keep = _room(len(pairs))
    point_rows(x, pairs, count, faces, normals, things.sharp, things.closed, weights, direction, gap, keep)
    gap -= things.thickness[pairs[:, 1]]
    hit = -np.einsum("ka,kai->ki", weights[:, 1:], v[faces[pairs[:, 1]]])  # velocity of the thing there
    keep &= _comes(gap, direction, v[pairs[:, 0]] - hit, gravity, h, deep)
    k = np.flatnonzero(keep)
    k = k[_distinct(pairs[k, 0], direction[k], gap[k])]
    vertex, n = pairs[k, 0], direction[k]
    target = np.einsum("ki,ki->k", n, hit[k]) + _closing(gap[k], h)
    factor = np.concatenate([n, np.zeros((len(k), 2))], axis=1)
    key = (vertex.astype(np.int64) << 32 | pairs[k, 1]) + (1 << 62)
    rows = VertexRows(vertex, factor.reshape(-1, MOST), target, np.zeros(len(k), bool), key)
    return rows, (things.friction[pairs[k, 1]], n, hit[k])


def _of_points(mesh: SheetMesh, x: Vec, v: Vec, faces: Index, group: Index, things: Things, reach: float, h: float,
               gravity: Vec, deep: float) -> _Pairs | None:
    """Vertices of things in faces of the cloth, those aside that are points of features."""
    count = len(mesh.x)
    points = np.flatnonzero(~things.has_corner).astype(np.int32) + np.int32(count)
    if not len(points):
        return None
    found = _near(x, np.concatenate([np.repeat(points[:, None], 3, axis=1), mesh.faces]), len(points), group, reach)
    pairs = np.column_stack([points[found[:, 0]], found[:, 1] - len(points)]).astype(np.int32)
    normals = _normals(x, mesh.faces)
    # which side of the cloth the thing is on, by the thing's own normal
    out = np.zeros((len(x), 3))
    np.add.at(out, faces, _normals(x, faces)[:, None])
    inward = np.einsum("ki,ki->k", normals[pairs[:, 1]], out[pairs[:, 0]]) > 0.0
    weights, direction, gap, keep = _room(len(pairs))
    none = np.zeros((len(mesh.faces), 3), dtype=bool)
    point_rows(x, pairs, count, mesh.faces, normals, none, none[:, 0].copy(), weights, direction, gap, keep)
    # from the cloth to the point it was; the cloth is to stay outside of the thing
    turn = np.where(inward, 1.0, -1.0)
    flat = normals[pairs[:, 1]]
    gap = -np.einsum("ki,ki->k", flat, np.einsum("ka,kai->ki", weights, x[np.column_stack([pairs[:, 0], mesh.faces[
        pairs[:, 1]]])])) * turn
    direction = turn[:, None] * flat
    nodes = np.column_stack([pairs[:, 0], mesh.faces[pairs[:, 1]]]).astype(np.int32)
    relative = -np.einsum("ka,kai->ki", weights, v[nodes])
    keep &= _comes(gap, direction, relative, gravity, h, deep)
    k = np.flatnonzero(keep)
    fixed = np.einsum("ki,ki->k", direction[k], v[nodes[k, 0]])
    weights = -weights[k]
    weights[:, 0] = 0.0
    return _Pairs(nodes[k], weights, direction[k], fixed + _closing(gap[k], h),
                  (nodes[k, 0].astype(np.int64) << 32 | pairs[k, 1]) + (1 << 61))


def _of_edges(mesh: SheetMesh, x: Vec, v: Vec, group: Index, things: Things, reach: float, h: float, gravity: Vec,
              deep: float) -> _Pairs | None:
    """Edges of the cloth over edges of things, where neither end sits on one already."""
    count, (others, beside, sharp) = len(mesh.x), things.edges
    if not len(others):
        return None
    own = mesh.edges
    ends_on = (mesh.on[own] >= 0).sum(axis=1)
    own, ends_on = own[ends_on < 2], ends_on[ends_on < 2]
    both = np.concatenate([own, others + np.int32(count)]).astype(np.int32)
    found = _near(x, both, 0, group, reach)
    # what sits on something sharp has rows of its own
    found = found[~sharp[found[:, 1] - len(own)] | (ends_on[found[:, 0]] == 0)]
    nodes = both[found].reshape(-1, 4)
    normals = _normals(x, things.triangles + np.int32(count))
    outward = normals[beside[found[:, 1] - len(own)]].sum(axis=1)
    weights, direction, gap, keep = _room(len(nodes))
    edge_rows(x, nodes, np.ascontiguousarray(outward), weights, direction, gap, keep)
    gap -= things.thickness[beside[found[:, 1] - len(own), 0]]
    keep &= _comes(gap, direction, np.einsum("ka,kai->ki", weights, v[nodes]), gravity, h, deep)
    k = np.flatnonzero(keep)
    fixed = -np.einsum("ki,ka,kai->k", direction[k], weights[k, 2:], v[nodes[k, 2:]])
    weights = weights[k]
    weights[:, 2:] = 0.0
    return _Pairs(nodes[k], weights, direction[k], fixed + _closing(gap[k], h),
                  (nodes[k, 0].astype(np.int64) << 32 | found[k, 1]) + (1 << 60))


def _near(x: Vec, corners: Index, points: int, group: Index, distance: float) -> Index:
    """Rows of corners within a distance of each other, (k, 2), in one order."""
    box = np.empty((len(corners), 6))
    corners = np.ascontiguousarray(corners, dtype=np.int32)
    boxes(x, corners, 0.5 * distance, box)
    axis = int(np.argmax(np.ptp(x, axis=0)))
    order = np.argsort(box[:, axis], kind="stable")
    box = box[order]
    room = 4 * len(corners)
    while True:
        found = np.empty((room, 2), dtype=np.int32)
        count = int(near_pairs(box, order, axis, points, x, corners, group, distance, found))
        if count <= room:
            break
        room = 2 * count
    found = found[:count]
    ordered: Index = found[np.lexsort((found[:, 1], found[:, 0]))]
    return ordered


def _comes(gap: Vec, direction: Vec, relative: Vec, gravity: Vec, h: float, deep: float) -> Mask:
    """Whether a pair may close within the step, with room for what forces change, (k,), and is no further inside than
    `deep` [m]."""
    closing = -np.einsum("ki,ki->k", direction, relative)
    room = h * np.maximum(closing, 0.0) + 0.5 * h * np.linalg.norm(relative, axis=1) + h * h * np.linalg.norm(gravity)
    near: Mask = (gap < room) & (gap > -deep)
    return near


def _closing(gap: Vec, h: float) -> Vec:
    """How fast a pair has to part at least, (k,) [m/s]: what is apart may close its gap, what is inside comes out."""
    least: Vec = np.minimum(-gap / h, PUSH)
    return least


def _distinct(vertex: Index, direction: Vec, gap: Vec) -> Index:
    """Rows of one vertex that point another way than a nearer one of it, in order."""
    order = np.lexsort((gap, vertex))
    v, n = vertex[order], direction[order]
    keep = np.ones(len(order), dtype=bool)
    for back in range(1, 4):  # few are near one vertex
        same = v[back:] == v[:-back]
        alike = np.einsum("ki,ki->k", n[back:], n[:-back]) > LIKE
        keep[back:] &= ~(same & alike & keep[:-back])
    return np.sort(order[keep])


def _normals(x: Vec, triangles: Index) -> Vec:
    a, b, c = (x[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    unit: Vec = normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    return unit


def _room(count: int) -> tuple[Vec, Vec, Vec, Mask]:
    return np.zeros((count, 4)), np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=bool)


def _spread(unknowns: Unknowns, count: int, tables: list[_Pairs]) -> SpreadRows:
    """Rows on the ẋ of several vertices."""
    nodes = np.concatenate([np.zeros((0, 4), np.int32), *(one.nodes for one in tables)])
    weights = np.concatenate([np.zeros((0, 4)), *(one.weights for one in tables)])
    direction = np.concatenate([np.zeros((0, 3)), *(one.direction for one in tables)])
    r, a = np.nonzero(weights)
    first = unknowns.first[nodes[r, a]]
    row = np.repeat(r, 3)
    column = (first[:, None] + np.arange(3)).ravel()
    value = (weights[r, a][:, None] * direction[r]).ravel()
    matrix = sp.csr_matrix((value, (row, column)), shape=(len(nodes), unknowns.count))
    none = np.zeros(0)
    return SpreadRows(matrix, np.concatenate([none, *(one.target for one in tables)]),
                      np.zeros(len(nodes), bool), np.concatenate([none.astype(np.int64),
                                                                  *(one.key for one in tables)]))
