"""The pattern of a symmetric matrix over nodes, and the scatter map of element blocks into it, both built once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..state import Index, Vec
from ..threads import share
from .kernels import CHUNKS, gather_matrix, gather_nodes

PAIR_ROWS = (1, 2, 2, 3, 3, 3)
PAIR_COLUMNS = (0, 0, 1, 0, 1, 2)


def node_graph(tets: Index, count: int) -> sp.csc_matrix:
    """Which nodes share an element, without the diagonal: (count, count), symmetric."""
    rows = np.concatenate([tets[:, a] for a in range(4) for b in range(4) if a != b])
    columns = np.concatenate([tets[:, b] for a in range(4) for b in range(4) if a != b])
    graph = sp.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count)).tocsc()
    graph.data[:] = 1.0
    graph.sort_indices()
    return graph


@dataclass(frozen=True)
class NodeSum:
    """Sums what elements say of their corners, always in the same order."""

    start: Index  #: (n + 1,) first source of each node
    source: Index  #: element * 4 + corner

    @classmethod
    def build(cls, tets: Index, count: int) -> NodeSum:
        flat = tets.ravel()
        start = np.zeros(count + 1, dtype=np.int32)
        start[1:] = np.cumsum(np.bincount(flat, minlength=count))
        return cls(start, np.argsort(flat, kind="stable").astype(np.int32))

    def gather(self, corners: Vec, out: Vec) -> None:
        """Add corner values (e, 4, 3) to nodes `out` (n, 3)."""
        share(gather_nodes, CHUNKS, corners.reshape(-1, 3), self.start, self.source, out)


class Pattern:
    """Lower triangle, in compressed columns, of a matrix of 3 x 3 blocks over some of the nodes, in a chosen order.

    It may have a border: last rows that are dense and hold vectors of the user's. Then the factor of the bordered
    matrix carries L⁻¹ times these vectors, for nothing.
    """

    def __init__(self, tets: Index, order: Index, count: int, border: int = 0) -> None:
        """tets: (e, 4). order: (p,) nodes that have rows, as they are eliminated. count: number of all nodes.
        border: number of dense rows behind them."""
        self.order, self.border = order, border
        position = np.full(count, -1, dtype=np.int64)
        position[order] = np.arange(len(order))
        self.position = position  #: (count,) row of each node, -1 where it has none

        # an element gives the column of each corner three blocks, towards its other corners. Those towards a node that
        # is eliminated earlier or has no rows count for the diagonal only: they are sources of the diagonal block
        size = len(order)
        corners = position[tets]
        keys, sources = [], []
        for pair, (a, b) in enumerate(zip(PAIR_ROWS, PAIR_COLUMNS)):
            for row, column, turned in ((corners[:, a], corners[:, b], 0), (corners[:, b], corners[:, a], 1)):
                inside = np.flatnonzero(column >= 0)
                row, column = row[inside], column[inside]
                keys.append(2 * (column * size + np.maximum(row, column)) + turned)
                sources.append(6 * inside + pair)
        key = np.concatenate(keys)
        by_block = np.argsort(key, kind="stable")
        key = key[by_block]
        self.source: Index = np.concatenate(sources)[by_block].astype(np.int32)

        # the first block of a column is its diagonal one, also where it has no sources
        block = np.unique(np.concatenate([key >> 1, np.arange(size) * (size + 1)]))
        self.block_column: Index = (block // size).astype(np.int32)
        self.block_row: Index = (block % size).astype(np.int32)
        #: (2 blocks + 1,) first source of each block, those as they stand and then those to be transposed
        self.source_start: Index = np.append(
            np.searchsorted(key, (2 * block[:, None] + np.arange(2)).ravel()), len(key)).astype(np.int32)
        self.column_start: Index = np.searchsorted(self.block_column, np.arange(size + 1)).astype(np.int32)

        self._lay_out()
        self.data: Vec = np.zeros(len(self.indices))

    @property
    def size(self) -> int:
        """Number of scalar rows."""
        return 3 * len(self.order) + self.border

    def _lay_out(self) -> None:
        """Compressed columns of the scalar matrix."""
        below = np.diff(self.column_start) - 1
        lengths = (3 * below[:, None] + np.array([3, 2, 1])).ravel() + self.border
        lengths = np.append(lengths, np.arange(self.border, 0, -1))
        self.indptr: Index = np.zeros(self.size + 1, dtype=np.int32)
        indptr = self.indptr
        indptr[1:] = np.cumsum(lengths)
        self.indices: Index = np.empty(indptr[-1], dtype=np.int32)
        indices = self.indices
        # rows of off-diagonal blocks: the k-th block of column j starts 3 - c + 3 (k - 1) behind column 3 j + c
        rank = np.arange(len(self.block_row)) - self.column_start[self.block_column]
        off = rank > 0
        for c in range(3):
            for r in range(3):
                where = indptr[3 * self.block_column[off] + c] + 3 - c + 3 * (rank[off] - 1) + r
                indices[where] = 3 * self.block_row[off] + r
                if r >= c:
                    diagonal = np.arange(len(self.order))
                    indices[indptr[3 * diagonal + c] + r - c] = 3 * diagonal + r
        for k in range(self.border):
            indices[self._border_places(k)] = self.size - self.border + k
            first = indptr[self.size - self.border + k]
            indices[first : first + self.border - k] = np.arange(self.size - self.border + k, self.size)

    def _border_places(self, k: int) -> Index:
        """Where the entries of border row k stand in `data`: each column ends with those of all border rows."""
        columns = self.size - self.border
        return self.indptr[1 : columns + 1] - self.border + k

    def put_border(self, k: int, vector: Vec, pivot: float) -> None:
        """Write border row k. vector: (n, 3), on nodes. pivot: its diagonal entry."""
        self.data[self._border_places(k)] = vector[self.order].ravel()
        self.data[self.indptr[self.size - self.border + k]] = pivot

    def gather(self, blocks: Vec, node_blocks: Vec, scale: float, diagonal: Vec) -> Vec:
        """Values of diag(diagonal) + scale K on the pattern; the array is kept and written anew each time.

        blocks: (e, 6, 9) of K = ∂f/∂x, of pairs of corners. node_blocks: (n, 3, 3) of K, from forces on single nodes.
        diagonal: (n,) one value for the three rows of a node.
        """
        share(gather_matrix, CHUNKS, blocks.reshape(-1, 9), node_blocks.reshape(-1, 9), scale, diagonal, self.order,
              self.source_start, self.source, self.column_start, self.indptr, self.data)
        return self.data

    def matrix(self) -> sp.csc_matrix:
        """The lower triangle as a SciPy matrix that shares `data`."""
        lower = sp.csc_matrix((self.data, self.indices, self.indptr), shape=(self.size, self.size))
        lower.has_sorted_indices = True
        return lower
