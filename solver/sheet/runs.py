"""Edges of features as runs: from one corner to another, or around a ring, of any number of edges."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..contact.find.features import Features
from ..state import Index, Vec
from .runs_kernels import edges_under, nearest_on_run


class Runs:
    """The runs of features. A vertex slides along all edges of its run; its `on` is P + run while a mesh is changed."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.points = len(features.points)
        self._to_ends: dict[int, Vec] = {}
        self.positions = np.ascontiguousarray(features.points)
        self.edges: Index = np.ascontiguousarray(features.edges, dtype=np.int32)
        count = int(features.run.max(initial=-1)) + 1
        bounds = np.searchsorted(features.run, np.arange(count + 1))
        self.first: Index = bounds.astype(np.int32)  #: first edge of each run, (R + 1,)
        self.rows = [slice(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:])]  #: edges of each run
        ends = np.stack([features.edges[bounds[:-1], 0], features.edges[bounds[1:] - 1, 1]], axis=1)
        #: corners at the ends of each run, (R, 2), −1 for a ring
        self.ends: Index = np.where(features.corner[ends], ends, -1).astype(np.int32)

    @cached_property
    def point_outward(self) -> Vec:
        """Return the sums of the normals at points, (P, 3), zero for thin features."""
        return np.ascontiguousarray(self.features.point_normals.sum(axis=1))

    @cached_property
    def outward(self) -> Vec:
        """Return the normalised means of both normals of edges, (E, 3), zero for thin features."""
        mean = self.features.edge_normals.sum(axis=1)
        size = np.linalg.norm(mean, axis=1)
        unit: Vec = np.ascontiguousarray(mean / np.where(size > 0.0, size, 1.0)[:, None])
        return unit

    @cached_property
    def lengths(self) -> Vec:
        """Return the lengths of the edges, (E,) [m]."""
        ends = self.features.points[self.features.edges]
        lengths: Vec = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        return lengths

    @cached_property
    def starts(self) -> Vec:
        """Return the arc length along its run at which each edge starts, (E,) [m]."""
        before = np.cumsum(self.lengths) - self.lengths
        first = np.searchsorted(self.features.run, self.features.run)
        starts: Vec = before - before[first]
        return starts

    def from_edges(self, on: Index) -> Index:
        """Return a copy of `on`, (n,), with numbers of runs in place of edges."""
        numbers = on.copy()
        edge = on >= self.points
        numbers[edge] = self.points + self.features.run[on[edge] - self.points]
        return numbers

    def to_edges(self, on: Index, x: Vec) -> Index:
        """Return a copy of `on`, (n,), with the run's edge nearest to the vertex in place of the run. x: (n, 3) [m]."""
        numbers = on.copy()
        edges_under(self.positions, self.edges, self.first, self.ends, np.ascontiguousarray(x), numbers)
        return numbers

    def nearest(self, run: int, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return the edge of a run nearest to points x, (k, 3) [m], the fraction along it, and the position there.

        They are (k,), (k,) and (k, 3) [m]. Fractions are unclamped at the ends of the run, positions are clamped.
        """
        rows, count = self.rows[run], len(x)
        edge, fraction, position = np.empty(count, np.int32), np.empty(count), np.empty((count, 3))
        nearest_on_run(self.positions, self.edges, rows.start, rows.stop, bool(self.ends[run, 0] >= 0),
                       np.ascontiguousarray(x), edge, fraction, position)
        return edge, fraction, position

    def along(self, run: int, x: Vec) -> Vec:
        """Return the arc lengths of the positions on a run nearest to points x, (k, 3) [m], (k,) [m]."""
        edge, fraction, _ = self.nearest(run, x)
        length: Vec = self.starts[edge] + np.minimum(np.maximum(fraction, 0.0), 1.0) * self.lengths[edge]
        return length

    def length_to_ends(self, run: int) -> Vec:
        """Return the arc lengths of both corners of a run, (2,) [m]."""
        if run not in self._to_ends:
            self._to_ends[run] = self.along(run, self.features.points[self.ends[run]])
        return self._to_ends[run]

    def direction(self, run: int, x: Vec) -> Vec:
        """Return the unit direction, (3,), of the edge of a run nearest to a point x, (3,) [m]."""
        edge = int(self.nearest(run, x[None])[0][0])
        edge_vector = np.diff(self.features.points[self.features.edges[edge]], axis=0)[0]
        unit: Vec = edge_vector / np.linalg.norm(edge_vector)
        return unit

    def velocity(self, on: Index, x: Vec) -> Vec:
        """Return the velocities of the features at vertices on them, (k, 3) [m/s].

        on: points or runs, (k,). x: positions, (k, 3) [m].
        """
        velocity = np.zeros_like(x)
        point = on < self.points
        velocity[point] = self.features.velocity[on[point]]
        for run in np.unique(on[~point]) - self.points:
            of_run = np.flatnonzero(on == self.points + run)
            velocity[of_run] = self.features.on_edges(self.nearest(int(run), x[of_run])[0], x[of_run])[1]
        return velocity
