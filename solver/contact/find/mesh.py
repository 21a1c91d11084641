"""Surfaces of triangles: which of them are near each other, how far they may move, whether they cross.

The only file that knows ipctk. Pairs that outlive the collection which they were taken from crash the interpreter at
its end, so they are turned into arrays here at once.
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
from .distance_kernels import squares
from .lonely import LonelyBodies
from .near import NEARER, crossing_rows, near_rows, overlapping_rows
from .near_kernels import meeting_times
from .neighbours import Neighbours, lengths
from .through_kernels import may_go_through

ROUNDING = 1.0e-9  #: of lengths: what differs by more is no rounding
STRAYED = 0.1  #: of the nodes: where more have strayed further than a list serves it is made anew
SHORT = 0.15  #: of the room to move that is asked for: what pays where near pairs serve a few places alone
LISTS = 2  #: that are kept: where a stage stands and where it flies to
ROUNDS = 24  #: in which nodes are held up by each other, before all are held up alike
GOING_ON = 4  #: of them, in which who meets one that is held up goes on until then


@dataclass(frozen=True)
class NearPairs:
    """All pairs that are within some distance; node numbers."""

    nodes: Index  #: (k, 4): a point and a triangle, or two ends of an edge and two of another one
    points: int  #: that many pairs of a point and a triangle stand first
    bodies: Index  #: of both sides, (k, 2)
    square: Vec  #: of how far apart both sides are [m²], (k,)

    @property
    def is_self(self) -> Mask:
        """Whether both sides are of one body, (k,)."""
        same: Mask = self.bodies[:, 0] == self.bodies[:, 1]
        return same


class Surfaces:
    """All that may touch, as one mesh."""

    def __init__(self, rest: Vec, triangles: Index, group: Index, owner: Index | None = None, meets: Any = None,
                 serves_long: bool = True, wires: Index | None = None) -> None:
        """rest: of all nodes, (n, 3) [m]. triangles: (t, 3). group: of each node, (n,): those of one group do not touch
        each other, as what is prescribed, and −1 is none.

        owner: which body each node is of, (n,). meets: whether two bodies touch each other, or one itself, (k, k), the
        same both ways round; all do where left out. serves_long: whether near pairs are asked for at many places.
        wires: edges besides those of triangles, (k, 2).
        """
        self._room_share = 1.0 if serves_long else SHORT
        wires = np.zeros((0, 2), dtype=np.int32) if wires is None else wires
        self.nodes: Index = np.unique(np.concatenate([triangles.ravel(), wires.ravel()])).astype(np.int32)  #: (s,)
        place = np.zeros(len(rest), dtype=np.int32)
        place[self.nodes] = np.arange(len(self.nodes))
        self.triangles = place[triangles].astype(np.int32)  #: (t, 3), numbers among `nodes`
        alone = place[wires].astype(np.int32)
        sides = ipctk.edges(self.triangles) if len(self.triangles) else np.zeros((0, 2), dtype=np.int32)
        self.edges: Index = np.ascontiguousarray(np.concatenate([sides, alone]), dtype=np.int32)  #: (e, 2), likewise
        self._rest = rest[self.nodes]
        self._group = np.asarray(group[self.nodes], dtype=np.int32)
        # points as triangles without size, so that one sweep meets them with the others
        points = np.repeat(np.arange(len(self.nodes), dtype=np.int32)[:, None], 3, axis=1)
        self._points_and_triangles: Index = np.concatenate([points, self.triangles])
        self._room = self._swept = self._overlap = 1024
        self._edges_and_triangles: Index = np.concatenate([self.edges[:, [0, 1, 1]], self.triangles])
        self._owner, self._meets = None if owner is None else owner[self.nodes], meets
        self._bodies: LonelyBodies | None = None
        if self._owner is not None and np.any(self._owner != self._owner[:1]):
            self._bodies = LonelyBodies(self._owner, meets, np.concatenate([self.triangles, alone[:, [0, 1, 1]]]))
        self._lists: list[Neighbours] = []  #: the last ones that served, that which did last first
        self._spare = 0.0  #: [m] that nodes may go before what is listed does not serve them
        ipctk.set_num_threads(threads.count())

    @cached_property
    def _mesh(self) -> Any:
        """ipctk's. It is asked where it is not sure that nothing crosses: most surfaces of a sheet that is remeshed
        never need one."""
        mesh = ipctk.CollisionMesh(self._rest, self.edges, self.triangles)
        alone = int(self._group.max(initial=-1)) + 1 + np.arange(len(self.nodes))
        mesh.can_collide = ipctk.make_vertex_patches_filter(np.where(self._group < 0, alone, self._group))
        if self._owner is not None and self._meets is not None:
            for strangers in _strangers(self._owner, self._meets):
                mesh.can_collide = mesh.can_collide & strangers
        return mesh

    @cached_property
    def _tree(self) -> Any:
        return ipctk.LBVH()

    def near(self, x: Vec, distance: float, spare: float = 0.0) -> NearPairs:
        """All pairs within a distance [m] at positions of all nodes (n, 3) [m], in one order.

        spare: how far nodes may go from here before what is found does not help to find those elsewhere [m].
        """
        here = np.ascontiguousarray(x[self.nodes])
        self._spare = max(self._spare, self._room_share * spare)
        listed, moved = self._listed(here, distance)
        kept, square = listed.near(here, moved, distance)
        pairs, points = listed.pairs[kept], int(np.searchsorted(kept, listed.points))
        owner = np.zeros(len(here), dtype=np.int32) if self._owner is None else self._owner
        return NearPairs(self.nodes[pairs], points, owner[pairs[:, [0, 3]]], square[kept])

    def _listed(self, here: Vec, distance: float) -> tuple[Neighbours, Vec]:
        """A list that serves where nodes are at (s, 3) [m], and how far they are from where it was made, (s,) [m].

        Where a few have strayed from the one that serves best, their pairs alone are looked for.
        """
        best, fewest = None, STRAYED * len(here)
        lonely = self._lonely(here, here, distance, 0.0)
        for listed in self._lists:
            moved = self._moved(listed, here, lonely)[0]
            strays = listed.strays(moved, distance)
            if (count := np.count_nonzero(strays)) <= fewest:
                best, fewest = (listed, moved, strays), count
        if best is None:
            found, moved = self._list(here, distance + 2.0 * self._spare), np.zeros(len(here))
        else:
            found, moved, strays = best
        others = [listed for listed in self._lists if listed is not found]
        if best is not None and fewest:
            # where those that have not strayed would be beside them
            together = self._moved(found, here, lonely)[1]()
            places = np.where(strays[:, None], here - together, found.places)
            others, moved = [found, *others], np.where(strays, 0.0, moved)
            found = found.after(places, strays, *self._within(places, found.distance, strays))
        self._lists = [found, *others[: LISTS - 1]]
        return found, moved

    def _lonely(self, here: Vec, there: Vec, distance: float, share: float) -> Mask | None:
        """Nodes, (s,), of bodies that are apart from all others, as `LonelyBodies` has them; None where these are too
        few to be worth it."""
        if self._bodies is None:
            return None
        lonely = self._bodies.lonely(here, there, distance, share)
        return lonely if np.count_nonzero(lonely) > STRAYED * len(lonely) else None

    def _moved(self, listed: Neighbours, here: Vec, lonely: Mask | None) -> tuple[Vec, Callable[[], Vec]]:
        """How far nodes at (s, 3) [m] are from where a list was made, (s,) [m], those of a body that is apart from all
        others beside its own nodes; and what gives how far each went with those beside it, (s, 3) [m]."""
        moved, all_went = listed.moved(here)
        if self._bodies is None or lonely is None:
            return moved, lambda: np.broadcast_to(all_went, here.shape)
        own, went = self._bodies.own_ways(listed.places, here)
        return np.where(lonely, own, moved), lambda: np.where(lonely[:, None], went(), all_went)

    def _list(self, here: Vec, distance: float) -> Neighbours:
        """All pairs within a distance [m] where nodes are at (s, 3) [m]."""
        pairs, points, keys, square = self._within(here, distance, None)
        return Neighbours(here, distance, pairs, points, keys, np.sqrt(square))

    def _within(self, here: Vec, distance: float, moved: Mask | None) -> tuple[Index, int, Index, Vec]:
        """Pairs, (k, 4), within a distance [m], so many of them of a point and a triangle; a number of each, which
        rises among those of a kind; and squares of how far apart they are [m²]. moved: (s,), see `near_rows`."""
        count = len(self.nodes)
        found, keys = [], []
        for corners, points in ((self._points_and_triangles, count), (self.edges, 0)):
            rows = near_rows(here, corners, points, self._group, distance, self._room, moved)
            self._room = max(self._room, 2 * len(rows))
            pairs = self._nodes_of(rows, points)
            meets = self._that_meet(pairs)
            found.append(pairs[meets])
            keys.append((rows[:, 0].astype(np.int64) * len(corners) + rows[:, 1])[meets])
        pairs = np.concatenate(found)
        square = np.empty(len(pairs))
        threads.parallel_for(squares, len(square), here, pairs, len(found[0]), square)
        return pairs, len(found[0]), np.concatenate(keys), square

    def _nodes_of(self, rows: Index, points: int) -> Index:
        """Nodes of both rows of pairs (k, 2), the first a point where there are points, (k, 4)."""
        if points:
            return np.column_stack([rows[:, 0], self.triangles[rows[:, 1] - points]])
        return np.column_stack([self.edges[rows[:, 0]], self.edges[rows[:, 1]]])

    def _that_meet(self, pairs: Index) -> Mask | slice:
        """Which of pairs (k, 4) are of bodies that touch each other."""
        if self._owner is None or self._meets is None:
            return slice(None)
        met: Mask = self._meets[self._owner[pairs[:, 0]], self._owner[pairs[:, 3]]]
        return met

    def nearest_to_itself(self, x: Vec, distance: float, bodies: int) -> Vec:
        """The least distance of a pair on one connected piece of each body at positions (n, 3), (b,) [m], as far as it
        is below a distance."""
        near, same = self._measured(x, distance)
        least = np.full(bodies, distance)
        np.minimum.at(least, near.bodies[same, 0], np.sqrt(near.square[same]))
        return least

    def nearest_of_pieces(self, x: Vec, distance: float, thickness: Vec, bodies: int) -> Vec:
        """The least gap of two connected pieces of each two bodies, (b, b) [m], as far as it is below a distance.

        x: positions, (n, 3) [m]. thickness: of each node, by which a gap to another body is less, (n,) [m].
        """
        near, same = self._measured(x, distance + 2.0 * float(thickness.max(initial=0.0)))
        thick = np.where(near.is_self, 0.0, thickness[near.nodes[:, 0]] + thickness[near.nodes[:, 3]])
        least = np.full((bodies, bodies), distance)
        np.minimum.at(least, tuple(near.bodies[~same].T), (np.sqrt(near.square) - thick)[~same])
        return np.minimum(least, least.T)

    def _measured(self, x: Vec, distance: float) -> tuple[NearPairs, Mask]:
        """Near pairs, and whether both sides of each are on one connected piece."""
        near = self.near(x, distance)
        piece = np.full(len(x), -1)
        piece[self.nodes] = self._pieces
        return near, piece[near.nodes[:, 0]] == piece[near.nodes[:, 3]]

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
        number, here, way = alike[self.nodes], start[self.nodes], (end - start)[self.nodes]
        pairs, points = self._that_may_meet(here, here + way)
        when = np.empty(len(pairs))
        asked = np.arange(len(pairs))
        for count in range(ROUNDS):
            # ways get shorter from round to round: no other pairs meet, and those whose nodes go as before as before
            when[asked] = self._times(here, here + steps[number, None] * way, pairs[asked],
                                      int(np.searchsorted(asked, points)))
            met = np.flatnonzero(when <= 1.0)
            if not len(met):
                break
            meeting = number[pairs[met]]
            own = steps[meeting]
            least = own.min(axis=1, keepdims=True)
            # on until they meet, or as far as the one of the pair that is held up most: so far nothing met before
            cut = own * when[met, None]
            is_alike = (own == least).all(axis=1)
            cut[~is_alike] = np.maximum(cut, least)[~is_alike] if count < GOING_ON else least[~is_alike]
            before = steps.copy()
            np.minimum.at(steps, meeting, cut)
            asked = np.flatnonzero((steps < before)[number][pairs].any(axis=1))
        else:
            steps[:] = self.largest_step(start, end)
        each: Vec = steps[alike]
        return each

    def meeting(self, start: Vec, end: Vec) -> tuple[Index, Vec]:
        """Pairs that meet on straight ways between positions (n, 3), nodes (k, 4), and shares of the ways, (k,), after
        which a tenth of their distance is left."""
        here, there = start[self.nodes], end[self.nodes]
        pairs, points = self._that_may_meet(here, there)
        when = self._times(here, there, pairs, points)
        met = np.flatnonzero(when <= 1.0)
        return self.nodes[pairs[met]], when[met]

    def _times(self, here: Vec, there: Vec, pairs: Index, points: int) -> Vec:
        """When pairs (k, 4), so many of them of a point and a triangle, meet between places (s, 3), see
        `meeting_times`."""
        when = np.empty(len(pairs))
        threads.parallel_for(meeting_times, len(when), here, there, pairs, points, when)
        return when

    def _that_may_meet(self, here: Vec, there: Vec) -> tuple[Index, int]:
        """Pairs that may meet on straight ways between places (s, 3), (k, 4), and so many of a point and a triangle."""
        if not self._lists:
            return self._swept_by(here, there, None)
        listed, way, lonely = self._lists[0], lengths(there - here), self._lonely(here, there, 0.0, NEARER)
        if self._bodies is not None and lonely is not None:
            way = np.where(lonely, self._bodies.own_ways(here, there)[0], way)
        may, strays = listed.may_meet(self._moved(listed, here, lonely)[0], way)
        points = int(np.searchsorted(may, listed.points))
        if not strays.any():
            return listed.pairs[may], points
        more, points_more = self._swept_by(here, there, strays)
        known = listed.pairs[may]
        return (np.concatenate([known[:points], more[:points_more], known[points:], more[points_more:]]),
                points + points_more)

    def _swept_by(self, here: Vec, there: Vec, moved: Mask | None) -> tuple[Index, int]:
        """The same by boxes along the ways. moved: nodes of which one is in each pair, (s,); None: any that go."""
        found = []
        for corners, points in ((self._points_and_triangles, len(self.nodes)), (self.edges, 0)):
            rows = crossing_rows(here, there, corners, points, self._group, self._swept, moved)
            self._swept = max(self._swept, 2 * len(rows))
            pairs = self._nodes_of(rows, points)
            found.append(pairs[self._that_meet(pairs)])
        return np.concatenate(found), len(found[0])

    def crossing(self, x: Vec) -> tuple[Index, Index] | None:
        """Nodes of an edge (2,) and of a triangle (3,) that it goes through at positions (n, 3), None where none does.
        """
        here = np.ascontiguousarray(x[self.nodes])
        rows = overlapping_rows(here, self._edges_and_triangles, len(self.edges), self._group, self._overlap)
        self._overlap = max(self._overlap, 2 * len(rows))
        if not may_go_through(here, self._edges_and_triangles, rows):
            return None
        if not ipctk.has_intersections(self._mesh, here, self._tree):
            return None
        return next(self.crossings(x), None)

    def crossings(self, x: Vec) -> Iterator[tuple[Index, Index]]:
        """The same of all edges and triangles that do."""
        here = x[self.nodes]
        self._tree.can_vertices_collide = self._mesh.can_collide
        self._tree.build(here, self.edges, self.triangles, 0.0)
        found = _numbers(self._tree.detect_edge_face_candidates(), "edge_id", "face_id")
        edges, faces = self.edges[found[:, 0]], self.triangles[found[:, 1]]
        may = (edges[:, :, None] != faces[:, None, :]).all(axis=(1, 2)) & ~_on_one_side(here[edges], here[faces])
        for edge, face in zip(edges[may], faces[may]):
            if ipctk.is_edge_intersecting_triangle(*here[edge], *here[face]):
                yield self.nodes[edge], self.nodes[face]


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


def _on_one_side(ends: Vec, corners: Vec) -> Mask:
    """Which edges, (k, 2, 3), have both ends on one side of the plane of a triangle, (k, 3, 3), beyond all rounding."""
    first = corners[:, 0]
    normal = np.cross(corners[:, 1] - first, corners[:, 2] - first)
    way = ends - first[:, None]
    height = np.einsum("ki,kei->ke", normal, way)
    least = ROUNDING * np.linalg.norm(normal, axis=1) * np.linalg.norm(way, axis=2).max(axis=1)
    side: Mask = (height[:, 0] * height[:, 1] > 0.0) & (np.abs(height).min(axis=1) > least)
    return side


def _numbers(pairs: Any, first: str, second: str) -> Index:
    """Two numbers of each pair, (k, 2), sorted, whatever order the search left them in."""
    if not len(pairs):
        return np.zeros((0, 2), dtype=np.int32)
    found = np.array([*map(attrgetter(first, second), pairs)], dtype=np.int32)
    ordered: Index = found[np.lexsort((found[:, 1], found[:, 0]))]
    return ordered
