"""Surfaces of triangles: near pairs, contact-free fractions of displacements, and intersections.

This file alone uses ipctk. Pairs must not outlive the collection that they were taken from, or the interpreter crashes
at its end: they are copied into arrays here at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import ipctk
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ... import threads
from ...state import Index, Mask, Vec
from .diagonals import other_diagonals
from .distance_kernels import squares
from .impact_times_kernels import impact_times
from .isolated_bodies import IsolatedBodies, with_groups_of_bodies
from .near import NEARER, find_near_rows, find_swept_rows, overlapping_rows
from .neighbours import Neighbours, lengths
from .swept_pairs import SweptPairs, find_swept_pairs
from .taking_kernels import mark_reduced, reduce_fractions, take_pairs
from .through_kernels import may_intersect

ROUNDING = 1.0e-9  #: relative to lengths: larger differences are not due to rounding
REBUILD = 0.1  #: fraction of the nodes: a list is rebuilt if more are outside the skin
SHORT = 0.15  #: fraction of the requested skin, for near pairs that are required at a few positions only
LISTS = 2  #: number of cached lists: for the start of a stage and its predicted end


@dataclass(frozen=True)
class NearPairs:
    """All pairs within a distance of each other, by node numbers."""

    nodes: Index  #: (k, 4): a point and a triangle, or two ends of an edge and two of another one
    points: int  #: number of pairs of a point and a triangle, which come first
    bodies: Index  #: of both sides, (k, 2)
    square: Vec  #: squared distances [m²], (k,)

    @property
    def is_self(self) -> Mask:
        """Return whether both sides of each pair are of one body, (k,)."""
        same: Mask = self.bodies[:, 0] == self.bodies[:, 1]
        return same


class Surfaces:
    """One mesh of all surfaces that may touch."""

    most_advances = 100_000  #: of a pair in the search for its contact time; then it may move that far
    rounds = 24  #: in which nodes block each other; after these all nodes have one fraction
    free_rounds = 4  #: first rounds, in which a node moves on until it touches a blocked node

    def __init__(self, rest: Vec, triangles: Index, group: Index, owner: Index | None = None, collide: Any = None,
                 serves_long: bool = True, wires: Index | None = None, quads: Index | None = None,
                 is_prescribed: Mask | None = None) -> None:
        """rest: positions of all nodes, (n, 3) [m]. triangles: (t, 3). group: of each node, (n,): nodes of one group,
        as prescribed ones, do not collide with each other; −1 for no group.

        owner: body of each node, (n,). collide: whether two bodies collide, or one with itself, (k, k), symmetric; None
        for all. serves_long: whether near pairs are required at many positions. wires: edges in addition to those of
        triangles, (k, 2). quads: corners in turn of two triangles that share the edge from the first to the third,
        (q, 4): triangles along the other diagonal are impenetrable, too. is_prescribed: nodes that no contact moves,
        (n,), as pins and obstacles, but not nodes attached to a rigid body; None for no node.
        """
        #: nodes that no contact moves, (n,)
        self.is_prescribed: Mask = np.zeros(len(rest), dtype=bool) if is_prescribed is None else is_prescribed
        self._skin_fraction = 1.0 if serves_long else SHORT
        wires = np.zeros((0, 2), dtype=np.int32) if wires is None else wires
        quads = np.zeros((0, 4), dtype=np.int32) if quads is None else quads
        triangles = np.concatenate([triangles, quads[:, [1, 2, 3]], quads[:, [1, 3, 0]]])
        self.nodes: Index = np.unique(np.concatenate([triangles.ravel(), wires.ravel()])).astype(np.int32)  #: (s,)
        number = np.zeros(len(rest), dtype=np.int32)
        number[self.nodes] = np.arange(len(self.nodes))
        self.triangles = number[triangles].astype(np.int32)  #: (t, 3), numbers among `nodes`
        links = number[wires].astype(np.int32)
        sides = ipctk.edges(self.triangles) if len(self.triangles) else np.zeros((0, 2), dtype=np.int32)
        self.edges: Index = np.ascontiguousarray(np.concatenate([sides, links]), dtype=np.int32)  #: (e, 2), likewise
        self._diagonal = other_diagonals(self.edges, number[quads], len(self.nodes))
        self._rest = rest[self.nodes]
        # points as triangles without size, so that one sweep finds them with the others
        points = np.repeat(np.arange(len(self.nodes), dtype=np.int32)[:, None], 3, axis=1)
        self._points_and_triangles: Index = np.concatenate([points, self.triangles])
        self._capacity = self._swept = self._overlap = 1024
        self._edges_and_triangles: Index = np.concatenate([self.edges[:, [0, 1, 1]], self.triangles])
        self._owner, self._collide = None if owner is None else owner[self.nodes], collide
        self._group = with_groups_of_bodies(group[self.nodes], self._owner, collide)
        self._body = np.zeros(len(self.nodes), np.int32) if owner is None else owner[self.nodes].astype(np.int32)
        self._bodies: IsolatedBodies | None = None
        if self._owner is not None and np.any(self._owner != self._owner[:1]):
            self._bodies = IsolatedBodies(self._owner, collide, np.concatenate([self.triangles, links[:, [0, 1, 1]]]))
        self._lists: list[Neighbours] = []  #: cached lists, the last used first
        self._margin = 0.0  #: [m] displacement of nodes up to which a list is valid
        self._last_swept: SweptPairs | None = None
        ipctk.set_num_threads(threads.count())

    @cached_property
    def _mesh(self) -> Any:
        """Return ipctk's mesh, which decides uncertain intersections: most remeshed sheets never need it."""
        mesh = ipctk.CollisionMesh(self._rest, self.edges, self.triangles)
        own_group = int(self._group.max(initial=-1)) + 1 + np.arange(len(self.nodes))
        mesh.can_collide = ipctk.make_vertex_patches_filter(np.where(self._group < 0, own_group, self._group))
        if self._owner is not None and self._collide is not None:
            for collision_filter in _collision_filters(self._owner, self._collide):
                mesh.can_collide = mesh.can_collide & collision_filter
        return mesh

    @cached_property
    def _tree(self) -> Any:
        """Return ipctk's bounding volume hierarchy, which each search for intersections rebuilds."""
        return ipctk.LBVH()

    def find_near_pairs(self, x: Vec, distance: float, margin: float = 0.0) -> NearPairs:
        """Return all pairs within `distance` [m] at positions x of all nodes, (n, 3) [m], in a deterministic order.

        margin: displacement of nodes up to which the Verlet list is reused [m].
        """
        positions = np.ascontiguousarray(x[self.nodes])
        self._margin = max(self._margin, self._skin_fraction * margin)
        listed, moved = self._find_list(positions, distance)
        within, square = listed.select_near(positions, moved, distance)
        count, points = len(within), int(np.searchsorted(within, listed.points))
        pairs = NearPairs(np.empty((count, 4), np.int32), points, np.empty((count, 2), np.int32), np.empty(count))
        threads.parallel_for(take_pairs, count, within, listed.pairs, square, self.nodes, self._body, pairs.nodes,
                             pairs.bodies, pairs.square)
        return pairs

    def _find_list(self, positions: Vec, distance: float) -> tuple[Neighbours, Vec]:
        """Return a list that is valid at positions (s, 3) [m], and distances from the listed positions, (s,) [m].

        Where few nodes are outside the skin of the best cached list, only pairs of these nodes are searched.
        """
        if self._lists and not self._lists[0].outside(moved := self._lists[0].measure(positions)[0], distance).any():
            return self._lists[0], moved
        best, fewest = None, REBUILD * len(positions)
        isolated = self._isolate(positions, positions, distance, 0.0)
        for listed in self._lists:
            moved = self._measure(listed, positions, isolated)[0]
            outside = listed.outside(moved, distance)
            if (count := np.count_nonzero(outside)) <= fewest:
                best, fewest = (listed, moved, outside), count
        if best is None:
            valid, moved = self._list(positions, distance + 2.0 * self._margin), np.zeros(len(positions))
        else:
            valid, moved, outside = best
        others = [listed for listed in self._lists if listed is not valid]
        if best is not None and fewest:
            # where those within the skin would be with the mean motion
            common = self._measure(valid, positions, isolated)[1]()
            listed_positions = np.where(outside[:, None], positions - common, valid.positions)
            others, moved = [valid, *others], np.where(outside, 0.0, moved)
            valid = valid.after(listed_positions, outside, *self._within(listed_positions, valid.distance, outside))
        self._lists = [valid, *others[: LISTS - 1]]
        return valid, moved

    def _isolate(self, before: Vec, after: Vec, distance: float, fraction: float) -> Mask | None:
        """Return which nodes, (s,), are of isolated bodies, see `find_isolated_nodes`; None if they are few."""
        if self._bodies is None:
            return None
        isolated = self._bodies.find_isolated_nodes(before, after, distance, fraction)
        return isolated if np.count_nonzero(isolated) > REBUILD * len(isolated) else None

    def _measure(self, listed: Neighbours, positions: Vec, isolated: Mask | None) -> tuple[Vec, Callable[[], Vec]]:
        """Return distances of nodes at (s, 3) [m] from the listed positions, (s,) [m], and a function that returns
        their common displacements, (s, 3) [m]: distances are relative to these, for an isolated body to its own."""
        moved, common = listed.measure(positions)
        if self._bodies is None or isolated is None:
            return moved, lambda: np.broadcast_to(common, positions.shape)
        own, own_common = self._bodies.measure_own_displacements(listed.positions, positions)
        return np.where(isolated, own, moved), lambda: np.where(isolated[:, None], own_common(), common)

    def _list(self, positions: Vec, distance: float) -> Neighbours:
        """Return a new list of all pairs within `distance` [m] with nodes at positions `positions`, (s, 3) [m]."""
        pairs, points, keys, square = self._within(positions, distance, None)
        return Neighbours(positions, distance, pairs, points, keys, np.sqrt(square))

    def _within(self, positions: Vec, distance: float, moved: Mask | None) -> tuple[Index, int, Index, Vec]:
        """Return pairs within `distance` [m], (k, 4), the number of those of a point and a triangle, keys that ascend
        among pairs of one kind, (k,), and squared distances, (k,) [m²]. moved: (s,), see `find_near_rows`."""
        count = len(self.nodes)
        within, keys = [], []
        for corners, points in ((self._points_and_triangles, count), (self.edges, 0)):
            rows = find_near_rows(positions, corners, points, self._group, distance, self._capacity, moved)
            self._capacity = max(self._capacity, 2 * len(rows))
            rows = rows if points else self._not_of_one_quad(rows)
            collide = self._that_collide(pairs := self._nodes_of(rows, points))
            within.append(pairs[collide])
            keys.append((rows[:, 0].astype(np.int64) * len(corners) + rows[:, 1])[collide])
        pairs = np.concatenate(within)
        square = np.empty(len(pairs))
        threads.parallel_for(squares, len(square), positions, pairs, len(within[0]), square)
        return pairs, len(within[0]), np.concatenate(keys), square

    def _nodes_of(self, rows: Index, points: int) -> Index:
        """Return nodes, (k, 4), of pairs of rows, (k, 2), of points and triangles, or of edges if `points` is 0."""
        if points:
            return np.column_stack([rows[:, 0], self.triangles[rows[:, 1] - points]])
        return np.column_stack([self.edges[rows[:, 0]], self.edges[rows[:, 1]]])

    def _not_of_one_quad(self, rows: Index) -> Index:
        """Return pairs of edges, (k, 2), without the pairs of both diagonals of one quad."""
        if self._diagonal is None:
            return rows
        remaining: Index = rows[self._diagonal[rows[:, 0]] != rows[:, 1]]
        return remaining

    def _that_collide(self, pairs: Index) -> Mask | slice:
        """Return which pairs of nodes, (k, 4), are of bodies that collide, (k,)."""
        if self._owner is None or self._collide is None:
            return slice(None)
        can_collide: Mask = self._collide[self._owner[pairs[:, 0]], self._owner[pairs[:, 3]]]
        return can_collide

    def nearest_to_itself(self, x: Vec, distance: float, bodies: int) -> Vec:
        """Return the least distance within one connected piece of each body, at most `distance`, (b,) [m].

        x: positions, (n, 3) [m]. bodies: number of bodies.
        """
        near, same = self._find_connected_pairs(x, distance)
        least = np.full(bodies, distance)
        np.minimum.at(least, near.bodies[same, 0], np.sqrt(near.square[same]))
        return least

    def nearest_of_pieces(self, x: Vec, distance: float, thickness: Vec, bodies: int) -> Vec:
        """Return the least gap between connected pieces of each two bodies, at most `distance`, (b, b) [m].

        x: positions, (n, 3) [m]. thickness: of each node, subtracted from gaps between bodies, (n,) [m]. bodies: number
        of bodies.
        """
        near, same = self._find_connected_pairs(x, distance + 2.0 * float(thickness.max(initial=0.0)))
        thick = np.where(near.is_self, 0.0, thickness[near.nodes[:, 0]] + thickness[near.nodes[:, 3]])
        least = np.full((bodies, bodies), distance)
        np.minimum.at(least, tuple(near.bodies[~same].T), (np.sqrt(near.square) - thick)[~same])
        return np.minimum(least, least.T)

    def _find_connected_pairs(self, x: Vec, distance: float) -> tuple[NearPairs, Mask]:
        """Return pairs within `distance` [m], and whether both sides of each are on one connected piece, (k,)."""
        near = self.find_near_pairs(x, distance)
        piece = np.full(len(x), -1)
        piece[self.nodes] = self._pieces
        return near, piece[near.nodes[:, 0]] == piece[near.nodes[:, 3]]

    @cached_property
    def _pieces(self) -> Index:
        """Return the number of the connected piece of each of `nodes`, (s,)."""
        count, (first, second) = len(self.nodes), self.edges.T
        graph = sp.coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
        pieces: Index = connected_components(graph, directed=False)[1]
        return pieces

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction, in [0, 1], of straight displacements from start to end, (n, 3) [m] each,
        after which the nearest pair has REMAINING of its distance."""
        return float(self.impacts(start, end)[1].min(initial=1.0))

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the contact-free fraction of the displacement of each node, in [0, 1], (n,).

        start, end: positions, (n, 3) [m]. alike: group of each node, (n,); a group has one fraction and, when blocked,
        does not block the others. In the first rounds a node that touches a blocked node moves on until contact, in
        later rounds only as far as the blocked node does, so that two near nodes that move side by side remain near.
        """
        steps = np.ones(int(alike.max(initial=0)) + 1)
        number, positions = alike[self.nodes].astype(np.int64), start[self.nodes]
        displacement, (pairs, points) = (end - start)[self.nodes], self._candidates(positions, end[self.nodes])
        when, tested = np.empty(len(pairs)), np.arange(len(pairs))
        for count in range(self.rounds):
            # displacements get shorter from round to round: no other pairs come near, and those whose nodes move as
            # before
            when[tested] = self._times(positions, positions + steps[number, None] * displacement, pairs[tested],
                                      int(np.searchsorted(tested, points)))
            cut = np.empty_like(steps)
            # continue until contact, or as far as the most blocked node of the pair: until there nothing touched before
            if not reduce_fractions(when, pairs, number, steps, count < self.free_rounds, cut):
                break
            less, before, steps = np.empty(len(pairs), dtype=bool), steps, cut
            threads.parallel_for(mark_reduced, len(pairs), pairs, number, before, steps, less)
            tested = np.flatnonzero(less)
        else:
            steps[:] = self.largest_step(start, end)
        each: Vec = steps[alike]
        return each

    def impacts(self, start: Vec, end: Vec) -> tuple[Index, Vec]:
        """Return the nodes, (k, 4), of pairs that touch on straight displacements from start to end, (n, 3) [m] each,
        and the fractions, (k,), after which a tenth of their distance is left."""
        before, after = start[self.nodes], end[self.nodes]
        pairs, points = self._candidates(before, after)
        when = self._times(before, after, pairs, points)
        touching = np.flatnonzero(when <= 1.0)
        return self.nodes[pairs[touching]], when[touching]

    def _times(self, before: Vec, after: Vec, pairs: Index, points: int) -> Vec:
        """Return the fractions of straight displacements after which pairs (k, 4) touch, (k,), see `impact_times`."""
        when = np.empty(len(pairs))
        threads.parallel_for(impact_times, len(when), before, after, pairs, points, self.most_advances, when)
        return when

    def _candidates(self, before: Vec, after: Vec) -> tuple[Index, int]:
        """Return candidate pairs for contact on straight displacements, (k, 4), and the number of those of a point and
        a triangle. before, after: positions, (s, 3) [m]."""
        if not self._lists:
            return self._sweep(before, after, None)
        listed, length, isolated = self._lists[0], lengths(after - before), self._isolate(before, after, 0.0, NEARER)
        if self._bodies is not None and isolated is not None:
            length = np.where(isolated, self._bodies.measure_own_displacements(before, after)[0], length)
        may, outside = listed.may_touch(self._measure(listed, before, isolated)[0], length)
        points = int(np.searchsorted(may, listed.points))
        if not outside.any():
            return listed.pairs[may], points
        self._last_swept = swept = find_swept_pairs(self._last_swept, before, after, outside, self._sweep)
        more, points_more, known = swept.pairs, swept.points, listed.pairs[may]
        return (np.concatenate([known[:points], more[:points_more], known[points:], more[points_more:]]),
                points + points_more)

    def _sweep(self, before: Vec, after: Vec, moved: Mask | None) -> tuple[Index, int]:
        """Return candidate pairs by swept boxes, as `_candidates`. moved: nodes of which each pair has one, (s,); None
        for all that move."""
        candidates = []
        for corners, points in ((self._points_and_triangles, len(self.nodes)), (self.edges, 0)):
            rows = find_swept_rows(before, after, corners, points, self._group, self._swept, moved)
            self._swept = max(self._swept, 2 * len(rows))
            rows = rows if points else self._not_of_one_quad(rows)
            pairs = self._nodes_of(rows, points)
            candidates.append(pairs[self._that_collide(pairs)])
        return np.concatenate(candidates), len(candidates[0])

    def intersection(self, x: Vec) -> tuple[Index, Index] | None:
        """Return the nodes of an edge, (2,), and of a triangle that it intersects, (3,), at positions x, (n, 3) [m];
        None if nothing intersects."""
        positions = np.ascontiguousarray(x[self.nodes])
        rows = overlapping_rows(positions, self._edges_and_triangles, len(self.edges), self._group, self._overlap)
        self._overlap = max(self._overlap, 2 * len(rows))
        if not may_intersect(positions, self._edges_and_triangles, rows):
            return None
        if not ipctk.has_intersections(self._mesh, positions, self._tree):
            return None
        return next(self.intersections(x), None)

    def intersections(self, x: Vec) -> Iterator[tuple[Index, Index]]:
        """Yield the nodes, (2,) and (3,), of each edge and triangle that intersect at positions x, (n, 3) [m]."""
        positions = x[self.nodes]
        self._tree.can_vertices_collide = self._mesh.can_collide
        self._tree.build(positions, self.edges, self.triangles, 0.0)
        candidates = _numbers(self._tree.detect_edge_face_candidates(), "edge_id", "face_id")
        edges, faces = self.edges[candidates[:, 0]], self.triangles[candidates[:, 1]]
        may = ((edges[:, :, None] != faces[:, None, :]).all(axis=(1, 2))
               & ~_on_one_side(positions[edges], positions[faces]))
        for edge, face in zip(edges[may], faces[may]):
            if ipctk.is_edge_intersecting_triangle(*positions[edge], *positions[face]):
                yield self.nodes[edge], self.nodes[face]


def _collision_filters(owner: Index, collide: Any) -> Iterator[Any]:
    """Yield ipctk filters that exclude pairs of bodies that do not collide. owner: (s,). collide: (k, k)."""
    own_number = np.arange(len(owner)) + len(collide)  # a number of its own for each node
    without_itself = ~np.diagonal(collide)
    if without_itself.any():
        yield ipctk.make_vertex_patches_filter(np.where(without_itself[owner], owner, own_number).astype(np.int32))
    is_same = ~ipctk.make_vertex_patches_filter(owner.astype(np.int32))
    excluded = np.triu(~collide, 1)
    while excluded.any():
        # two bodies that do not collide, and all others that collide with none of the group
        group = np.argwhere(excluded)[0].tolist()
        for other in range(len(collide)):
            if other not in group and not collide[other, group].any():
                group.append(other)
        excluded[np.ix_(group, group)] = False
        labels = np.where(np.isin(owner, group), 0, own_number)
        yield ipctk.make_vertex_patches_filter(labels.astype(np.int32)) | is_same


def _on_one_side(ends: Vec, corners: Vec) -> Mask:
    """Return which edges with ends (k, 2, 3) are, beyond rounding, on one side of the plane of their triangle, (k,).

    corners: of the triangles, (k, 3, 3).
    """
    first = corners[:, 0]
    normal = np.cross(corners[:, 1] - first, corners[:, 2] - first)
    offset = ends - first[:, None]
    height = np.einsum("ki,kei->ke", normal, offset)
    least = ROUNDING * np.linalg.norm(normal, axis=1) * np.linalg.norm(offset, axis=2).max(axis=1)
    side: Mask = (height[:, 0] * height[:, 1] > 0.0) & (np.abs(height).min(axis=1) > least)
    return side


def _numbers(pairs: Any, first: str, second: str) -> Index:
    """Return the attributes `first` and `second` of ipctk's pairs, (k, 2), sorted."""
    if not len(pairs):
        return np.zeros((0, 2), dtype=np.int32)
    numbers = np.array([*map(attrgetter(first, second), pairs)], dtype=np.int32)
    ordered: Index = numbers[np.lexsort((numbers[:, 1], numbers[:, 0]))]
    return ordered
