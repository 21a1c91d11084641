"""Surfaces of triangles: which of them are near each other, how far they may move, whether they cross.

The only file that knows ipctk. Pairs that outlive the collection which they were taken from crash the interpreter at
its end, so they are turned into arrays here at once.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from .distance_kernels import squares
from .near import crossing_rows, near_rows
from .near_kernels import meeting_times

LEFT_OVER = 0.9  #: of its distance: by less no pair comes near enough to count as meeting, see LEFT
ROUNDS = 24  #: in which nodes are held up by each other, before all are held up alike
GOING_ON = 4  #: of them, in which who meets one that is held up goes on until then


@dataclass(frozen=True)
class Known:
    """Pairs that were found, outside of which none was nearer than a distance; numbers among a surface's nodes."""

    places: Vec  #: where nodes were then, (s, 3) [m]
    distance: float  #: [m]
    points: Index  #: of a point and a triangle, (k, 4)
    edges: Index  #: of two edges, (k, 4)

    def has_all(self, here: Vec, there: Vec) -> bool:
        """Whether all pairs are among them that may meet on straight ways between positions (s, 3) [m]."""
        since, way = (float(np.sqrt(np.einsum("ni,ni->n", move, move).max(initial=0.0)))
                      for move in (here - self.places, there - here))
        return LEFT_OVER * (self.distance - 2.0 * since) > 2.0 * way


@dataclass(frozen=True)
class Found:
    """Rows that were found to be near each other."""

    places: Vec  #: where nodes were then, (s, 3) [m]
    distance: float  #: as far as all were found [m]
    points: Index  #: of points and triangles, (k, 2)
    edges: Index  #: of edges, (k, 2)


@dataclass(frozen=True)
class NearPairs:
    """Pairs that may be nearer than some distance, all that are among them; node numbers."""

    nodes: Index  #: (k, 4): a point and a triangle, or two ends of an edge and two of another one
    points: int  #: that many pairs of a point and a triangle stand first
    bodies: Index  #: of both sides, (k, 2)

    @property
    def is_self(self) -> Mask:
        """Whether both sides are of one body, (k,)."""
        same: Mask = self.bodies[:, 0] == self.bodies[:, 1]
        return same


class Surfaces:
    """All that may touch, as one mesh."""

    def __init__(self, rest: Vec, triangles: Index, group: Index, owner: Index | None = None, meets: Any = None
                 ) -> None:
        """rest: of all nodes, (n, 3) [m]. triangles: (t, 3). group: of each node, (n,): those of one group do not touch
        each other, as what is prescribed, and −1 is none.

        owner: which body each node is of, (n,). meets: whether two bodies touch each other, or one itself, (k, k), the
        same both ways round; all do where left out.
        """
        self.nodes: Index = np.unique(triangles).astype(np.int32)  #: (s,) its nodes
        place = np.zeros(len(rest), dtype=np.int32)
        place[self.nodes] = np.arange(len(self.nodes))
        self.triangles = place[triangles].astype(np.int32)  #: (t, 3), numbers among `nodes`
        self.edges: Index = np.ascontiguousarray(ipctk.edges(self.triangles), dtype=np.int32)  #: (e, 2), likewise
        self._mesh = ipctk.CollisionMesh(rest[self.nodes], self.edges, self.triangles)
        self._group = np.asarray(group[self.nodes], dtype=np.int32)
        alone = int(self._group.max(initial=-1)) + 1 + np.arange(len(self.nodes))
        self._mesh.can_collide = ipctk.make_vertex_patches_filter(np.where(self._group < 0, alone, self._group))
        # points as triangles without size, so that one sweep meets them with the others
        points = np.repeat(np.arange(len(self.nodes), dtype=np.int32)[:, None], 3, axis=1)
        self._points_and_triangles: Index = np.concatenate([points, self.triangles])
        self._room = self._swept = 1024
        self._owner, self._meets = None if owner is None else owner[self.nodes], meets
        if self._owner is not None and meets is not None:
            for strangers in _strangers(self._owner, meets):
                self._mesh.can_collide = self._mesh.can_collide & strangers
        self._known: Known | None = None
        self._found: Found | None = None
        self._tree = ipctk.LBVH()
        ipctk.set_num_threads(threads.count())

    def near(self, x: Vec, distance: float) -> NearPairs:
        """All pairs within a distance [m] at positions of all nodes (n, 3) [m], in one order."""
        here = np.ascontiguousarray(x[self.nodes])
        count = len(self.nodes)
        moved = None
        if self._found is not None and self._found.distance >= distance:
            # where some stand as they did, pairs of these are those that were found
            moved = (here != self._found.places).any(axis=1)
        points = self._near(here, self._points_and_triangles, count, distance, moved)
        edges = self._near(here, self.edges, 0, distance, moved)
        self._found = Found(here, distance, points, edges)
        first = np.column_stack([points[:, 0], self.triangles[points[:, 1] - count]])
        second = np.column_stack([self.edges[edges[:, 0]], self.edges[edges[:, 1]]])
        first, second = self._that_meet(first), self._that_meet(second)
        self._known = Known(here, distance, first, second)
        pairs = np.concatenate([first, second])
        owner = np.zeros(count, dtype=np.int32) if self._owner is None else self._owner
        return NearPairs(self.nodes[pairs], len(first), owner[pairs[:, [0, 3]]])

    def _that_meet(self, pairs: Index) -> Index:
        """Those of pairs (k, 4) whose bodies touch each other."""
        if self._owner is None or self._meets is None:
            return pairs
        met: Index = pairs[self._meets[self._owner[pairs[:, 0]], self._owner[pairs[:, 3]]]]
        return met

    def _near(self, x: Vec, corners: Index, points: int, distance: float, moved: Mask | None) -> Index:
        """Rows of corners that are within a distance of each other, (k, 2), in one order wherever they are.

        moved: which nodes did since rows were found, (s,), of which some may be farther; None where none were.
        """
        found = near_rows(x, corners, points, self._group, distance, self._room, moved)
        self._room = max(self._room, 2 * len(found))
        if moved is None or self._found is None:
            return found
        before = self._found.points if points else self._found.edges
        still = before[~moved[corners[before]].any(axis=(1, 2))]
        both = np.concatenate([still, found])
        ordered: Index = both[np.lexsort((both[:, 1], both[:, 0]))]
        return ordered

    def nearest_to_itself(self, x: Vec, distance: float) -> float:
        """The least distance of a pair on one connected piece at positions (n, 3), as far as it is below a distance."""
        _, square, same = self._measured(x, distance)
        return float(np.sqrt(square[same].min(initial=distance**2)))

    def nearest_of_pieces(self, x: Vec, distance: float, thickness: Vec, bodies: int) -> Vec:
        """The least gap of two connected pieces of each two bodies, (b, b) [m], as far as it is below a distance.

        x: positions, (n, 3) [m]. thickness: of each node, by which a gap to another body is less, (n,) [m].
        """
        near, square, same = self._measured(x, distance + 2.0 * float(thickness.max(initial=0.0)))
        thick = np.where(near.is_self, 0.0, thickness[near.nodes[:, 0]] + thickness[near.nodes[:, 3]])
        least = np.full((bodies, bodies), distance)
        np.minimum.at(least, tuple(near.bodies[~same].T), (np.sqrt(square) - thick)[~same])
        return np.minimum(least, least.T)

    def _measured(self, x: Vec, distance: float) -> tuple[NearPairs, Vec, Mask]:
        """Near pairs, the squares of their distances [m²], and whether both sides are on one connected piece."""
        near = self.near(x, distance)
        piece = np.full(len(x), -1)
        piece[self.nodes] = self._pieces
        square = np.empty(len(near.nodes))
        squares(0, len(square), x, near.nodes, near.points, square)
        return near, square, piece[near.nodes[:, 0]] == piece[near.nodes[:, 3]]

    @cached_property
    def _pieces(self) -> Index:
        """Which connected piece of the surface each of `nodes` belongs to, (s,)."""
        count, (first, second) = len(self.nodes), self.edges.T
        graph = sp.coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
        pieces: Index = connected_components(graph, directed=False)[1]
        return pieces

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move, (n, 3) [m] each, in [0, 1], in which nothing meets, gaps kept open."""
        return float(self.meeting(start, end)[1].min(initial=1.0))

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """The same of each node, (n,), those of one number `alike` (n,) the same: what meets does not hold up the rest.

        Who is held up is where others did not expect it: these go on until they meet it, and in later rounds only as
        far as it does. So two that were near and go side by side stay so.
        """
        steps = np.ones(int(alike.max(initial=0)) + 1)
        for count in range(ROUNDS):
            nodes, when = self.meeting(start, start + steps[alike, None] * (end - start))
            if not len(when):
                break
            own = steps[alike[nodes]]
            least = own.min(axis=1, keepdims=True)
            # on until they meet, or as far as the one of the pair that is held up most: so far nothing met before
            cut = own * when[:, None]
            is_alike = (own == least).all(axis=1)
            cut[~is_alike] = np.maximum(cut, least)[~is_alike] if count < GOING_ON else least[~is_alike]
            np.minimum.at(steps, alike[nodes], cut)
        else:
            steps[:] = self.largest_step(start, end)
        each: Vec = steps[alike]
        return each

    def meeting(self, start: Vec, end: Vec) -> tuple[Index, Vec]:
        """Pairs that meet on straight ways between positions (n, 3), nodes (k, 4), and shares of the ways, (k,), after
        which a tenth of their distance is left."""
        here, there = start[self.nodes], end[self.nodes]
        if self._known is not None and self._known.has_all(here, there):
            first, second = self._known.points, self._known.edges
        else:
            first, second = self._swept_by(here, there)
        nodes, when = np.concatenate([first, second]), np.empty(len(first) + len(second))
        threads.share(meeting_times, len(when), here, there, nodes, len(first), when)
        meets = np.flatnonzero(when <= 1.0)
        return self.nodes[nodes[meets]], when[meets]

    def _swept_by(self, here: Vec, there: Vec) -> tuple[Index, Index]:
        """Pairs whose boxes along straight ways overlap, (k, 4): of a point and a triangle, and of two edges."""
        count = len(self.nodes)
        points = self._crossing(here, there, self._points_and_triangles, count)
        edges = self._crossing(here, there, self.edges, 0)
        return (self._that_meet(np.column_stack([points[:, 0], self.triangles[points[:, 1] - count]])),
                self._that_meet(np.column_stack([self.edges[edges[:, 0]], self.edges[edges[:, 1]]])))

    def _crossing(self, here: Vec, there: Vec, corners: Index, points: int) -> Index:
        found = crossing_rows(here, there, corners, points, self._group, self._swept)
        self._swept = max(self._swept, 2 * len(found))
        return found

    def crossing(self, x: Vec) -> tuple[Index, Index] | None:
        """Nodes of an edge (2,) and of a triangle (3,) that it goes through at positions (n, 3), None where none does.
        """
        here = x[self.nodes]
        if not ipctk.has_intersections(self._mesh, here, self._tree):
            return None
        self._tree.can_vertices_collide = self._mesh.can_collide
        self._tree.build(here, self.edges, self.triangles, 0.0)
        for e, f in _numbers(self._tree.detect_edge_face_candidates(), "edge_id", "face_id"):
            edge, face = self.edges[e], self.triangles[f]
            if not np.isin(edge, face).any() and ipctk.is_edge_intersecting_triangle(*here[edge], *here[face]):
                return self.nodes[edge], self.nodes[face]
        return None


def _strangers(owner: Index, meets: Any) -> Iterator[Any]:
    """Filters that leave out what does not meet. owner: (s,); meets: (k, k)."""
    alone = np.arange(len(owner)) + len(meets)  # a number of its own for each node
    without_itself = ~np.diagonal(meets)
    if without_itself.any():
        yield ipctk.make_vertex_patches_filter(np.where(without_itself[owner], owner, alone).astype(np.int32))
    is_same = ~ipctk.make_vertex_patches_filter(owner.astype(np.int32))
    apart = np.triu(~meets, 1)
    while apart.any():
        # two that do not meet, and as many more of which no two do
        group = np.argwhere(apart)[0].tolist()
        for other in range(len(meets)):
            if other not in group and not meets[other, group].any():
                group.append(other)
        apart[np.ix_(group, group)] = False
        labels = np.where(np.isin(owner, group), 0, alone)
        yield ipctk.make_vertex_patches_filter(labels.astype(np.int32)) | is_same


def _numbers(pairs: Any, first: str, second: str) -> Index:
    """Two numbers of each pair, (k, 2), sorted, whatever order the search left them in."""
    if not len(pairs):
        return np.zeros((0, 2), dtype=np.int32)
    found = np.array([*map(attrgetter(first, second), pairs)], dtype=np.int32)
    ordered: Index = found[np.lexsort((found[:, 1], found[:, 0]))]
    return ordered
