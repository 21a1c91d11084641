"""Rows that keep cloth out of faces, smooth edges and vertices of obstacles: n · (v − v_obstacle) ≥ −gap / h."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import hypot

import numpy as np

from ...contact.find.ground import Contacts
from ...contact.find.near import find_near_rows
from ...meshing.normals import unit_normals
from ...rows.names import Names
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .contact_rows import OVER, RowsOfPairs, SheetContacts, VertexContacts, edge_key, no_pairs, row_key, spread_rows
from .inside_obstacles import ON_SURFACE, InsideObstacles, SampledPairs
from .obstacles import FeatureObstacles, ObstacleMotion
from .touching_kernels import edge_rows, point_rows
from .unknowns import Unknowns

SEPARATION_SPEED = 0.5  #: [m/s]: what is inside comes out no faster
LIKE = 0.98  #: cosine between two directions at one vertex that are one


@dataclass(frozen=True)
class FeatureContacts:
    """Near pairs of cloth and obstacles at the start of a step. Nodes are those of the cloth, then those of obstacles.
    """

    lookahead = 2.0  #: how many steps' moves away something is looked for
    search_margin = 1.0  #: of an edge's length: least distance of a search, as other triangles may lie in an obstacle
    depth_of_edge = 0.05  #: of an edge's length: what is deeper inside an obstacle is on its other side
    sway = 0.5  #: of its move: by how much a vertex may come nearer than its velocity says

    mesh: SheetMesh
    obstacles: FeatureObstacles
    now: ObstacleMotion
    x: Vec  #: (n, 3) [m]
    v: Vec  #: (n, 3) [m/s]
    faces: Index  #: of obstacles, (t, 3)
    group: Index  #: 0 for cloth, 1 for obstacles, (n,)
    reach: float  #: distance of near pairs [m]
    deep: float  #: a vertex that is further inside is on the other side [m]
    h: float  #: [s]
    fall: float  #: displacement by gravity in the step [m]

    @classmethod
    def around(cls, mesh: SheetMesh, obstacles: FeatureObstacles, now: ObstacleMotion, gravity: Vec,
               h: float) -> FeatureContacts:
        """Return near pairs for a step of h [s]; the distance of search follows from the fastest motion and the edges.
        gravity: (3,) [m/s²]."""
        weight = hypot(*gravity.tolist())
        fastest = h * weight + sum(float(np.einsum("ni,ni->n", v, v).max(initial=0.0)) ** 0.5 for v in (
            mesh.v, now.velocity))
        edge = float(np.sqrt(mesh.areas.mean()))
        thickest = max((obstacle.thickness for obstacle in obstacles.each), default=0.0)
        count = len(mesh.x)
        return cls(mesh, obstacles, now, np.concatenate([mesh.x, now.x]), np.concatenate([mesh.v, now.velocity]),
                   obstacles.triangles + np.int32(count), np.repeat(np.array([0, 1], np.int32), [count, len(now.x)]),
                   max(cls.lookahead * h * fastest, cls.search_margin * edge) + thickest,
                   cls.depth_of_edge * edge + thickest, h, h * h * weight)

    def rows(self, unknowns: Unknowns) -> SheetContacts:
        """Return rows of the pairs that may close within the step."""
        contacts, spread = self._vertices(), spread_rows(unknowns, [self._points(), self._edges()])
        return contacts.contacts(
            np.einsum("ki,ki->k", contacts.normal, contacts.velocity) + self._closing(contacts.gap), spread)

    @cached_property
    def inside(self) -> InsideObstacles:
        """Return the test of points inside obstacles."""
        return InsideObstacles(self.obstacles, len(self.mesh.x))

    @cached_property
    def normals(self) -> Vec:
        """Return unit normals of obstacles' faces at the start of the step, (t, 3)."""
        return unit_normals(self.x, self.faces)

    @cached_property
    def vertex_pairs(self) -> Index:
        """Return near pairs of a vertex of the cloth and the number of an obstacle's face, (k, 2), without the obstacle
        on whose features the vertex sits."""
        pairs = self._points_and_faces(np.arange(len(self.mesh.x), dtype=np.int32), self.faces)
        on = self.mesh.on[pairs[:, 0]]
        owner = np.concatenate([self.now.features.point_object, self.now.features.edge_object, [-1]])
        others: Index = pairs[owner[on] != self.obstacles.of_triangle[pairs[:, 1]]]
        return others

    @cached_property
    def edge_pairs(self) -> tuple[Index, Index]:
        """Return nodes of near pairs of an edge of the cloth and one of an obstacle, (k, 4), and the number of the
        obstacle's edge, (k,)."""
        others, _, _ = self.obstacles.edges
        if not len(others):
            return np.zeros((0, 4), np.int32), np.zeros(0, np.int32)
        own = self.mesh.edges
        own = own[(self.mesh.on[own] >= 0).sum(axis=1) < 2]
        both = np.concatenate([own, others + np.int32(len(self.mesh.x))]).astype(np.int32)
        near = find_near_rows(self.x, both, 0, self.group, self.reach, first_group=len(own))
        return both[near].reshape(-1, 4), near[:, 1] - len(own)

    def at_faces(self, pairs: Index, x: Vec) -> tuple[Vec, Vec, Vec, Mask]:
        """Return weights, direction, gap and which to keep, as `point_rows` writes them, of vertices of the cloth and
        numbers of obstacles' faces, (k, 2), where all nodes are at x, (n, 3) [m]."""
        rows = weights, direction, gap, keep = _room(len(pairs))
        point_rows(x, pairs, len(self.mesh.x), self.faces, self.normals if x is self.x else unit_normals(x, self.faces),
                   self.obstacles.sharp, self.obstacles.even, self.obstacles.closed, *rows)
        gap -= self.obstacles.thickness[pairs[:, 1]]
        return rows

    def over_edges(self, nodes: Index, of: Index, x: Vec) -> tuple[Index, Vec, Vec, Vec, Mask]:
        """Return nodes, weights, direction, gap and which to keep, as `edge_rows` writes them, of pairs of edges, (k,
        4), where all nodes are at x, (n, 3) [m]. of: numbers of the obstacles' edges, (k,)."""
        rows = weights, direction, gap, keep = _room(len(nodes))
        adjacent = self.obstacles.edges[1][of]
        normals = self.normals if x is self.x else unit_normals(x, self.faces)
        edge_rows(x, nodes, np.ascontiguousarray(normals[adjacent].sum(axis=1)), *rows)
        gap -= self.obstacles.thickness[adjacent[:, 0]]
        return nodes, weights, direction, gap, keep

    @cached_property
    def faces_at_start(self) -> tuple[Vec, Vec, Vec, Mask]:
        """Return `at_faces` of all near pairs at the start of the step."""
        return self.at_faces(self.vertex_pairs, self.x)

    @cached_property
    def edges_at_start(self) -> tuple[Index, Vec, Vec, Vec, Mask]:
        """Return `over_edges` of all near pairs at the start of the step."""
        return self.over_edges(*self.edge_pairs, self.x)

    def on_faces(self, pairs: Index, normal: Vec, gap: Vec, velocity: Vec, kind: int) -> VertexContacts:
        """Return contacts of vertices of the cloth with obstacles' faces. pairs: (k, 2). normal, gap, velocity: as in
        `VertexContacts`. kind: bit of the names of their rows."""
        vertex, face = pairs.T
        return VertexContacts(vertex, self.obstacles.of_triangle[face], normal, gap, velocity,
                              self.obstacles.friction[face], row_key(vertex, face, kind))

    def on_ground(self, near: Contacts, kind: int) -> VertexContacts:
        """Return contacts of the cloth with the ground. kind: bit of the names of their rows."""
        obstacles, k = self.obstacles, len(near)
        return VertexContacts(near.nodes, np.full(k, len(obstacles.each)), near.normal, near.gap, np.tile(
            self.now.ground_velocity, (k, 1)), np.full((k, obstacles.friction.shape[1]), obstacles.ground.friction),
                   row_key(near.nodes, np.full(k, len(obstacles.triangles)), kind))

    def _vertices(self) -> VertexContacts:
        """Return contacts of Lagrangian vertices that may reach faces or the ground."""
        pairs, is_free = self.vertex_pairs, self.mesh.on < 0
        weights, direction, gap, keep = self.faces_at_start
        obstacle_velocity = -np.einsum("ka,kai->ki", weights[:, 1:], self.v[self.faces[pairs[:, 1]]])
        k = (keep & is_free[pairs[:, 0]]).nonzero()[0]
        k = self._coming(k, gap, direction, self.v[pairs[:, 0]] - obstacle_velocity, self.sway,
                         self._depth_behind(pairs[k, 1]), lambda some: self.inside.of_vertices(pairs[some], self.x))
        contacts = self.on_faces(pairs[k], direction[k], gap[k], obstacle_velocity[k], 62)
        relative, ground = self.mesh.v - self.now.ground_velocity, self.obstacles.ground
        may = self._may(-relative @ ground.normal, relative, self.sway)
        below = self.on_ground(ground.find(self.mesh.x, self.now.time, self.obstacles.above, may).of(is_free), 62)
        # `detect_tunnelling` detects deeper vertices
        contacts = contacts.join(below.of(below.gap > -2.0 * ON_SURFACE))
        return contacts.of(_distinct(contacts))

    @cached_property
    def blunt_pairs(self) -> Index:
        """Return near pairs of an obstacle's vertex, which is no point of features, and the number of a face of the
        cloth, (k, 2)."""
        return self._points_and_faces(self.obstacles.blunt + np.int32(len(self.mesh.x)), self.mesh.faces)

    @cached_property
    def corner_pairs(self) -> Index:
        """Return near pairs of an obstacle's corner, on which no vertex of the cloth sits, and the number of a face of
        the cloth, (k, 2)."""
        features = self.now.features
        open_ = features.corner.copy()
        open_[self.mesh.on[(self.mesh.on >= 0) & (self.mesh.on < len(open_))]] = False
        points = self.obstacles.corners[open_]
        return self._points_and_faces(points[points >= 0] + np.int32(len(self.mesh.x)), self.mesh.faces)

    def through_faces(self, pairs: Index, x: Vec) -> tuple[Index, Vec, Vec, Vec, Mask]:
        """Return nodes (k, 4), weights, direction, gap and which to keep, as `point_rows` writes them for the cloth, of
        vertices of obstacles and numbers of the cloth's faces, (k, 2), where all nodes are at x, (n, 3) [m]."""
        count, faces = len(self.mesh.x), self.mesh.faces
        nodes = np.column_stack([pairs[:, 0], faces[pairs[:, 1]]]).astype(np.int32)
        weights, direction, gap, keep = _room(len(pairs))
        if not len(pairs):
            return nodes, weights, direction, gap, keep
        nowhere = np.zeros((len(faces), 3), dtype=bool)
        normals = unit_normals(x, faces)
        point_rows(x, pairs, count, faces, normals, nowhere, nowhere, nowhere[:, 0].copy(), weights, direction, gap,
                   keep)
        # which side of the cloth the obstacle is on follows from its own normal
        out = np.zeros_like(x)
        np.add.at(out, self.faces, unit_normals(x, self.faces)[:, None])
        direction = normals[pairs[:, 1]]
        direction = direction * np.where(np.einsum("ki,ki->k", direction, out[pairs[:, 0]]) > 0.0, 1.0, -1.0)[:, None]
        return nodes, -weights, direction, -np.einsum("ki,ka,kai->k", direction, weights, x[nodes]), keep

    def _points(self) -> RowsOfPairs:
        """Return rows of vertices of obstacles, points of features excepted, in faces of the cloth."""
        pairs = self.blunt_pairs
        rows = self.through_faces(pairs, self.x)
        return self._pairs(*rows, row_key(rows[0][:, 0], pairs[:, 1], 61))

    def _edges(self) -> RowsOfPairs:
        """Return rows of edges of the cloth over edges of obstacles, where neither end sits on a feature there."""
        nodes, of = self.edge_pairs
        # vertices on features have rows of their own
        sits = self.obstacles.edges[2][of] & (self.mesh.on[nodes[:, :2]] >= 0).any(axis=1)
        _, weights, direction, gap, keep = self.edges_at_start
        return self._pairs(nodes, weights, direction, gap, keep & ~sits, edge_key(nodes[:, :2], of, OVER))

    def _points_and_faces(self, points: Index, faces: Index) -> Index:
        """Return near pairs of a node of `points` and the number of a face, (k, 2)."""
        if not len(points):
            return np.zeros((0, 2), np.int32)
        corners = np.concatenate([np.repeat(points[:, None], 3, axis=1), faces]).astype(np.int32)
        near = find_near_rows(self.x, corners, len(points), self.group, self.reach)
        pairs: Index = np.column_stack([points[near[:, 0]], near[:, 1] - len(points)]).astype(np.int32)
        return pairs

    def _pairs(self, nodes: Index, weights: Vec, direction: Vec, gap: Vec, keep: Mask, key: Names) -> RowsOfPairs:
        """Return rows of the pairs that may close in the step, with the obstacles' motion in the target."""
        k = keep.nonzero()[0]
        if not len(k):
            return no_pairs()
        all_pairs = nodes, weights
        k = self._coming(k, gap, direction, np.einsum("ka,kai->ki", weights, self.v[nodes]), 0.0, self.deep,
                         lambda some: self.inside.of_pairs(all_pairs[0][some], all_pairs[1][some], self.x))
        nodes, weights, direction = nodes[k], weights[k], direction[k]
        hard = np.where(nodes >= len(self.mesh.x), weights, 0.0)
        target = self._closing(gap[k]) - np.einsum("ki,ka,kai->k", direction, hard, self.v[nodes])
        return RowsOfPairs(nodes, weights - hard, direction, target, key[k])

    def _depth_behind(self, faces: Index) -> Vec:
        """Return the depth behind each face beyond which a vertex is tested for being inside, (k,) [m]: behind one side
        of a board that is thinner than edges of the cloth is before the other side."""
        thickness = self.obstacles.thickness[faces]
        depth: Vec = np.where(self.obstacles.closed[faces], np.minimum(thickness + 2.0 * ON_SURFACE, self.deep),
                               self.deep)
        return depth

    def _coming(self, k: Index, gap: Vec, direction: Vec, relative: Vec, sway: float, depth: Vec | float,
                sample: Callable[[Index], SampledPairs]) -> Index:
        """Return the pairs of k that may close within the step, those deeper than `depth` only if they are inside.
        sample: function that samples some pairs."""
        gap, relative = gap[k], relative[k]
        closing = -np.einsum("ki,ki->k", direction[k], relative)
        near: Mask = (gap < self._may(closing, relative, sway)) & (gap > -depth)
        deep = (gap <= -depth).nonzero()[0]
        if len(deep):
            near[deep] = self.inside.contain_nearest(sample(k[deep]), self.x, gap[deep])
        return k[near]

    def _may(self, closing: Vec, relative: Vec, sway: float) -> Vec:
        """Return the distance by which pairs may close in the step, (k,) [m], with a margin for forces and for the
        fraction `sway` of all their motion. closing: closing speeds, (k,) [m/s]. relative: relative velocities, (k, 3)
        [m/s]."""
        may: Vec = self.h * (np.maximum(closing, 0.0) + sway * np.linalg.norm(relative, axis=1)) + self.fall
        return may

    def _closing(self, gap: Vec) -> Vec:
        """Return the least speed of separation of each pair, (k,) [m/s]: a pair that is apart may close its gap, and
        one that is inside separates."""
        least: Vec = np.minimum(-gap / self.h, SEPARATION_SPEED)
        return least


def _distinct(contacts: VertexContacts) -> Index:
    """Return rows, in order, without those of a vertex whose normal is nearly that of a nearer row of it."""
    order = np.lexsort((contacts.gap, contacts.vertex))
    v, n = contacts.vertex[order], contacts.normal[order]
    if not (v[1:] == v[:-1]).any():
        return np.arange(len(order))
    keep = np.ones(len(order), dtype=bool)
    for back in range(1, 4):  # few are near one vertex
        same = v[back:] == v[:-back]
        alike = np.einsum("ki,ki->k", n[back:], n[:-back]) > LIKE
        keep[back:] &= ~(same & alike & keep[:-back])
    return np.sort(order[keep])


def _room(count: int) -> tuple[Vec, Vec, Vec, Mask]:
    """Return arrays for weights (k, 4), directions (k, 3), gaps (k,) and which rows to keep (k,)."""
    return np.zeros((count, 4)), np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=bool)
