"""Triangles that may be nearest to a point, looked up by the cell that it is in: what stands still is asked once."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...state import Index, Mask, Vec

WIDTH = 0.5  #: of the spacing of sampled places: of a cell
ROOM = 1024  #: cells that there is room for at first


class CandidateCells:
    """Triangles of the sampled places that are nearest to the middle of each cell, found when a point is in it first.

    A cell always has the same ones, whoever has asked before.
    """

    def __init__(self, tree: cKDTree, whose: Index, spacing: float, around: float, count: int) -> None:
        """tree: of sampled places, no farther apart than about `spacing` [m]. whose: the triangle of each. around:
        how far cells go beyond these [m]. count: of candidates."""
        self._tree, self._whose, self._count = tree, whose, min(count, len(whose))
        self._width = WIDTH * spacing
        self._low = tree.mins - around
        self._shape = np.ceil((tree.maxes + around - self._low) / self._width).astype(np.int64)
        self._row: Index = np.full(int(self._shape.prod()), -1, np.int32)
        self._table: Index = np.empty((ROOM, self._count), np.int32)
        self._known = 0

    def of(self, points: Vec) -> tuple[Mask, Index]:
        """Return which points (k, 3) [m] are in a cell, (k,), and candidates of these, (m, count)."""
        cell = np.floor((points - self._low) / self._width).astype(np.int64)
        within: Mask = ((cell >= 0) & (cell < self._shape)).all(axis=1)
        flat = (cell[within] * [self._shape[1] * self._shape[2], self._shape[2], 1]).sum(axis=1)
        new = np.unique(flat[self._row[flat] < 0])
        if len(new):
            self._find(new)
        return within, self._table[self._row[flat]]

    def _find(self, new: Index) -> None:
        """Take cells into the table."""
        last = self._known + len(new)
        if last > len(self._table):
            self._table = np.concatenate([self._table, np.empty((last, self._count), np.int32)])
        middles = self._low + self._width * (np.stack(np.unravel_index(new, self._shape), axis=1) + 0.5)
        _, which = self._tree.query(middles, k=self._count)
        self._table[self._known:last] = self._whose[which.reshape(len(new), self._count)]
        self._row[new] = np.arange(self._known, last)
        self._known = last
