"""A multifrontal Cholesky factorization in single precision, on all threads, of what CHOLMOD has analysed.

Half the bytes, twice the lanes and every thread: for directions alone, which need not be exact. Each supernode's front
takes in what its children say of the rows below them, and BLAS factors it. Subtrees go side by side, then the top of
the tree front by front, each in tiles. Who takes which changes nothing in the answer. [Liu 1992]
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...state import Index, Vec
from ...threads import share
from ..analysed import Analysed
from .blas import addresses
from .multifrontal_kernels import assemble_tiles, factor_trees, panel_tiles, solve_tiles, start_panel, update_tiles
from .supernodal import Supernodes

Single: TypeAlias = npt.NDArray[np.float32]
Long: TypeAlias = npt.NDArray[np.int64]

PANEL = 192  #: columns of a front at the top that are factored together
TILE = 192  #: rows or columns of a front at the top that a thread takes at once
MOST_UPDATES = 2.0  #: of the room of L, for what fronts say of those above them
ALWAYS_ROOM = 1 << 24  #: values; so many are no matter


class Multifrontal:
    """Where everything goes, found once for a pattern; `factor` writes L."""

    def __init__(self, inside: Supernodes, lower: sp.csc_matrix, blas: Long) -> None:
        """lower: the pattern that `inside` factors. blas: of `addresses`."""
        self._inside, self._blas = inside, blas
        self.is_of = Analysed(lower).is_of  #: whether it can factor this matrix
        first, rows_start = inside.first, inside.rows_start
        parent, relative = _parents(inside)
        self._updates_start, self.room = _places(inside, parent)
        by_parent = np.argsort(parent, kind="stable").astype(np.int32)
        children_start = np.searchsorted(parent[by_parent], np.arange(len(parent) + 1)).astype(np.int32)
        self._plan = (first, rows_start, inside.values_start, self._updates_start, children_start, by_parent, relative,
                      *_entries(inside, lower))
        longest = -(-inside.longest // TILE)
        pieces = max(len(inside.trees) // 2, longest * (longest + 1) // 2)
        self._ints = np.zeros((pieces, 8), dtype=np.int32)
        self._failed = np.zeros(len(inside.trees) // 2 + 1, dtype=np.int32)
        self._updates = np.zeros(self.room if self.fits else 0, dtype=np.float32)

    @property
    def fits(self) -> bool:
        """Whether it takes little more room than L itself; if not it must not be used."""
        return self.room <= max(MOST_UPDATES * float(self._inside.values_start[-1]), ALWAYS_ROOM)

    def factor(self, data: Vec, scale: float, values: Single) -> bool:
        """Write L of scale × the matrix, whose lower triangle is `data`; False where it is not definite.

        values: as those of Supernodes, float32.
        """
        inside, failed = self._inside, self._failed
        failed[:] = 0
        plan = (values, self._updates, *self._plan)
        share(factor_trees, len(inside.trees) // 2, inside.trees, self._blas, self._ints, failed, data, scale, *plan)
        for s in inside.top.tolist():
            if failed.any():
                break
            self._factor_top(s, data, scale, values)
        return not failed.any()

    def _factor_top(self, s: int, data: Vec, scale: float, values: Single) -> None:
        """One front, panel by panel, each in tiles; then what it says of the rows below."""
        inside, blas, ints, failed = self._inside, self._blas, self._ints, self._failed
        block = (values, inside.rows_start, inside.values_start)
        columns = int(inside.first[s + 1] - inside.first[s])
        length = int(inside.rows_start[s + 1] - inside.rows_start[s])
        share(assemble_tiles, -(-length // TILE), s, TILE, data, scale, values, self._updates, *self._plan)
        for left in range(0, columns, PANEL):
            right = min(left + PANEL, columns)
            if left > 0:
                share(panel_tiles, -(-(length - left) // TILE), s, left, right, TILE, blas, ints, *block)
            start_panel(s, left, right, blas, ints, failed, *block)
            if failed[-1]:
                return
            share(solve_tiles, -(-(length - right) // TILE), s, left, right, TILE, blas, ints, *block)
        tiles = -(-(length - columns) // TILE)
        share(update_tiles, tiles * (tiles + 1) // 2, s, TILE, blas, ints, values, self._updates, inside.first,
              *block[1:], self._updates_start)


def multifrontal(inside: Supernodes, lower: sp.csc_matrix) -> Multifrontal | None:
    """That of this pattern, or None where scipy's BLAS is not as expected or memory would be short."""
    blas = addresses()
    if blas is None:
        return None
    found = Multifrontal(inside, lower, blas)
    return found if found.fits else None


def _keys(inside: Supernodes) -> Index:
    """Of each row of each supernode a number that rises through all of them."""
    size, count = len(inside.permutation), len(inside.first) - 1
    keys: Index = np.repeat(np.arange(count), np.diff(inside.rows_start)) * np.int64(size) + inside.rows
    return keys


def _parents(inside: Supernodes) -> tuple[Index, Index]:
    """The supernode that owns the first row below each one, −1 for roots; of each row below its place there."""
    first, rows_start, rows = inside.first, inside.rows_start, inside.rows
    count, size = len(first) - 1, len(inside.permutation)
    columns, lengths = np.diff(first), np.diff(rows_start)
    owner = np.repeat(np.arange(count), columns)
    below = rows_start[:-1] + columns
    parent = np.where(columns < lengths, owner[rows[np.minimum(below, len(rows) - 1)]], -1)
    of_row = np.repeat(parent, lengths)
    place = np.searchsorted(_keys(inside), of_row * np.int64(size) + rows) - rows_start[of_row]
    return parent, np.where(of_row < 0, 0, place).astype(np.int32)


def _places(inside: Supernodes, parent: Index) -> tuple[Long, int]:
    """Where the update of each supernode stands, and the room of all.

    Each subtree has two stacks, one for even and one for odd depths: where a front is made its children lie on top of
    the one, and what it says goes onto the other.
    """
    sizes = (np.diff(inside.rows_start) - np.diff(inside.first)).astype(np.int64) ** 2
    start = np.zeros(len(sizes), dtype=np.int64)
    depth = np.zeros(len(sizes), dtype=np.int64)
    said = np.zeros(len(sizes) + 1, dtype=np.int64)  # by the children of each; the last one, −1, is nobody
    np.add.at(said, parent, sizes)  # type: ignore[arg-type]
    room = 0
    for begin, end in inside.trees.reshape(-1, 2).tolist():
        for s in range(end - 2, begin - 1, -1):
            depth[s] = 1 - depth[parent[s]]
        heights, most = [0, 0], [0, 0]
        for s in range(begin, end):
            side = int(depth[s])
            heights[1 - side] -= int(said[s])
            start[s] = heights[side]
            heights[side] += int(sizes[s])
            most[side] = max(most[side], heights[side])
        start[begin:end] += room + np.where(depth[begin:end] == 1, most[0], 0)
        room += most[0] + most[1]
    for s in inside.top.tolist():
        start[s] = room
        room += int(sizes[s])
    return start, room


def _entries(inside: Supernodes, lower: sp.csc_matrix) -> tuple[Index, Index, Index]:
    """Of each column of L where its entries of A start; of each entry its place in A's data, its row in the front."""
    size = len(inside.permutation)
    place = np.empty(size, dtype=np.int64)
    place[inside.permutation] = np.arange(size)
    i = place[lower.indices]
    j = np.repeat(place, np.diff(lower.indptr))
    row, column = np.maximum(i, j), np.minimum(i, j)
    source = np.lexsort((row, column))
    row, column = row[source], column[source]
    owner = np.repeat(np.arange(len(inside.first) - 1), np.diff(inside.first))[column]
    in_front = np.searchsorted(_keys(inside), owner * np.int64(size) + row) - inside.rows_start[owner]
    starts = np.searchsorted(column, np.arange(size + 1))
    return starts.astype(np.int32), source.astype(np.int32), in_front.astype(np.int32)
