"""Sparsity pattern of a symmetric matrix over nodes, and the scatter map of element blocks into it, both built once."""

from __future__ import annotations

from dataclasses import dataclass
from sys import getrefcount
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..state import Index, Mask, Vec
from ..threads import parallel_for
from .kernels import CHUNKS, gather_fields, gather_matrix, gather_nodes, gather_pair, lay_out, put_below, weigh_blocks
from .pattern_kernels import begin_columns, merge, pair_sources, widen

Long: TypeAlias = npt.NDArray[np.int64]
PAIR_ROWS = (1, 2, 2, 3, 3, 3)
PAIR_COLUMNS = (0, 0, 1, 0, 1, 2)
NO_ELEMENTS: Index = np.zeros((0, 4), dtype=np.int32)


def node_graph(tets: Index, count: int) -> sp.csc_matrix:
    """Return the graph of nodes that share an element, (count, count), symmetric, without the diagonal.

    tets: nodes of elements, (e, 4); an element of fewer nodes repeats its last one.
    """
    rows = np.concatenate([tets[:, a] for a in range(4) for b in range(4) if a != b])
    columns = np.concatenate([tets[:, b] for a in range(4) for b in range(4) if a != b])
    differ = rows != columns  # an element of fewer nodes repeats its last one
    rows, columns = rows[differ], columns[differ]
    graph = sp.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count)).tocsc()
    graph.data[:] = 1.0
    graph.sort_indices()
    return graph


@dataclass(frozen=True)
class NodeSum:
    """Sums of element values at nodes, always in the same order."""

    start: Index  #: (n + 1,) first source of each node
    source: Index  #: element * 4 + corner

    @classmethod
    def build(cls, tets: Index, count: int) -> NodeSum:
        """Return the sums over tets (e, 4) at `count` nodes."""
        flat = tets.ravel()
        start = np.zeros(count + 1, dtype=np.int32)
        start[1:] = np.cumsum(np.bincount(flat, minlength=count))
        return cls(start, np.argsort(flat, kind="stable").astype(np.int32))

    def gather(self, corners: Vec, out: Vec) -> None:
        """Add corner values of elements, (e, 4, 3), to their nodes, out (n, 3)."""
        parallel_for(gather_nodes, CHUNKS, corners.reshape(-1, 3), self.start, self.source, out)

    def gather_fields(self, corners: Vec, out: Vec) -> None:
        """Add corner values of c fields, (c, e, 4, 3), to their nodes, out (c, n, 3); two or three fields are read
        together."""
        together = {2: gather_pair, 3: gather_fields}.get(len(out))
        if together is not None:
            parallel_for(together, CHUNKS, corners.reshape(len(out), -1, 3), self.start, self.source, out)
            return
        for field, into in zip(corners, out):
            self.gather(field, into)


@dataclass(frozen=True)
class _Sources:
    """Sources of each block of the lower triangle, pairs of elements, sorted by block: those as they are and then those
    to be transposed. Blocks are numbered column by column."""

    key: Index  #: 2 block + (1 where transposed), rising, (s,)
    source: Index  #: 6 element + pair, (s,)

    @classmethod
    def of(cls, nodes: Index, position: Index, size: int, numbers: Index) -> _Sources:
        """Return the sources of elements. nodes: (e, 4). position: row of each node, −1 for none. size: number of rows.
        numbers: of the elements, (e,)."""
        # an element gives the column of each corner three blocks, towards its other corners. Those towards a node that
        # is eliminated earlier or has no rows count for the diagonal only: they are sources of the diagonal block
        corners = position[nodes]
        keys, sources = [], []
        for pair, (a, b) in enumerate(zip(PAIR_ROWS, PAIR_COLUMNS)):
            for row, column, transposed in ((corners[:, a], corners[:, b], 0), (corners[:, b], corners[:, a], 1)):
                inside = np.flatnonzero(column >= 0)
                row, column = row[inside], column[inside]
                keys.append(2 * (column * size + np.maximum(row, column)) + transposed)
                sources.append(6 * numbers[inside] + pair)
        key = np.concatenate(keys)
        by_block = np.argsort(key, kind="stable")
        return cls(key[by_block], np.concatenate(sources)[by_block].astype(np.int32))


STAYS = 0.5  #: of what was joined: where less is the matrix gets new arrays
ROOMS = 4  #: arrays of past patterns whose memory is kept


class _Indices:
    """Index arrays in the memory of earlier ones without any reference left: a solver identifies a pattern by its
    arrays, for as long as it holds them, and the first access to new memory takes longer than to fill it."""

    def __init__(self) -> None:
        self._memories: list[Index] = []

    def take(self, count: int) -> Index:
        """Return `count` uninitialised indices, (count,)."""
        for k in range(len(self._memories)):
            # two references: this list's, and the call's
            if len(self._memories[k]) >= count and getrefcount(self._memories[k]) == 2:
                return self._memories[k][:count]
        self._memories = [*self._memories[1 - ROOMS :], np.empty(count + count // 8, np.int32)]
        return self._memories[-1][:count]


class Pattern:
    """Sparsity pattern of the lower triangle, in compressed columns, of a matrix of 3 x 3 blocks over some nodes, in a
    chosen order.

    It may have a border: dense last rows for vectors of the caller, for which the factor of the bordered matrix
    contains L⁻¹ times these vectors at no extra cost. Elements after the first ones may be added and removed: the order
    stays, and the blocks of the first elements are merged with theirs.
    """

    def __init__(self, tets: Index, order: Index, count: int, border: int = 0) -> None:
        """tets: nodes of the first elements, (e, 4). order: nodes that have rows, as they are eliminated, (p,). count:
        number of all nodes. border: number of dense rows after those of the nodes."""
        self.order, self.border = order, border
        position: Index = np.full(count, -1)
        position[order] = np.arange(len(order))
        self.position = position  #: (count,) row of each node, -1 where it has none
        self.tets = tets
        self._others = NO_ELEMENTS  #: behind the tets
        self._all: Mask = np.ones(len(order), dtype=bool)

        self._indices = _Indices()
        size = len(order)
        has_rows = np.flatnonzero((position[tets] >= 0).any(axis=1))
        sources = _Sources.of(tets[has_rows], position, size, has_rows)
        self.source = sources.source
        # the first block of a column is its diagonal one, also where it has no sources
        block = np.unique(np.concatenate([sources.key >> 1, np.arange(size) * (size + 1)]))
        self._take_blocks(block)
        #: (2 blocks + 1,) first source of each block, those as they are and then those to be transposed
        self.source_start: Index = np.append(
            np.searchsorted(sources.key, (2 * block[:, None] + np.arange(2)).ravel()),
            len(sources.key)).astype(np.int32)
        #: of the tets alone, once other elements came: blocks, the first source of each, sources
        self._of_tets: tuple[Index, Index, Index] | None = None
        self._joined = 0  #: pairs of nodes that other elements joined where the blocks were found
        self._is_wide = False  #: whether there are blocks without sources
        nothing: Index = np.zeros(0, np.int32)
        #: memory of the last pattern and of that before it
        self._memories: list[tuple[Index, Index, Index]] = [(nothing.astype(np.int64), nothing, nothing)] * 2

        self._weighed: Vec = np.zeros((0, 6, 9))
        self._values: Vec = np.zeros(0)  #: memory of data, once elements came
        self.data: Vec = np.zeros(len(self.indices))
        self._matrix = sp.csc_matrix((self.data, self.indices, self.indptr), shape=(self.size, self.size))
        self._matrix.has_sorted_indices = True

    @property
    def size(self) -> int:
        """Return the number of scalar rows."""
        return 3 * len(self.order) + self.border

    def _take_blocks(self, block: Index) -> None:
        """Set the blocks of the lower triangle: column × (number of rows) + row of each, ascending."""
        size = len(self.order)
        self._block = block
        self.column_start: Index = np.empty(size + 1, dtype=np.int32)
        self.indptr: Index = np.empty(self.size + 1, dtype=np.int32)
        begin_columns(block, self.border, self.column_start, self.indptr)
        self.indices: Index = self._indices.take(int(self.indptr[-1]))
        lay_out(block, self.column_start, self.border, self.indptr, self.indices)

    def update_pairs(self, others: Index | None, stays: bool = False) -> None:
        """Set the elements after the tets, (s, 4), which repeat a node where they have fewer; None for no elements.

        Where they join nodes that were not joined the matrix gets new arrays, by which a linear solver detects it.
        stays: whether the present arrays are reused where they contain all joined pairs, and little more than those.
        """
        others = NO_ELEMENTS if others is None else others
        if np.array_equal(others, self._others) and (stays or not self._is_wide):
            return
        self._others = others
        if self._of_tets is None:
            self._of_tets = (self._block, self.source_start, self.source)
        most = 2 * len(PAIR_ROWS) * len(others)
        key, given = np.empty(most, np.int64), np.empty(most, np.int32)
        count = pair_sources(np.ascontiguousarray(others, np.int32), self.position, len(self.order), len(self.tets),
                             key, given)
        base, start, source = self._of_tets
        if stays and count >= STAYS * self._joined:
            wide = np.empty(2 * len(self._block) + 1, np.int32)
            widen(base, start, self._block, wide)
            block = self._merge((self._block, wide, source), key, given, count)
            if len(block) == len(self._block):
                self._block, self._is_wide = block, True
                return
            self._memories.reverse()  # memory in use is never written next
        block = self._merge(self._of_tets, key, given, count)
        self._joined, self._is_wide = count, False
        if len(block) == len(self._block) and np.array_equal(block, self._block):
            self._block = block
            return
        self._take_blocks(block)
        if len(self._values) < len(self.indices):
            self._values = np.empty(len(self.indices) + len(self.indices) // 8)
        self.data = self._values[: len(self.indices)]
        if self.border:
            self.data[:] = 0.0  # of which `gather` writes nothing
        matrix = self._matrix
        matrix.data, matrix.indices, matrix.indptr = self.data, self.indices, self.indptr

    def _merge(self, base: tuple[Index, Index, Index], key: Long, given: Index, count: int) -> Index:
        """Return the merged blocks, and set the first source of each and all sources: the blocks `base`, and the first
        `count` entries of `pair_sources`."""
        block, start, source = base
        more, self.source_start, self.source = self._memory(len(block) + count, len(source) + count)
        made = merge(block, start, source, key, given, count, more, self.source_start, self.source)
        self.source_start = self.source_start[: 2 * made + 1]
        return more[:made]

    def _memory(self, blocks: int, sources: int) -> tuple[Index, Index, Index]:
        """Return memory for blocks, the first source of each, and sources: not that in use, but that of the pattern
        before."""
        self._memories.reverse()
        if len(self._memories[0][0]) < blocks or len(self._memories[0][2]) < sources:
            more = blocks + blocks // 8
            self._memories[0] = (np.empty(more, np.int64), np.empty(2 * more + 1, np.int32),
                              np.empty(sources + sources // 8, np.int32))
        block, start, source = self._memories[0]
        return block, start, source[:sources]

    def put_border(self, vectors: Vec, pivots: Vec) -> None:
        """Write the border rows: minus these vectors on nodes, (border, n, 3), and diagonal entries, (border,)."""
        parallel_for(put_below, CHUNKS, np.ascontiguousarray(vectors), self.order, self.indptr, self.data)
        self.data[self.indptr[self.size - self.border : self.size]] = pivots

    def gather(self, blocks: Vec, node_blocks: Vec, scale: float, diagonal: Vec, others: Index | None = None,
               written: Mask | None = None) -> Vec:
        """Return values of diag(diagonal) + scale K on the pattern, (nnz,); each call overwrites the array.

        blocks: (e + s, 6, 9) of K = ∂f/∂x, of pairs of corners of the tets and then of the others. node_blocks: (n, 3,
        3) of K, from forces on single nodes. diagonal: (n,) one value for the three rows of a node. others: elements
        after the tets, (s, 4); None where there are none. written: mask of the nodes, in the order of the pattern,
        whose columns are written, (p,), on the present pattern where possible; other columns are undefined. None writes
        all.
        """
        self.update_pairs(others, stays=written is not None)
        written = self._all if written is None else written
        parallel_for(gather_matrix, CHUNKS, blocks.reshape(-1, 9), node_blocks.reshape(-1, 9), scale, diagonal,
                     self.order,
                     self.source_start, self.source, self.column_start, self.indptr, written, self.data)
        return self.data

    def combine_blocks(self, blocks: Vec, factor: float, first: Vec | None, appended: Vec | None, weight: float) -> Vec:
        """Return factor blocks (e, 6, 9), with weight first (f, 6, 9) added to the first of them, and then weight
        behind (m, 6, 9), (e + m, 6, 9); each call overwrites the array."""
        first, appended = (np.zeros((0, 6, 9)) if added is None else added for added in (first, appended))
        count = len(blocks) + len(appended)
        if len(self._weighed) < count:
            self._weighed = np.empty((count + count // 8, 6, 9))
        out = self._weighed[:count]
        parallel_for(weigh_blocks, count, np.ascontiguousarray(blocks), factor, first, appended, weight, out)
        return out

    def matrix(self) -> sp.csc_matrix:
        """Return the lower triangle as a SciPy matrix that shares `data`, always the same object."""
        return self._matrix
