"""Passings of cloth over sharp features, now or within a step: of its edges over edges, of its faces over points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...state import Index, Mask, Vec
from .features import Features
from .sharp_kernels import edges_passing, points_passing, write_swept_boxes

SHALLOW = 0.25  #: of a feature's edge: cloth that is deeper inside has not entered over it


CAPACITY = 256


@dataclass(frozen=True)
class Passing:
    """Pairs of an edge or a face of a sheet and the feature that it passes over or through, now or within the step."""

    of: Index  #: number of the sheet's edge or face, (k,)
    feature: Index  #: number of the edge or of the point, (k,)
    barycentric: Vec  #: fraction along the sheet's edge, (k,), or weights of the face's corners, (k, 3)
    positions: Vec  #: positions on the feature at the step start [m], (k, 3)
    when: Vec  #: fraction of the step after which they touch, (k,), 0 where they touch already


def passing_edges(x: Vec, step: Vec, edges: Index, features: Features, h: float, thickness: float, depth: float
                  ) -> Passing:
    """Return the passings of a sheet's edges, (e, 2), over edges of features.

    x, step: positions of vertices and their displacements in a step of h [s], (n, 3) [m]. thickness: distance within
    which an edge on the outer side of a feature passes it [m]. depth: distance to which a passing edge may be inside
    [m].
    """
    box, feature_box = np.empty((len(edges), 6)), np.empty((len(features.edges), 6))
    moves = h * features.velocity
    deep = np.minimum(depth, SHALLOW * features.shortest_runs[1])
    grown = max(thickness, depth)
    write_swept_boxes(x, step, edges, grown, box)
    write_swept_boxes(features.points, moves, features.edges, 0.0, feature_box)
    pair, fractions = _with_enough_capacity(
        lambda pair, fractions: edges_passing(x, step, edges, box, features.points, moves, features.edges,
                                              features.edge_normals, feature_box, deep, thickness, pair, fractions), 3)
    ends, t = features.points[features.edges[pair[:, 1]]], fractions[:, 1, None]
    return Passing(pair[:, 0], pair[:, 1], fractions[:, 0], (1.0 - t) * ends[:, 0] + t * ends[:, 1], fractions[:, 2])


def passing_points(x: Vec, step: Vec, faces: Index, features: Features, requested: Mask, h: float, thickness: float,
                   depth: float) -> Passing:
    """Return the passings of a sheet's faces, (m, 3), over points of features.

    requested: which points of the features are tested, (P,). x, step, h, thickness, depth: as in `passing_edges`.
    """
    points = requested.nonzero()[0].astype(np.int32)
    box, point_box = np.empty((len(faces), 6)), np.empty((len(points), 6))
    moves, outward = h * features.velocity, np.ascontiguousarray(features.point_normals.sum(axis=1)[points])
    deep = np.minimum(depth, SHALLOW * features.shortest_runs[0][points])
    grown = max(thickness, depth)
    write_swept_boxes(x, step, faces, grown, box)
    write_swept_boxes(features.points, moves, points[:, None], 0.0, point_box)
    pair, fractions = _with_enough_capacity(
        lambda pair, fractions: points_passing(x, step, faces, box, features.points, moves, points, outward, point_box,
                                               deep, thickness, pair, fractions), 4)
    number = points[pair[:, 1]]
    return Passing(pair[:, 0], number, fractions[:, :3], features.points[number], fractions[:, 3])


def _with_enough_capacity(search: Callable[[Index, Vec], int], columns: int) -> tuple[Index, Vec]:
    """Return pairs (k, 2) and fractions (k, columns) that a search finds, repeated if it needs more room."""
    capacity = CAPACITY
    while True:
        pair, fractions = np.empty((capacity, 2), dtype=np.int32), np.empty((capacity, columns))
        count = search(pair, fractions)
        if count <= capacity:
            return pair[:count], fractions[:count]
        capacity = count
