"""Tunnelling: rows against motion of cloth through faces, edges and vertices of obstacles in a step that had no row
there: of a vertex that comes in over a sharp edge beside it, or of cloth that forces turn off its course."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...meshing.normals import unit_normals
from ...rows.names import Names
from ...state import Index, Mask, Vec
from .contact_rows import (
    OVER_AT_END,
    RowsOfPairs,
    SheetContacts,
    VertexContacts,
    edge_key,
    no_pairs,
    row_key,
    spread_rows,
)
from .feature_contacts import SEPARATION_SPEED, FeatureContacts
from .inside_obstacles import SampledPairs
from .touching_kernels import INSIDE
from .unknowns import Unknowns

WITHIN = 0.01  #: of the cloth's thickness: what is no deeper at the end of a step is not asked about
RENEWED = 57  #: bit of the names of these rows


def detect_tunnelling(detection: FeatureContacts, unknowns: Unknowns, v: Vec,
                      tolerance: float) -> tuple[SheetContacts, float]:
    """Return rows for cloth that is in an obstacle by more than a tolerance [m] at the end of a step in which it moves
    with v, (n, 3) [m/s], and its largest depth there [m]. Each row is of the face or edge that was crossed last."""
    step = _Step(detection, np.concatenate([v, detection.now.velocity]), tolerance)
    contacts, target, deepest = step.vertices()
    inside = np.zeros(len(detection.x), dtype=bool)
    inside[contacts.vertex] = True
    (of_edges, over), (of_corners, on) = step.edges(inside), step.corners()
    return contacts.contacts(target, spread_rows(unknowns, [of_edges, of_corners])), max(deepest, over, on)


def inside(detection: FeatureContacts, tolerance: float) -> tuple[Vec, float]:
    """Return positions of the cloth, (k, 3) [m], that are in a closed obstacle by more than a tolerance [m] at the
    start of a step, and the largest depth [m]."""
    step = _Step(detection, detection.v, tolerance)
    positions, deepest = [np.zeros((0, 3))], 0.0

    def add_inside(sample: Callable[[Index], SampledPairs], gap: Vec, keep: Mask) -> None:
        nonlocal deepest
        k = (keep & (gap < -tolerance)).nonzero()[0]
        if len(k):
            where = sample(k)
            is_inside = detection.inside.contain_nearest(where, detection.x, gap[k])
            positions.append(where.positions[is_inside, 0])
            deepest = max(deepest, float(-gap[k[is_inside]].min(initial=0.0)))

    pairs = detection.vertex_pairs
    _, _, gap, keep = detection.faces_at_start
    add_inside(lambda k: detection.inside.of_vertices(pairs[k], detection.x), gap, keep)
    nodes, of = detection.edge_pairs
    over, weights, _, gap, keep = detection.edges_at_start
    deep = (keep & (gap < -tolerance)).nonzero()[0]
    if len(deep):
        keep = keep.copy()
        keep[deep] = ~step.sits(nodes[deep], of[deep])
    add_inside(lambda k: detection.inside.of_pairs(over[k], weights[k], detection.x), gap, keep)
    through, face_weights, _, gap, keep = detection.through_faces(
        np.concatenate([detection.blunt_pairs, detection.corner_pairs]), detection.x)
    add_inside(lambda k: detection.inside.of_pairs(through[k], face_weights[k], detection.x), gap, keep)
    return np.concatenate(positions), deepest


class _Step:
    """Straight motion from the start of a step to its end."""

    most_at_once = 48  #: rows over several vertices that are added at a time, the deepest first

    def __init__(self, detection: FeatureContacts, v: Vec, tolerance: float) -> None:
        self.detection, self.v, self.tolerance = detection, v, tolerance
        self.x = detection.x + detection.h * v

    def vertices(self) -> tuple[VertexContacts, Vec, float]:
        """Return contacts of vertices of the cloth behind faces or in the ground, their least speeds of separation
        [m/s], and the largest depth [m]."""
        detection, obstacles, h = self.detection, self.detection.obstacles, self.detection.h
        (contacts, before, keep), cloth = self._through_faces(), len(detection.mesh.x)
        below = detection.on_ground(obstacles.ground.find(
            self.x[:cloth], detection.now.time + h, obstacles.above, -self.tolerance), RENEWED)
        above = obstacles.ground.gaps(detection.x[below.vertex], detection.now.time) - obstacles.above
        contacts, before = contacts.join(below), np.concatenate([before, above])
        k, deepest, missing_speed = self._in(
            lambda k: SampledPairs(self.x[contacts.vertex[k], None], contacts.vertex[k].astype(np.int64),
                                   contacts.obstacle[k]),
            before, contacts.gap, np.concatenate([keep, np.ones(len(above), dtype=bool)]))
        contacts = contacts.of(k)
        return contacts, np.einsum("ki,ki->k", contacts.normal, self.v[contacts.vertex]) + missing_speed, deepest

    def _through_faces(self) -> tuple[VertexContacts, Vec, Mask]:
        """Return contacts of vertices of the cloth that may be behind faces, their distances at the start [m], and a
        mask of those to keep."""
        detection, obstacles = self.detection, self.detection.obstacles
        pairs = detection.vertex_pairs
        weights, direction, gap, keep = detection.at_faces(pairs, self.x)
        pairs, weights, direction, gap, keep = self._select_deep(obstacles.closed[pairs[:, 1]], gap, keep, pairs,
                                                                 weights, direction)
        vertex, face = pairs.T
        side = np.einsum("ki,ki->k", detection.normals[face],
                         detection.x[vertex] - detection.x[detection.faces[face, 0]])
        # of an obstacle with two sides, that on which the cloth was counts
        flipped = ~obstacles.closed[face] & (np.abs(weights[:, 1:]) > INSIDE).all(axis=1) & (
            np.where(side < 0.0, -1.0, 1.0) != np.sign(np.einsum("ki,ki->k", direction, unit_normals(
                self.x, detection.faces)[face])))
        direction[flipped] *= -1.0
        gap = np.where(flipped, -gap - 2.0 * obstacles.thickness[face], gap)
        before = np.where(obstacles.closed[face], side, np.abs(side)) - obstacles.thickness[face]
        obstacle_velocity = -np.einsum("ka,kai->ki", weights[:, 1:], self.v[detection.faces[face]])
        return detection.on_faces(pairs, direction, gap, obstacle_velocity, RENEWED), before, keep

    def edges(self, inside: Mask) -> tuple[RowsOfPairs, float]:
        """Return rows of edges of the cloth through those of obstacles, without edges on which one of their ends sits,
        and where no vertex is inside, and the largest depth [m]."""
        detection, obstacles = self.detection, self.detection.obstacles
        nodes, of = detection.edge_pairs
        nodes, weights, direction, gap, keep = detection.over_edges(nodes, of, self.x)
        nodes, weights, direction, of, gap, keep = self._select_deep(obstacles.closed[obstacles.edges[1][of, 0]], gap,
                                                                     keep, nodes, weights, direction, of)
        if not len(nodes):
            return no_pairs(), 0.0
        keep &= ~inside[nodes[:, :2]].any(axis=1) & ~self.sits(nodes, of)
        face = obstacles.edges[1][of, 0]
        thickness = obstacles.thickness[face]
        before = np.einsum("ki,ka,kai->k", direction, weights, detection.x[nodes])
        flipped = ~obstacles.closed[face] & (before < 0.0)
        direction[flipped] *= -1.0
        gap, before = np.where(flipped, -gap - 2.0 * thickness, gap), np.where(flipped, -before, before) - thickness
        detected = self._in(lambda k: detection.inside.of_pairs(nodes[k], weights[k], self.x), before, gap, keep)
        return self._pairs(nodes, weights, direction, detected, edge_key(nodes[:, :2], of, OVER_AT_END))

    def _select_deep(self, closed: Mask, gap: Vec, keep: Mask, *tables: Any) -> tuple[Any, ...]:
        """Return the tables, gap and keep of pairs, (k,), that may be crossed. Of obstacles with two sides these are
        all pairs."""
        k = (keep & ((gap < -self.tolerance) | ~closed)).nonzero()[0]
        return *(table[k] for table in tables), gap[k], keep[k]

    def sits(self, nodes: Index, of: Index) -> Mask:
        """Return whether an end of the cloth's edge of a pair, (k, 4), sits on the obstacle's edge or on its run. of:
        numbers of the obstacles' edges, (k,)."""
        features = self.detection.now.features
        edge = self.detection.obstacles.feature_of_edge[of]
        on = self.detection.mesh.on[nodes[:, :2]]
        at_point = (on >= 0) & (on < len(features.points))
        if not len(features.edges):
            return np.zeros(len(nodes), dtype=bool)
        ends = (on[:, :, None] == features.edges[edge][:, None]).any(axis=2) & at_point
        same = (features.run[np.where(at_point | (on < 0), 0, on - len(features.points))]
                == features.run[edge][:, None]) & (on >= len(features.points))
        sits: Mask = (edge >= 0) & (ends | same).any(axis=1)
        return sits

    def corners(self) -> tuple[RowsOfPairs, float]:
        """Return rows of vertices of obstacles through faces of the cloth, those of corners without a vertex of the
        cloth included, and the largest depth [m]."""
        detection = self.detection
        pairs = np.concatenate([detection.blunt_pairs, detection.corner_pairs])
        if not len(pairs):
            return no_pairs(), 0.0
        nodes, weights, direction, gap, keep = detection.through_faces(pairs, self.x)
        before = np.einsum("ki,ka,kai->k", direction, weights, detection.x[nodes])
        detected = self._in(lambda k: detection.inside.of_pairs(nodes[k], weights[k], self.x), before, gap, keep)
        return self._pairs(nodes, weights, direction, detected,
                           row_key(nodes[:, 0], pairs[:, 1], RENEWED + 1))

    def _in(self, sample: Callable[[Index], SampledPairs], before: Vec, gap: Vec,
            keep: Mask) -> tuple[Index, float, Vec]:
        """Return the pairs that are crossed in the step, the last one for each vertex or edge of the cloth; the largest
        depth [m]; and the missing speeds of separation [m/s]. sample: function that samples some pairs at the end.
        before, gap: distances at the start and the end [m], (k,)."""
        detection = self.detection
        # a pair that was inside already separates at the admissible speed
        least = np.minimum(before + detection.h * SEPARATION_SPEED, 0.0)
        came = before > -detection.deep
        least[~came] = 0.0
        k = (keep & (gap < least - self.tolerance)).nonzero()[0]
        if not len(k):
            return k, 0.0, np.zeros(0)
        where = sample(k)
        # cloth just below a lid is far from the edges below it, over which it did not come in
        within = detection.inside.contain(where, self.x, self.tolerance) | (
            came[k] & ~detection.obstacles.is_closed[where.obstacle])
        k, one = k[within], where.name[within]
        # a vertex came through the last one; edges, and vertices that crossed none as they are at the end, leave by the
        # nearest
        sort_key = np.where(came & (where.positions.shape[1] == 1), -before / np.maximum(before - gap, 1e-300), -gap)[k]
        order = np.lexsort((gap[k], sort_key, ~came[k], one))
        k, one = k[order], one[order]
        first = np.ones(len(k), dtype=bool)
        first[1:] = one[1:] != one[:-1]
        k = k[first]
        return k, float((least - gap)[k].max(initial=0.0)), (least - gap)[k] / detection.h

    def _pairs(self, nodes: Index, weights: Vec, direction: Vec, detected: tuple[Index, float, Vec], key: Names
               ) -> tuple[RowsOfPairs, float]:
        """Return rows of the pairs that were found, `most_at_once` at most, and the largest depth [m]."""
        k, deepest, missing_speed = detected
        if not len(k):
            return no_pairs(), 0.0
        most = np.sort(np.argsort(-missing_speed, kind="stable")[:self.most_at_once])
        k, missing_speed = k[most], missing_speed[most]
        soft = np.where(nodes[k] < len(self.detection.mesh.x), weights[k], 0.0)
        return RowsOfPairs(nodes[k], soft, direction[k],
                     np.einsum("ki,ka,kai->k", direction[k], soft, self.v[nodes[k]]) + missing_speed, key[k]), deepest
