"""The lower triangle of a symmetric matrix in whole blocks of vertices, in an order that keeps its factor sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec


class VertexPattern:
    """Where each entry of a matrix stands once vertices are eliminated one after the other.

    A vertex' unknowns follow each other there, first to last as its row of `unknowns` has them: unknown i stands at
    place[i], the unknowns of the vertex of rank k at start[k] to start[k + 1].
    """

    def __init__(self, matrix: sp.csc_matrix, unknowns: Index, order: Callable[[sp.csc_matrix], Index]) -> None:
        """matrix: symmetric, (m, m); what stands above its diagonal is not read. unknowns: (n, 5), −1 behind the
        vertex' last. order: of a graph of vertices. Raises ValueError where an unknown has not exactly one vertex.
        """
        self._key = matrix.indptr, matrix.indices, unknowns
        size, count = matrix.shape[0], len(unknowns)
        owned = unknowns >= 0
        sizes = owned.sum(axis=1)
        if not np.array_equal(np.sort(unknowns[owned]), np.arange(size)) or (owned[:, 1:] > owned[:, :-1]).any():
            raise ValueError("every unknown belongs to one vertex, and a vertex' unknowns stand before the -1")
        owner, local = np.empty(size, np.int32), np.empty(size, np.int32)
        vertex, column = np.nonzero(owned)
        owner[unknowns[owned]], local[unknowns[owned]] = vertex, column

        across = np.repeat(np.arange(size, dtype=np.int32), np.diff(matrix.indptr))
        self._lower = np.flatnonzero(matrix.indices >= across)
        row, across = matrix.indices[self._lower], across[self._lower]
        a, b = owner[row], owner[across]
        apart = a != b
        graph = sp.csc_matrix((np.ones(2 * int(apart.sum())), (np.concatenate([a[apart], b[apart]]),
                                                               np.concatenate([b[apart], a[apart]]))), (count, count))
        by_rank = order(graph)
        self.rank = np.empty(count, np.int32)
        self.rank[by_rank] = np.arange(count, dtype=np.int32)
        self.vertex: Index = np.asarray(by_rank, dtype=np.int32)
        self.start: Index = np.concatenate([[0], np.cumsum(sizes[by_rank])]).astype(np.int32)
        self.place: Index = (self.start[self.rank[owner]] + local).astype(np.int32)

        # one block a pair of vertices: the diagonal one first in each column of blocks, the others by rank
        low, high = np.minimum(self.rank[a], self.rank[b]), np.maximum(self.rank[a], self.rank[b])
        diagonal = np.arange(count, dtype=np.int64) * (count + 1)
        blocks = np.unique(np.concatenate([low.astype(np.int64) * count + high, diagonal]))
        block_column, block_row = blocks // count, blocks % count
        self.block_row: Index = block_row.astype(np.int32)
        self.first: Index = np.searchsorted(block_column, np.arange(count + 1)).astype(np.int32)
        heights = np.diff(self.start)[block_row].astype(np.int64)
        before = np.cumsum(heights) - heights
        #: rows of a column of blocks before each block, counted from the end of the diagonal one
        self.before: Index = (before - before[self.first[:-1]][block_column]
                              - np.diff(self.start)[block_column]).astype(np.int32)

        width = np.diff(self.start).astype(np.int64)
        total = np.add.reduceat(heights, self.first[:-1]) if count else heights
        own = np.repeat(np.arange(count), width)
        inside = np.arange(size) - self.start[own]
        indptr = np.concatenate([[0], np.cumsum(total[own] - inside)])
        indices = np.empty(indptr[-1], np.int32)
        for c in range(int(width.max(initial=0))):
            for r in range(int(width.max(initial=0))):
                k = np.flatnonzero((heights > r) & (width[block_column] > c) & ((block_row != block_column) | (r >= c)))
                j = block_column[k]
                indices[indptr[self.start[j] + c] + (width[j] - c) + self.before[k] + r] = self.start[block_row[k]] + r
        self.lower = sp.csc_matrix((np.zeros(len(indices)), indices, indptr.astype(np.int32)), shape=(size, size))

        # where each entry of the caller's goes: turned about the diagonal where the order turns its vertices
        p, q = self.place[row], self.place[across]
        p, q = np.maximum(p, q), np.minimum(p, q)
        rank_p, rank_q = high, low
        k = np.searchsorted(blocks, rank_q.astype(np.int64) * count + rank_p)
        self._to = (indptr[q] + (width[rank_q] - (q - self.start[rank_q])) + self.before[k]
                    + p - self.start[rank_p]).astype(np.int64)

    def is_of(self, matrix: sp.csc_matrix, unknowns: Index) -> bool:
        """Whether the matrix has this pattern."""
        mine = (matrix.indptr, matrix.indices, unknowns)
        return all(a is b or np.array_equal(a, b) for a, b in zip(mine, self._key))

    def values(self, matrix: sp.csc_matrix) -> Vec:
        """The data of `lower` for a matrix of this pattern."""
        out: Vec = np.zeros(len(self.lower.data))
        out[self._to] = matrix.data[self._lower]
        return out

    @property
    def blocks(self) -> tuple[Index, Index, Index, Index, Index]:
        """What kernels ask for: (first, block_row, before, start, indptr)."""
        return self.first, self.block_row, self.before, self.start, self.lower.indptr
