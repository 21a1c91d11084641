"""Adaptation of a cloth's triangles to their sizing, in material space: splits, flips to Delaunay, and collapses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..state import Index, Vec
from . import adapt_kernels as sweeps
from .collapse_kernels import collapse_all
from .sheet_mesh import SheetMesh
from .sizing import Sizing
from .sizing_kernels import measure_sizing
from .working import Working

ROUNDS = 2  #: of measuring, splitting, turning and collapsing
SPLIT_SWEEPS = 12  #: of splits in a round, and of collapses: each about halves the work left
SAME = 1.0e-12  #: [m] and relative: distance in material space below which positions are equal
VISIBLE_LENGTH = 2.0  #: relative to the target length: shorter edges are not visible
NOTHING = -2  #: no corner of a face and no neighbour
FLIP_SWEEPS = 8  #: sweeps of flips over all edges in a round, at most


@dataclass(frozen=True)
class Adapted:
    """A mesh that was adapted to its sizing, and the changes that were made."""

    mesh: SheetMesh  #: the given mesh itself if it fits already
    was: Index  #: vertex of the given mesh that each vertex is, −1 for a new one, (n',)
    splits: int
    flips: int
    collapses: int
    message: str | None  #: a sentence on edges that are still too long; None if there are none

    @property
    def changed(self) -> bool:
        """Whether anything was split, flipped or collapsed."""
        return self.splits + self.flips + self.collapses > 0


class Measurements:
    """Cache of measurements and attempts on a mesh: only the neighbourhood of changes is measured and tried again.

    Results are equal, bit for bit: the sizing of faces and whether a vertex may be removed depend on their
    neighbourhood alone.
    """

    def __init__(self, working: Working) -> None:
        self._working = working
        rows = len(working.faces)
        self.measured: Index = np.full((rows, 6), NOTHING, np.int32)  #: corners and neighbours of faces then, (m, 6)
        self.requested = np.empty((rows, 10))  #: sizing and folds of faces then, (m, 10)
        self._tried: Index = np.full((rows, 6), NOTHING, np.int32)
        self._metric = np.empty((len(working.at), 3))

    def room(self) -> None:
        """Enlarge the arrays to the capacity of the mesh."""
        more = len(self._working.faces) - len(self.measured)
        if more > 0:
            nothing = np.full((more, 6), NOTHING, np.int32)
            self.measured, self._tried = (np.concatenate([array, nothing]) for array in (self.measured, self._tried))
            self.requested = np.concatenate([self.requested, np.empty((more, 10))])
        more = len(self._working.at) - len(self._metric)
        if more > 0:
            self._metric = np.concatenate([self._metric, np.full((more, 3), np.nan)])

    def get_last_collapses(self) -> tuple[Index, Vec]:
        """Return corners and neighbours of faces, (m, 6), and metric, (n, 3), at the last collapses, for
        `mark_stale`."""
        self.room()
        return self._tried, self._metric


def adapt(mesh: SheetMesh, sizing: Sizing, points: int | None = None, ends: Index | None = None) -> Adapted:
    """Return the cloth with edges as long as `sizing` requires.

    points, ends: number of point features and points at the ends of edge features, see `Working`.

    Area in material space, the border's shape, X and x of remaining vertices are preserved; conformal edges are split
    and collapsed along their feature only. The number of sweeps is bounded; the result says where work was left.

    A new vertex is on the edge that it splits. On the arc of the normals it would stretch the cloth instead: with bends
    of 0.3 rad per edge, cotton of 1,000 N/m would get 14 times the bending energy as strain energy, and the next step
    would move it 9 times as far. [Thesis 2.6.2]
    """
    working = Working(mesh, points, ends)
    seen, counts, left = Measurements(working), (0, 0, 0), True
    for _ in range(ROUNDS):
        measure(working, sizing, seen)
        done = _adapt_once(working, sizing, seen)
        counts = (counts[0] + done[0], counts[1] + done[1], counts[2] + done[2])
        left = any(done)
        if counts[0] == counts[2] > 0 and _is_back(working, mesh):
            # the new vertices were collapsed again, as would happen at every step
            working, left = Working(mesh, points, ends), False
            seen = Measurements(working)
            measure(working, sizing, seen)
            counts = (0, _flip(working), 0)
        if not left:
            break
    if any(counts):
        working.mark_changed()
    changed, was = working.sheet()
    stopped = left or working.counts[1] + 2 > sizing.most_faces
    return Adapted(changed, was, *counts, message=_message_of(working, sizing, seen) if stopped else None)


def _is_back(working: Working, mesh: SheetMesh) -> bool:
    """Return whether the new vertices are where removed vertices were in material space."""
    alive, n = working.alive, len(mesh.x)
    removed, new = mesh.material[~alive[:n]], working.material[n : working.counts[0]][alive[n:]]
    if len(removed) != len(new):
        return False
    one, two = removed[np.lexsort(removed.T)], new[np.lexsort(new.T)]
    return bool((np.abs(one - two) <= SAME * (1.0 + np.abs(one))).all())


def _adapt_once(working: Working, sizing: Sizing, seen: Measurements) -> tuple[int, int, int]:
    """Split, flip and collapse edges by the measured metric; return the numbers of splits, flips and collapses."""
    splits, flips = 0, _flip(working)
    for _ in range(SPLIT_SWEEPS):
        edges, lengths = _edges(working, 1.0, np.inf)
        if not len(edges):
            break
        working.room(len(edges))
        done = sweeps.split_long(working.arrays, edges[np.argsort(-lengths, kind="stable")], working.thinnest,
                                 sizing.most_faces)
        if not done:
            break
        splits += done
        flips += _flip(working)
    collapses, flipped = collapse_all(working.arrays, 1.0 - sizing.hysteresis, sizing.limits, working.straight,
                                     working.thinnest, *seen.get_last_collapses(), SPLIT_SWEEPS, FLIP_SWEEPS)
    return splits, flips + flipped, collapses


def _flip(working: Working) -> int:
    return int(sweeps.flip_to_delaunay(working.arrays, working.thinnest, FLIP_SWEEPS))


def _message_of(working: Working, sizing: Sizing, seen: Measurements) -> str | None:
    """Return a sentence on the number of too long edges and the longest; None if none is much too long."""
    measure(working, sizing, seen)
    edges, lengths = _edges(working, 1.0, np.inf)
    if lengths.max(initial=0.0) <= VISIBLE_LENGTH:
        return None
    f, k = divmod(int(edges[lengths.argmax()]), 3)
    ends = [working.faces[f, (k + i) % 3] for i in (1, 2)]
    x, X = working.x[ends].mean(axis=0), working.material[ends].mean(axis=0)
    return (f"{len(edges)} edges of the cloth are still longer than its sizing wants, the longest "
            f"{lengths.max():.3g} times as long near ({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) m, ({X[0]:.4g}, {X[1]:.4g}) "
            "m in the material")


def measure(working: Working, sizing: Sizing, seen: Measurements | None = None) -> None:
    """Write the metric of all vertices to `working`. seen: earlier measurements of this mesh, if any."""
    seen = Measurements(working) if seen is None else seen
    seen.room()
    measure_sizing(working.arrays, sizing.limits, seen.measured, seen.requested, np.empty((working.counts[0], 7)))


def _edges(working: Working, low: float, high: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return 3 f + k of the edges with lengths in the metric between `low` and `high`, (e,), and the lengths, (e,)."""
    edges, lengths = np.empty(3 * working.counts[1], dtype=np.int64), np.empty(3 * working.counts[1])
    count = sweeps.edges_between(working.arrays, low, high, edges, lengths)
    return edges[:count], lengths[:count]
