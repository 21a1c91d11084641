"""Sharp features of obstacles for cloth: corners, edges, nails and wires, at one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...state import Index, Mask, Vec

STEEP = np.deg2rad(80.0)  #: angle between the normals of a thin feature and its outward direction


@dataclass(frozen=True)
class Features:
    """Sharp points and edges of obstacles at one time.

    Edges of one run are consecutive, the end of one is the start of the next. A run goes from one corner to another, or
    around a ring. A point that is no corner only joins two edges of a run: nothing is constrained to such a point.
    """

    points: Vec  #: [m], (P, 3)
    velocity: Vec  #: of points [m/s], (P, 3); along edges it is linear
    corner: Mask  #: (P,): corners, tips of nails, ends and sharp turns of wires
    point_normals: Vec  #: of the faces there, outwards, of unit length, (P, K, 3), zero where there are fewer
    point_counts: Index  #: number of normals of each point, (P,), 0 at points of wires
    edges: Index  #: numbers of two points each, (E, 2)
    edge_normals: Vec  #: of the faces to the left and right of each, outwards, (E, 2, 3); zero where it is thin
    thin: Mask  #: (E,): a wire, whose normals are those of the cloth that it touches (`steep_normals`)
    run: Index  #: of each edge, (E,), ascending
    point_object: Index  #: collider of each point, (P,)
    edge_object: Index  #: collider of each edge, (E,)

    @property
    def along(self) -> Vec:
        """Return the unit directions of the edges, (E, 3)."""
        span = self.points[self.edges[:, 1]] - self.points[self.edges[:, 0]]
        unit: Vec = span / np.linalg.norm(span, axis=1)[:, None]
        return unit

    @cached_property
    def shortest_runs(self) -> tuple[Vec, Vec]:
        """Return the length of the shortest run at each point, (P,) [m], and that of the shortest run with a corner on
        the run of each edge, (E,) [m]."""
        ends, run = self.edges, self.run
        length = np.linalg.norm(self.points[ends[:, 1]] - self.points[ends[:, 0]], axis=1)
        whole = np.bincount(run, length)[run]
        at_point = np.full(len(self.points), np.inf)
        np.minimum.at(at_point, ends.ravel(), np.repeat(whole, 2))
        of_run = np.full(int(run.max(initial=-1)) + 1, np.inf)
        np.minimum.at(of_run, run, at_point[ends].min(axis=1))
        return at_point, of_run[run]

    def on_edges(self, edge: Index, x: Vec) -> tuple[Vec, Vec]:
        """Return the nearest positions on edges, given by number, (k,), to points x, (k, 3) [m], and the velocities
        there, (k, 3) [m] and (k, 3) [m/s]."""
        first, second = self.edges[edge].T
        start, span = self.points[first], self.points[second] - self.points[first]
        t = np.einsum("ki,ki->k", x - start, span) / np.einsum("ki,ki->k", span, span)
        t = np.clip(t, 0.0, 1.0)[:, None]
        return start + t * span, (1.0 - t) * self.velocity[first] + t * self.velocity[second]


def join_features(several: Sequence[Features]) -> Features:
    """Return the features of several objects in one table; the numbers of objects do not change."""
    most = max((features.point_normals.shape[1] for features in several), default=1)
    points = np.cumsum([0, *(len(features.points) for features in several)])
    runs = np.cumsum([0, *(int(features.run.max(initial=-1)) + 1 for features in several)])

    def all_of(name: str, none: tuple[int, ...], kind: type) -> np.ndarray:
        return np.concatenate([np.zeros((0, *none), dtype=kind), *(getattr(features, name) for features in several)])

    return Features(
        all_of("points", (3,), float), all_of("velocity", (3,), float), all_of("corner", (), bool),
        np.concatenate([np.zeros((0, most, 3)), *(
            np.pad(features.point_normals, ((0, 0), (0, most - features.point_normals.shape[1]), (0, 0)))
            for features in several)]),
        all_of("point_counts", (), np.int32),
        np.concatenate([np.zeros((0, 2), np.int32), *(features.edges + np.int32(first)
                                                      for features, first in zip(several, points))]),
        all_of("edge_normals", (2, 3), float), all_of("thin", (), bool),
        np.concatenate([np.zeros(0, np.int32),
                        *(features.run + np.int32(first) for features, first in zip(several, runs))]),
        all_of("point_object", (), np.int32), all_of("edge_object", (), np.int32))


def steep_normals(outwards: Vec, along: Vec | None = None) -> Vec:
    """Return unit normals of thin features, at STEEP to the outward direction: they permit motion almost only outwards.

    outwards: direction away from the feature, as the cloth's normal there, (k, 3). along: unit directions of wires,
    (k, 3), which have two normals across the wire, (k, 2, 3); None for points, as tips of nails, which have four,
    (k, 4, 3).
    """
    if along is None:
        out = outwards / np.linalg.norm(outwards, axis=1)[:, None]
        # the axis most perpendicular to the outward direction, so that the cross product is well defined
        least = np.zeros_like(out)
        least[np.arange(len(out)), np.abs(out).argmin(axis=1)] = 1.0
        first = np.cross(out, least)
        first /= np.linalg.norm(first, axis=1)[:, None]
        sides = np.stack([first, np.cross(out, first), -first, -np.cross(out, first)], axis=1)
    else:
        out = outwards - np.einsum("ij,ij->i", outwards, along)[:, None] * along
        out /= np.linalg.norm(out, axis=1)[:, None]
        across = np.cross(along, out)
        sides = np.stack([across, -across], axis=1)
    normals: Vec = np.cos(STEEP) * out[:, None] + np.sin(STEEP) * sides
    return normals
