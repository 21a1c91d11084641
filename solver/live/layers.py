"""Contact between sheets of cloth: half-spaces that keep vertices on their side of other sheets and of own folds.

Two vertices that face each other are separated by a plane half way between them, normal to the mean of their normals:
each stays on the side where it is when a step begins. Motion of one sheet between vertices of another is not detected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix

from ..parts.projective.body import NOTHING, TargetRows
from ..state import Index, Mask, Vec
from .layer_kernels import BOXES, facing_pairs, sort_into_boxes, write_vertex_normals

FACING = 0.75  #: of an edge: how far aside vertices may be that face each other
WITHIN = 2.0  #: thicknesses at a step's end, within which two get a plane
PAIRS = 1024  #: that there is room for at first


@dataclass(frozen=True)
class Layer:
    """Mesh and contact parameters of one sheet of cloth."""

    near: Index  #: pairs of vertices without contact, as returned by `neighbours`
    triangles: Index  #: (t, 3); a sheet without triangles has no contact
    count: int  #: number of vertices
    edge: float  #: mean length of edges [m]
    thickness: float  #: smallest distance of vertices from other sheets [m]
    friction: float  #: Coulomb's coefficient


def neighbours(triangles: Index, count: int) -> Index:
    """Return pairs (i, j) of vertices at most two edges apart as keys i `count` + j, ascending, (k,).

    triangles: (t, 3). count: number of vertices.
    """
    a, b = triangles.ravel(), np.roll(triangles, 1, axis=1).ravel()
    graph = coo_matrix((np.ones(2 * len(a), np.int32), (np.r_[a, b], np.r_[b, a])), shape=(count, count)).tocsr()
    pairs = (graph @ graph + graph).tocoo()
    keys: Index = np.unique(pairs.row.astype(np.int64) * count + pairs.col)
    return keys


class Layers:
    """Contact of all sheets with each other and with themselves."""

    def __init__(self, layers: Sequence[Layer], in_contact: Mask) -> None:
        """layers: all sheets. in_contact: whether two sheets collide, (s, s), symmetric; diagonal: self-contact."""
        self._all = len(layers)
        self._which = [k for k, layer in enumerate(layers) if len(layer.triangles) and in_contact[k].any()]
        some = [layers[k] for k in self._which]
        self._first: Index = np.cumsum([0, *(layer.count for layer in some)]).astype(np.int64)
        if not some:
            return
        count = int(self._first[-1])
        self._sheet_of = np.repeat(np.arange(len(some), dtype=np.int32), [layer.count for layer in some])
        self._in_contact = np.ascontiguousarray(in_contact[np.ix_(self._which, self._which)])
        self._edge, self._thickness, self._friction = (np.array([getattr(layer, name) for layer in some], float)
                                                       for name in ("edge", "thickness", "friction"))
        self._triangles = np.concatenate([layer.triangles + np.int32(start) for layer, start in zip(some, self._first)])
        self._near = np.concatenate([layer.near for layer in some])
        self._near_start: Index = np.cumsum([0, *(len(layer.near) for layer in some)]).astype(np.int64)
        self._x, self._v, self._normals = (np.zeros((count, 3)) for _ in range(3))
        self._box, self._order = np.zeros((count, 3), np.int32), np.zeros(count, np.int32)
        self._inside, self._marks = np.zeros((6, count)), np.zeros(count)
        self._start, self._grid, self._shape = np.zeros(BOXES**3 + 1, np.int32), np.zeros(6), np.zeros(3, np.int64)
        self._pairs, self._across = np.zeros((PAIRS, 2), np.int32), np.zeros((PAIRS, 3))

    def planes(self, x: Sequence[Vec], v: Sequence[Vec], h: float) -> list[TargetRows]:
        """Return the half-spaces for the vertices of each sheet in a step of h seconds, with weights of 1.

        x, v: positions [m] and velocities [m/s] of the vertices of each sheet at the start of the step, (n, 3) each.
        """
        targets = [NOTHING] * self._all
        if not self._which:
            return targets
        np.concatenate([x[k] for k in self._which], out=self._x)
        np.concatenate([v[k] for k in self._which], out=self._v)
        count = self._facing(h)
        (i, j), normal = self._pairs[:count].T, self._across[:count]
        half = 0.5 * np.maximum(self._thickness[self._sheet_of[i]], self._thickness[self._sheet_of[j]])[:, None]
        middle = 0.5 * (self._x[i] + self._x[j]) + 0.5 * h * (self._v[i] + self._v[j])
        friction = np.sqrt(self._friction[self._sheet_of[i]] * self._friction[self._sheet_of[j]])
        nodes, other = np.concatenate([i, j]), np.concatenate([j, i])
        rows = TargetRows.touching(nodes, 1.0, np.concatenate([middle + half * normal, middle - half * normal]),
                                   np.concatenate([normal, -normal]), np.concatenate([friction, friction]),
                                   self._v[other])
        if len(self._which) == 1:
            targets[self._which[0]] = rows
            return targets
        for row, k in enumerate(self._which):
            own = (nodes >= self._first[row]) & (nodes < self._first[row + 1])
            targets[k] = rows.of(own, -int(self._first[row]))
        return targets

    def _facing(self, h: float) -> int:
        """Find the pairs of vertices that face each other in a step of h seconds, and return their number."""
        write_vertex_normals(self._x, self._triangles, self._normals)
        # largest distance of vertices that may touch within the step
        closing = 2.0 * h * float(np.sqrt(((self._v - self._v.mean(axis=0)) ** 2).sum(axis=1).max()))
        widest, thickest = float(self._edge.max()), float(self._thickness.max())
        reach = float(np.hypot(FACING * widest, min(WITHIN * thickest + closing, widest + 2.0 * thickest)))
        sort_into_boxes(self._x, reach, self._grid, self._shape, self._box, self._start, self._order)
        while True:
            count = int(facing_pairs(self._x, self._v, self._normals, h, reach, FACING, WITHIN, self._sheet_of,
                                     self._first, self._in_contact, self._edge, self._thickness, self._near,
                                     self._near_start, self._shape, self._box, self._start, self._order, self._inside,
                                     self._marks, self._pairs, self._across))
            if count <= len(self._pairs):
                return count
            self._pairs, self._across = np.zeros((2 * count, 2), np.int32), np.zeros((2 * count, 3))
