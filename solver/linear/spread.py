"""Map from the lower triangle of a matrix over nodes to whole block rows, and to the columns of its last unknowns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..state import Index, Vec
from ..threads import kernel, parallel_for
from .blocks import CHUNKS, Blocks


@kernel("void(i8, i8, i4[::1], f8[::1], i4[::1], i4[::1], i4[::1], f8[:,::1])")
def _spread(start, stop, indptr, data, lowest_potential_start, direct, mirrored, values):  # type: ignore[no-untyped-def]
    """Write lower blocks into block rows, for CHUNKS start to stop of the block columns.

    lowest_potential_start: first block of each block column, its diagonal one. direct, mirrored: index in `values` of
    each lower block, and of its transpose.
    """
    count = lowest_potential_start.shape[0] - 1
    for j in range(start * count // CHUNKS, stop * count // CHUNKS):
        c0, c1, c2 = indptr[3 * j], indptr[3 * j + 1] - 1, indptr[3 * j + 2] - 2
        own = values[direct[lowest_potential_start[j]]]
        own[0], own[4], own[8] = data[c0], data[c1 + 1], data[c2 + 2]
        own[1], own[3] = data[c0 + 1], data[c0 + 1]
        own[2], own[6] = data[c0 + 2], data[c0 + 2]
        own[5], own[7] = data[c1 + 2], data[c1 + 2]
        for k in range(lowest_potential_start[j] + 1, lowest_potential_start[j + 1]):
            low = 3 * (k - lowest_potential_start[j])
            below, transposed = values[direct[k]], values[mirrored[k]]
            for r in range(3):
                a, b, c = data[c0 + low + r], data[c1 + low + r], data[c2 + low + r]
                below[3 * r], below[3 * r + 1], below[3 * r + 2] = a, b, c
                transposed[r], transposed[3 + r], transposed[6 + r] = a, b, c


@kernel("void(i8, i8, i4[::1], i4[::1], f8[::1], i8, f8, f8[:,:,::1])")
def _last_rows(start, stop, indptr, indices, data, inner, scale, out):  # type: ignore[no-untyped-def]
    """Write out = scale A_qk from the last rows of the lower triangle, for CHUNKS start to stop of the first `inner`
    columns."""
    lanes = out.shape[2]
    for j in range(start * inner // CHUNKS, stop * inner // CHUNKS):
        out[:, j] = 0.0
        k = indptr[j + 1] - 1
        while k >= indptr[j] and indices[k] >= inner:
            which = indices[k] - inner
            out[which // lanes, j, which % lanes] = scale * data[k]
            k -= 1


class Spread:
    """Map of the entries of a lower triangle to whole block rows, built once for a pattern."""

    def __init__(self, lower: sp.csc_matrix, retained: int) -> None:
        """lower: (m, m), 3 x 3 blocks in compressed columns, rows rising; the last `retained` unknowns are single rows.

        Raises ValueError for another pattern.
        """
        self.retained, self.inner = retained, lower.shape[0] - retained
        count = self.inner // 3
        indptr, indices = lower.indptr, lower.indices
        each = np.diff(indptr)[: 3 * count].reshape(-1, 3)
        if self.inner % 3 or (each != each[:, :1] - np.arange(3)).any():
            raise ValueError("multigrid needs a matrix of whole 3 x 3 blocks")
        # how many blocks each block column has among the first unknowns: their rows precede those of the last
        starts = indptr[: self.inner : 3].astype(np.int64)
        lengths = np.diff(indptr)[: self.inner : 3] if count else np.zeros(0, dtype=np.int64)
        if retained:
            inside = np.zeros(len(indices) + 1, dtype=np.int64)
            np.cumsum(indices < self.inner, out=inside[1:])
            lengths = inside[starts + lengths] - inside[starts]
        blocks = lengths // 3
        self.lowest_potential_start: Index = np.concatenate([[0], np.cumsum(blocks)]).astype(np.int32)
        column = np.repeat(np.arange(count), blocks)
        rank = np.arange(len(column)) - self.lowest_potential_start[column]
        row = indices[starts[column] + 3 * rank] // 3
        whole = sp.csc_matrix((np.arange(1, len(row) + 1), row, self.lowest_potential_start), shape=(count, count))
        off = rank > 0
        # block k is in row `row`, and its transpose in row `column`, numbered after all others
        number = np.arange(1, len(row) + 1)
        both = sp.coo_matrix((np.concatenate([number, len(row) + number[off]]),
                              (np.concatenate([row, column[off]]), np.concatenate([column, row[off]]))),
                             shape=whole.shape).tocsr()
        both.sort_indices()
        where = np.empty(2 * len(row) + 1, dtype=np.int32)
        where[both.data] = np.arange(both.nnz, dtype=np.int32)
        self._direct: Index = where[1 : len(row) + 1].copy()
        self._mirrored: Index = self._direct.copy()
        self._mirrored[off] = where[len(row) + number[off]]
        self.blocks = Blocks(both.indptr.astype(np.int32), both.indices.astype(np.int32),
                             np.zeros((both.nnz, 9)), 3, 3)

    def fill(self, lower: sp.csc_matrix) -> None:
        """Write A_qq, the block of all but the last unknowns, into `blocks`."""
        parallel_for(_spread, CHUNKS, lower.indptr, lower.data, self.lowest_potential_start, self._direct,
                     self._mirrored,
                     self.blocks.values)

    def columns(self, lower: sp.csc_matrix, out: Vec, scale: float = 1.0) -> None:
        """Write scale A_qk, the columns of the last unknowns, into `out`, strips of columns (strips, inner, lanes)."""
        parallel_for(_last_rows, CHUNKS, lower.indptr, lower.indices, lower.data, self.inner, scale, out)
