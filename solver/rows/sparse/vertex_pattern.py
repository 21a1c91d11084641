"""Pattern of the lower triangle of a symmetric matrix in blocks of vertices, in an order with a sparse factor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ...linear.tidy import tidy_csc
from ...state import Index, Vec
from .vertex_pattern_kernels import find_entries, neighbours, owners_of, pattern_of


class VertexPattern:
    """Positions of the entries of a matrix in the order in which vertices are eliminated.

    The unknowns of a vertex are consecutive in that order, as in its row of `unknowns`: unknown i is row row_of[i], and
    those of the vertex of rank k are at start[k] to start[k + 1].
    """

    def __init__(self, matrix: sp.csc_matrix, unknowns: Index, order: Callable[[sp.csc_matrix], Index]) -> None:
        """matrix: symmetric, (m, m); only its lower triangle is read. unknowns: (n, 5), −1 after the last of a vertex.
        order: returns an elimination order of a graph of vertices. Raises ValueError where an unknown does not have
        exactly one vertex."""
        self._key = matrix.indptr, matrix.indices, unknowns
        size, count = matrix.shape[0], len(unknowns)
        numbers = np.ascontiguousarray(unknowns, dtype=np.int32)
        owner, local, sizes = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(count, np.int32)
        if not owners_of(numbers, owner, local, sizes):
            raise ValueError("every unknown belongs to one vertex, and a vertex' unknowns stand before the -1")

        indptr, indices = matrix.indptr.astype(np.int32), np.ascontiguousarray(matrix.indices, dtype=np.int32)
        first, joined = neighbours(indptr, indices, owner, numbers)
        by_rank = order(tidy_csc(np.ones(len(joined)), joined, first))
        self.rank = np.empty(count, np.int32)
        self.rank[by_rank] = np.arange(count, dtype=np.int32)
        self.vertex: Index = np.asarray(by_rank, dtype=np.int32)
        self.start: Index = np.concatenate([[0], np.cumsum(sizes[by_rank])]).astype(np.int32)
        self.row_of: Index = (self.start[self.rank[owner]] + local).astype(np.int32)

        self.first, self.block_row, self.before, own, rows = pattern_of(first, joined, self.rank, self.vertex,
                                                                        self.start)
        self.lower = tidy_csc(np.zeros(len(rows)), rows, own)
        lower, to = np.empty((2, len(indices)), np.int32)
        entries = find_entries(indptr, indices, owner, self.rank, self.row_of, self.start, self.first, self.block_row,
                             self.before, own, lower, to)
        self._lower, self._to = lower[:entries].copy(), to[:entries].copy()

    def is_of(self, matrix: sp.csc_matrix, unknowns: Index) -> bool:
        """Return whether a matrix with these unknowns of vertices has this pattern."""
        arrays = (matrix.indptr, matrix.indices, unknowns)
        return all(a is b or np.array_equal(a, b) for a, b in zip(arrays, self._key))

    def values(self, matrix: sp.csc_matrix) -> Vec:
        """Return the data of `lower` for a matrix of this pattern."""
        out: Vec = np.zeros(len(self.lower.data))
        out[self._to] = matrix.data[self._lower]
        return out

    @property
    def blocks(self) -> tuple[Index, Index, Index, Index, Index]:
        """Return the arrays of the pattern for kernels: (first, block_row, before, start, indptr)."""
        return self.first, self.block_row, self.before, self.start, self.lower.indptr
