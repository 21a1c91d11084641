"""Triangles that may be nearest to a point, looked up by the cell that it is in: of a mesh that stands still."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...state import Index, Mask, Vec

WIDTH = 0.5  #: of the spacing of sampled places: of a cell
SAMPLES = 48  #: sampled places around the middle of a cell, whose triangles are its candidates
NEAREST = 4  #: of them to each point of the cell, at least
ROOM = 1024  #: cells that there is room for at first
UNKNOWN, UNSURE = -1, -2  #: rows of cells that nobody was in yet, and of those where sampled places are too close


class CandidateCells:
    """Triangles of the sampled places nearest to the middle of each cell, found when a point is in it first.

    They are a cell's candidates where they include, for every point in it, those of the few sampled places nearest to
    that point. A cell always has the same ones, whatever was looked up before.
    """

    def __init__(self, tree: cKDTree, whose: Index, spacing: float, around: float) -> None:
        """tree: of sampled places, no farther apart than about `spacing` [m]. whose: the triangle of each. around:
        how far cells go beyond these [m]."""
        self._tree, self._whose = tree, whose
        self._all = min(SAMPLES, len(whose))
        self._width = WIDTH * spacing
        self._low = tree.mins - around
        self._shape = np.ceil((tree.maxes + around - self._low) / self._width).astype(np.int64)
        self._row: Index = np.full(int(self._shape.prod()), UNKNOWN, np.int32)
        self._table: Index = np.empty((ROOM, self._all), np.int32)
        self._known = 0

    def of(self, points: Vec) -> tuple[Mask, Index]:
        """Return which points (k, 3) [m] are in a cell with candidates, (k,), and those of these, (m, c), −1 for none.
        """
        cell = np.floor((points - self._low) / self._width).astype(np.int64)
        within = ((cell >= 0) & (cell < self._shape)).all(axis=1)
        flat = (cell[within] * [self._shape[1] * self._shape[2], self._shape[2], 1]).sum(axis=1)
        new = np.unique(flat[self._row[flat] == UNKNOWN])
        if len(new):
            self._find(new)
        row = np.full(len(points), UNKNOWN, np.int32)
        row[within] = self._row[flat]
        found: Mask = row >= 0
        return found, self._table[row[found]]

    def _find(self, new: Index) -> None:
        """Take cells into the table."""
        middles = self._low + self._width * (np.stack(np.unravel_index(new, self._shape), axis=1) + 0.5)
        away, which = (one.reshape(len(new), -1) for one in self._tree.query(middles, k=self._all))
        # those nearest to a point are no farther from the middle than this
        farthest = away[:, min(NEAREST, self._all) - 1] + np.sqrt(3.0) * self._width
        is_sure = (farthest <= away[:, -1]) | (self._all == len(self._whose))
        self._row[new[~is_sure]] = UNSURE
        triangles = np.sort(self._whose[which[is_sure]], axis=1)
        triangles[:, 1:][triangles[:, 1:] == triangles[:, :-1]] = -1
        last = self._known + len(triangles)
        if last > len(self._table):
            self._table = np.concatenate([self._table, np.empty((last, self._all), np.int32)])
        self._table[self._known:last] = triangles
        self._row[new[is_sure]] = np.arange(self._known, last)
        self._known = last
