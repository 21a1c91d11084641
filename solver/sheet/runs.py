"""Edges of features as runs: from one corner to another one, or around a ring, whatever pieces they are made of."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..contact.find.features import Features
from ..state import Index, Vec
from .runs_kernels import edges_under, nearest_on_run


class Runs:
    """A vertex on a run may slide over all its edges. While a mesh is changed `on` of such a vertex is P + its run."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.points = len(features.points)
        self._to_ends: dict[int, Vec] = {}
        self.places = np.ascontiguousarray(features.points)
        self.edges: Index = np.ascontiguousarray(features.edges, dtype=np.int32)
        count = int(features.run.max(initial=-1)) + 1
        bounds = np.searchsorted(features.run, np.arange(count + 1))
        self.first: Index = bounds.astype(np.int32)  #: edge of each run, (R + 1,)
        self.rows = [slice(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:])]  #: edges of each run
        ends = np.stack([features.edges[bounds[:-1], 0], features.edges[bounds[1:] - 1, 1]], axis=1)
        #: corners at the ends of each run, (R, 2), -1 of rings
        self.ends: Index = np.where(features.corner[ends], ends, -1).astype(np.int32)

    @cached_property
    def point_outward(self) -> Vec:
        """Sums of the normals at points, (P, 3), zero where thin."""
        return np.ascontiguousarray(self.features.point_normals.sum(axis=1))

    @cached_property
    def outward(self) -> Vec:
        """Unit means of the normals of edges, (E, 3), zero where thin."""
        mean = self.features.edge_normals.sum(axis=1)
        size = np.linalg.norm(mean, axis=1)
        unit: Vec = np.ascontiguousarray(mean / np.where(size > 0.0, size, 1.0)[:, None])
        return unit

    @cached_property
    def lengths(self) -> Vec:
        """Return lengths of the edges [m], (E,)."""
        ends = self.features.points[self.features.edges]
        lengths: Vec = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        return lengths

    @cached_property
    def starts(self) -> Vec:
        """How far along its run each edge starts [m], (E,)."""
        before = np.cumsum(self.lengths) - self.lengths
        first = np.searchsorted(self.features.run, self.features.run)
        starts: Vec = before - before[first]
        return starts

    def from_edges(self, on: Index) -> Index:
        """`on` (n,) with numbers of runs in place of edges."""
        numbers = on.copy()
        edge = on >= self.points
        numbers[edge] = self.points + self.features.run[on[edge] - self.points]
        return numbers

    def to_edges(self, on: Index, x: Vec) -> Index:
        """`on` (n,) with numbers of edges again, those that are nearest to x (n, 3)."""
        numbers = on.copy()
        edges_under(self.places, self.edges, self.first, self.ends, np.ascontiguousarray(x), numbers)
        return numbers

    def nearest(self, run: int, x: Vec) -> tuple[Index, Vec, Vec]:
        """The nearest edge of a run to points x (k, 3), its share t of it, unclamped at the ends of the run, and the
        place there, clamped: (k,), (k,), (k, 3)."""
        rows, count = self.rows[run], len(x)
        edge, share, place = np.empty(count, np.int32), np.empty(count), np.empty((count, 3))
        nearest_on_run(self.places, self.edges, rows.start, rows.stop, bool(self.ends[run, 0] >= 0),
                       np.ascontiguousarray(x), edge, share, place)
        return edge, share, place

    def along(self, run: int, x: Vec) -> Vec:
        """How far along the run the places are that are nearest to points (k, 3) [m], (k,)."""
        edge, share, _ = self.nearest(run, x)
        length: Vec = self.starts[edge] + np.minimum(np.maximum(share, 0.0), 1.0) * self.lengths[edge]
        return length

    def length_to_ends(self, run: int) -> Vec:
        """How far along a run its corners are [m], (2,)."""
        if run not in self._to_ends:
            self._to_ends[run] = self.along(run, self.features.points[self.ends[run]])
        return self._to_ends[run]

    def direction(self, run: int, x: Vec) -> Vec:
        """Unit direction of the run nearest to a point, (3,)."""
        edge = int(self.nearest(run, x[None])[0][0])
        way = np.diff(self.features.points[self.features.edges[edge]], axis=0)[0]
        unit: Vec = way / np.linalg.norm(way)
        return unit

    def velocity(self, on: Index, x: Vec) -> Vec:
        """Return velocities of the features under vertices at x (k, 3) that are on points or runs, (k,): (k, 3) [m/s].
        """
        velocity = np.zeros_like(x)
        point = on < self.points
        velocity[point] = self.features.velocity[on[point]]
        for run in np.unique(on[~point]) - self.points:
            here = np.flatnonzero(on == self.points + run)
            velocity[here] = self.features.on_edges(self.nearest(int(run), x[here])[0], x[here])[1]
        return velocity
