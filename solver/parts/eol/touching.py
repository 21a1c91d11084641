"""Rows that keep cloth out of faces, smooth edges and vertices of things: n · (v − v_thing) ≥ −gap / h."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...contact.find.near import near_rows
from ...linear.constrained.rows import MOST, Keys, SpreadRows, VertexRows, no_spread_rows
from ...meshing.normals import unit_normals
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .things import Moment, Things
from .touching_kernels import edge_rows, point_rows
from .unknowns import Unknowns

AHEAD = 2.0  #: how many steps' moves away something is looked for
SLACK = 0.05  #: of an edge's length: what is looked for at least
DEEP = 0.05  #: of an edge's length: what is further inside a thing is on its other side
PUSH = 0.5  #: [m/s]: what is inside comes out no faster
SWAY = 0.5  #: of its move: by how much a vertex may come nearer than its velocity says
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
    fastest = float(np.linalg.norm(mesh.v, axis=1).max(initial=0.0)) + float(
        np.linalg.norm(now.velocity, axis=1).max(initial=0.0)) + h * float(np.linalg.norm(gravity))
    edge = float(np.sqrt(mesh.areas.mean()))
    thickest = max((one.thickness for one in things.parts), default=0.0)
    count = len(mesh.x)
    look = _Look(mesh, things, np.concatenate([mesh.x, now.x]), np.concatenate([mesh.v, now.velocity]),
                 things.triangles + np.int32(count), np.repeat(np.array([0, 1], np.int32), [count, len(now.x)]),
                 max(AHEAD * h * fastest, SLACK * edge) + thickest, DEEP * edge + thickest, h,
                 h * h * float(np.linalg.norm(gravity)))
    rows, friction, normal, velocity = look.vertices()
    return Touching(rows, _spread(unknowns, [*look.points(), *look.edges()]), friction, normal, velocity)


@dataclass(frozen=True)
class _Pairs:
    """Rows on several vertices of the cloth."""

    nodes: Index  #: (k, 4)
    weights: Vec  #: (k, 4), zero for what is no cloth
    direction: Vec  #: (k, 3)
    target: Vec  #: (k,)
    key: Keys  #: (k,)


@dataclass(frozen=True)
class _Look:
    """What is near at the start of a step: nodes of the cloth, and those of things behind them."""

    mesh: SheetMesh
    things: Things
    x: Vec  #: (n, 3) [m]
    v: Vec  #: (n, 3) [m/s]
    faces: Index  #: of things, (t, 3)
    group: Index  #: 0 for cloth, 1 for things, (n,)
    reach: float  #: how far away is looked [m]
    deep: float  #: what is further inside is on the other side [m]
    h: float  #: [s]
    fall: float  #: what gravity moves in the step [m]

    def vertices(self) -> tuple[VertexRows, Vec, Vec, Vec]:
        """Lagrangian vertices on faces: rows, friction, normals and the things' velocities."""
        free = np.flatnonzero(self.mesh.on < 0).astype(np.int32)
        pairs = self._points_and_faces(free, self.faces)
        weights, direction, gap, keep = _room(len(pairs))
        point_rows(self.x, pairs, len(self.mesh.x), self.faces, unit_normals(self.x, self.faces), self.things.sharp,
                   self.things.closed, weights, direction, gap, keep)
        gap -= self.things.thickness[pairs[:, 1]]
        hit = -np.einsum("ka,kai->ki", weights[:, 1:], self.v[self.faces[pairs[:, 1]]])
        keep &= self._comes(gap, direction, self.v[pairs[:, 0]] - hit, SWAY)
        k = np.flatnonzero(keep)
        k = k[_distinct(pairs[k, 0], direction[k], gap[k])]
        vertex, n = pairs[k, 0], direction[k]
        rows = VertexRows(vertex, np.concatenate([n, np.zeros((len(k), MOST - 3))], axis=1),
                          np.einsum("ki,ki->k", n, hit[k]) + self._closing(gap[k]), np.zeros(len(k), bool),
                          _key(vertex, pairs[k, 1], 62))
        return rows, self.things.friction[pairs[k, 1]], n, hit[k]

    def points(self) -> list[_Pairs]:
        """Vertices of things in faces of the cloth, those aside that are points of features."""
        mesh, count = self.mesh, len(self.mesh.x)
        points = self.things.blunt + np.int32(count)
        if not len(points):
            return []
        pairs = self._points_and_faces(points, mesh.faces)
        nodes = np.column_stack([pairs[:, 0], mesh.faces[pairs[:, 1]]]).astype(np.int32)
        weights, direction, gap, keep = _room(len(pairs))
        nowhere = np.zeros((len(mesh.faces), 3), dtype=bool)
        point_rows(self.x, pairs, count, mesh.faces, mesh.normals, nowhere, nowhere[:, 0].copy(), weights, direction,
                   gap, keep)
        # which side of the cloth the thing is on is told by the thing's own normal
        out = np.zeros_like(self.x)
        np.add.at(out, self.faces, unit_normals(self.x, self.faces)[:, None])
        direction = mesh.normals[pairs[:, 1]]
        direction = direction * np.where(np.einsum("ki,ki->k", direction, out[pairs[:, 0]]) > 0.0, 1.0, -1.0)[:, None]
        gap = -np.einsum("ki,ka,kai->k", direction, weights, self.x[nodes])
        return self._pairs(nodes, -weights, direction, gap, keep, _key(nodes[:, 0], pairs[:, 1], 61))

    def edges(self) -> list[_Pairs]:
        """Edges of the cloth over edges of things, where neither end sits on one already."""
        others, beside, sharp = self.things.edges
        if not len(others):
            return []
        own = self.mesh.edges
        ends_on = (self.mesh.on[own] >= 0).sum(axis=1)
        own, ends_on = own[ends_on < 2], ends_on[ends_on < 2]
        both = np.concatenate([own, others + np.int32(len(self.mesh.x))]).astype(np.int32)
        found = near_rows(self.x, both, 0, self.group, self.reach)
        # what sits on something sharp has rows of its own
        found = found[~sharp[found[:, 1] - len(own)] | (ends_on[found[:, 0]] == 0)]
        nodes, of = both[found].reshape(-1, 4), beside[found[:, 1] - len(own)]
        weights, direction, gap, keep = _room(len(nodes))
        edge_rows(self.x, nodes, np.ascontiguousarray(unit_normals(self.x, self.faces)[of].sum(axis=1)), weights,
                  direction, gap, keep)
        return self._pairs(nodes, weights, direction, gap - self.things.thickness[of[:, 0]], keep,
                           _key(nodes[:, 0], found[:, 1], 60))

    def _points_and_faces(self, points: Index, faces: Index) -> Index:
        """Nodes and numbers of faces that are near each other, (k, 2)."""
        corners = np.concatenate([np.repeat(points[:, None], 3, axis=1), faces]).astype(np.int32)
        found = near_rows(self.x, corners, len(points), self.group, self.reach)
        pairs: Index = np.column_stack([points[found[:, 0]], found[:, 1] - len(points)]).astype(np.int32)
        return pairs

    def _pairs(self, nodes: Index, weights: Vec, direction: Vec, gap: Vec, keep: Mask, key: Keys) -> list[_Pairs]:
        """Those that may close in the step, with what things do on the other side."""
        k = np.flatnonzero(keep & self._comes(gap, direction, np.einsum("ka,kai->ki", weights, self.v[nodes]), 0.0))
        nodes, weights, direction = nodes[k], weights[k], direction[k]
        hard = np.where(nodes >= len(self.mesh.x), weights, 0.0)
        target = self._closing(gap[k]) - np.einsum("ki,ka,kai->k", direction, hard, self.v[nodes])
        return [_Pairs(nodes, weights - hard, direction, target, key[k])]

    def _comes(self, gap: Vec, direction: Vec, relative: Vec, sway: float) -> Mask:
        """Whether a pair may close within the step, with room for what forces change and a share of what it moves any
        way, (k,), and is not too deep."""
        closing = -np.einsum("ki,ki->k", direction, relative)
        room = self.h * (np.maximum(closing, 0.0) + sway * np.linalg.norm(relative, axis=1)) + self.fall
        near: Mask = (gap < room) & (gap > -self.deep)
        return near

    def _closing(self, gap: Vec) -> Vec:
        """How fast a pair has to part at least, (k,) [m/s]: what is apart may close its gap, what is inside comes out.
        """
        least: Vec = np.minimum(-gap / self.h, PUSH)
        return least


def _key(first: Index, second: Index, kind: int) -> Keys:
    """Names of rows of one kind."""
    key: Keys = (first.astype(np.int64) << 32 | second) + (1 << kind)
    return key


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


def _room(count: int) -> tuple[Vec, Vec, Vec, Mask]:
    return np.zeros((count, 4)), np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=bool)


def _spread(unknowns: Unknowns, tables: list[_Pairs]) -> SpreadRows:
    """Rows on the ẋ of several vertices."""
    if not any(len(one.nodes) for one in tables):
        return no_spread_rows(unknowns.count)
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
