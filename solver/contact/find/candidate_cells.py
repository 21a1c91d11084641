"""Triangles of a mesh at rest that may be nearest to a point, looked up by the point's cell of a grid."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...meshing.closest_kernels import triangles_around
from ...state import Index, Mask, Vec

CAPACITY = 1024  #: initial capacity in cells
UNKNOWN, UNSURE = -1, -2  #: rows of cells without a look-up so far, and of cells with too many near triangles


class CandidateCells:
    """Candidate triangles of each cell of a grid, found when a point is first in the cell.

    The candidates are the triangles no farther from the cell's centre than the nearest triangle plus the cell's
    diagonal. They do not depend on earlier look-ups.
    """

    candidates = 96  #: triangles of a cell, at most
    slack = 1.0e-6  #: relative to a cell's width: tolerance of distances
    cell_size = 0.5  #: width of a cell relative to the spacing of samples

    def __init__(self, tree: cKDTree, x: Vec, triangles: Index, reach: Vec, spacing: float, around: float) -> None:
        """tree: of sampled positions, at most about `spacing` [m] apart. x: vertices, (n, 3) [m]. triangles: (t, 3).
        reach: largest distance in each triangle from its first corner, or more, (t,) [m]. around: margin of the grid
        beyond the sampled positions [m].
        """
        self._mesh = triangles, x, reach
        self._width = self.cell_size * spacing
        self._low = tree.mins - around
        self._shape = np.ceil((tree.maxes + around - self._low) / self._width).astype(np.int64)
        self._row: Index = np.full(int(self._shape.prod()), UNKNOWN, np.int32)
        self._table: Index = np.empty((CAPACITY, self.candidates), np.int32)
        self._squares = np.empty(len(triangles))
        self._known, self._widest = 0, 0

    def of(self, points: Vec) -> tuple[Mask, Index]:
        """Return which points, (k, 3) [m], are in a cell with candidates, (k,), and the candidate triangles of these
        points, (m, c), filled up with −1."""
        cell = np.floor((points - self._low) / self._width).astype(np.int64)
        within = ((cell >= 0) & (cell < self._shape)).all(axis=1)
        flat = cell[within] @ np.array([self._shape[1] * self._shape[2], self._shape[2], 1])
        row = np.full(len(points), UNKNOWN, np.int32)
        row[within] = self._row[flat]
        if (row[within] == UNKNOWN).any():
            self._find(np.unique(flat[row[within] == UNKNOWN]))
            row[within] = self._row[flat]
        has_candidates: Mask = row >= 0
        return has_candidates, self._table[row[has_candidates], :self._widest]

    def _find(self, new: Index) -> None:
        """Find the candidates of new cells, given by flat index, and add them to the table."""
        middles = self._low + self._width * (np.stack(np.unravel_index(new, self._shape), axis=1) + 0.5)
        triangles, counts = np.empty((len(new), self.candidates), np.int32), np.empty(len(new), np.int32)
        beyond = (np.sqrt(3.0) + self.slack) * self._width
        triangles_around(middles, *self._mesh, beyond, self._squares, triangles, counts)
        is_sure = counts <= self.candidates
        self._row[new[~is_sure]] = UNSURE
        last = self._known + int(is_sure.sum())
        if last > len(self._table):
            self._table = np.concatenate([self._table, np.empty((last, self.candidates), np.int32)])
        self._table[self._known:last] = triangles[is_sure]
        self._row[new[is_sure]] = np.arange(self._known, last)
        self._known, self._widest = last, max(self._widest, int(counts[is_sure].max(initial=0)))
