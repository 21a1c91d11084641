"""The pattern of a symmetric matrix over nodes, and the scatter map of element blocks into it, both built once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..state import Index, Vec
from ..threads import share
from .kernels import CHUNKS, TOGETHER, gather_fields, gather_matrix, gather_nodes, lay_out

PAIR_ROWS = (1, 2, 2, 3, 3, 3)
PAIR_COLUMNS = (0, 0, 1, 0, 1, 2)
NO_ELEMENTS: Index = np.zeros((0, 4), dtype=np.int32)


def node_graph(tets: Index, count: int) -> sp.csc_matrix:
    """Which nodes share an element, without the diagonal: (count, count), symmetric."""
    rows = np.concatenate([tets[:, a] for a in range(4) for b in range(4) if a != b])
    columns = np.concatenate([tets[:, b] for a in range(4) for b in range(4) if a != b])
    apart = rows != columns  # who has fewer nodes has its last one again
    rows, columns = rows[apart], columns[apart]
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

    def gather_fields(self, corners: Vec, out: Vec) -> None:
        """The same of several fields, (c, e, 4, 3), to (c, n, 3): three are read together."""
        if len(out) == TOGETHER:
            share(gather_fields, CHUNKS, corners.reshape(TOGETHER, -1, 3), self.start, self.source, out)
            return
        for field, into in zip(corners, out):
            self.gather(field, into)


@dataclass(frozen=True)
class _Sources:
    """Which element's pair gives a block of the lower triangle, sorted by block: those as they stand and then those to
    be transposed. Blocks are counted column by column."""

    key: Index  #: 2 block + (1 where transposed), rising, (s,)
    source: Index  #: 6 element + pair, (s,)

    @classmethod
    def of(cls, nodes: Index, position: Index, size: int, numbers: Index) -> _Sources:
        """nodes: of elements, (e, 4). position: row of each node, or −1. numbers: of the elements, (e,)."""
        # an element gives the column of each corner three blocks, towards its other corners. Those towards a node that
        # is eliminated earlier or has no rows count for the diagonal only: they are sources of the diagonal block
        corners = position[nodes]
        keys, sources = [], []
        for pair, (a, b) in enumerate(zip(PAIR_ROWS, PAIR_COLUMNS)):
            for row, column, turned in ((corners[:, a], corners[:, b], 0), (corners[:, b], corners[:, a], 1)):
                inside = np.flatnonzero(column >= 0)
                row, column = row[inside], column[inside]
                keys.append(2 * (column * size + np.maximum(row, column)) + turned)
                sources.append(6 * numbers[inside] + pair)
        key = np.concatenate(keys)
        by_block = np.argsort(key, kind="stable")
        return cls(key[by_block], np.concatenate(sources)[by_block].astype(np.int32))


class Pattern:
    """Lower triangle, in compressed columns, of a matrix of 3 x 3 blocks over some of the nodes, in a chosen order.

    It may have a border: last rows that are dense and hold vectors of the user's. Then the factor of the bordered
    matrix carries L⁻¹ times these vectors, for nothing. Elements may come and go behind the first ones: the order
    stays, and what is known of the first ones is merged with them.
    """

    def __init__(self, tets: Index, order: Index, count: int, border: int = 0) -> None:
        """tets: (e, 4). order: (p,) nodes that have rows, as they are eliminated. count: number of all nodes.
        border: number of dense rows behind them."""
        self.order, self.border = order, border
        position: Index = np.full(count, -1)
        position[order] = np.arange(len(order))
        self.position = position  #: (count,) row of each node, -1 where it has none
        self.tets = tets
        self._others = NO_ELEMENTS  #: behind the tets

        size = len(order)
        has_rows = np.flatnonzero((position[tets] >= 0).any(axis=1))
        sources = _Sources.of(tets[has_rows], position, size, has_rows)
        self.source = sources.source
        # the first block of a column is its diagonal one, also where it has no sources
        block = np.unique(np.concatenate([sources.key >> 1, np.arange(size) * (size + 1)]))
        self._take_blocks(block)
        #: (2 blocks + 1,) first source of each block, those as they stand and then those to be transposed
        self.source_start: Index = np.append(
            np.searchsorted(sources.key, (2 * block[:, None] + np.arange(2)).ravel()),
            len(sources.key)).astype(np.int32)
        #: of the tets alone, once other elements came: blocks, the first source of each, sources
        self._alone: tuple[Index, Index, Index] | None = None

        self.data: Vec = np.zeros(len(self.indices))
        self._matrix = sp.csc_matrix((self.data, self.indices, self.indptr), shape=(self.size, self.size))
        self._matrix.has_sorted_indices = True

    @property
    def size(self) -> int:
        """Number of scalar rows."""
        return 3 * len(self.order) + self.border

    def _take_blocks(self, block: Index) -> None:
        """block: column (rows) + row of each block of the lower triangle, rising."""
        size = len(self.order)
        self._block = block
        self.column_start: Index = np.searchsorted(block, np.arange(size + 1) * size).astype(np.int32)
        below = np.diff(self.column_start) - 1
        lengths = (3 * below[:, None] + np.array([3, 2, 1])).ravel() + self.border
        lengths = np.append(lengths, np.arange(self.border, 0, -1))
        self.indptr: Index = np.zeros(self.size + 1, dtype=np.int32)
        self.indptr[1:] = np.cumsum(lengths)
        self.indices: Index = np.empty(self.indptr[-1], dtype=np.int32)
        lay_out(block, self.column_start, self.border, self.indptr, self.indices)

    def meet(self, others: Index | None) -> None:
        """From now on there are these elements behind the tets, (s, 4), a node twice where it has fewer; or none.

        Where they join nodes that were not joined the matrix gets new arrays: a linear solver knows it by them.
        """
        others = NO_ELEMENTS if others is None else others
        if np.array_equal(others, self._others):
            return
        self._others = others
        size = len(self.order)
        if self._alone is None:
            self._alone = (self._block, self.source_start, self.source)
        alone, start, source = self._alone
        more = _Sources.of(others, self.position, size, len(self.tets) + np.arange(len(others)))

        # where each of their blocks stands, or would, among those of the tets
        wanted, turned = more.key >> 1, more.key & 1
        is_first = np.append(True, wanted[1:] != wanted[:-1])[: len(wanted)]
        each = np.cumsum(is_first) - 1
        single = wanted[is_first]
        place = np.searchsorted(alone, single)
        is_new = alone[np.minimum(place, len(alone) - 1)] != single
        block = _inserted(alone, place[is_new], single[is_new])
        # their sources come behind those of the tets, so that sums of the tets are what they are without them
        behind = start[2 * place[each] + np.where(is_new[each], 0, turned + 1)]
        counts = np.zeros((len(block), 2), dtype=np.int32)
        counts[_inserted(np.ones(len(alone), dtype=bool), place[is_new], np.zeros(int(is_new.sum()), dtype=bool))] = \
            np.diff(start).reshape(-1, 2)
        slot = 2 * (place + np.cumsum(is_new) - is_new)[each] + turned
        counts.ravel()[:] += np.bincount(slot, minlength=counts.size).astype(np.int32)
        self.source_start = np.append(0, np.cumsum(counts)).astype(np.int32)
        self.source = _inserted(source, behind, more.source)
        if len(block) == len(self._block) and np.array_equal(block, self._block):
            return
        self._take_blocks(block)
        self.data = np.zeros(len(self.indices))
        matrix = self._matrix
        matrix.data, matrix.indices, matrix.indptr = self.data, self.indices, self.indptr

    def _border_places(self, k: int) -> Index:
        """Where the entries of border row k stand in `data`: each column ends with those of all border rows."""
        columns = self.size - self.border
        return self.indptr[1 : columns + 1] - self.border + k

    def put_border(self, k: int, vector: Vec, pivot: float) -> None:
        """Write border row k. vector: (n, 3), on nodes. pivot: its diagonal entry."""
        self.data[self._border_places(k)] = vector[self.order].ravel()
        self.data[self.indptr[self.size - self.border + k]] = pivot

    def gather(self, blocks: Vec, node_blocks: Vec, scale: float, diagonal: Vec, others: Index | None = None) -> Vec:
        """Values of diag(diagonal) + scale K on the pattern; the array is kept and written anew each time.

        blocks: (e + s, 6, 9) of K = ∂f/∂x, of pairs of corners of the tets and then of the others. node_blocks:
        (n, 3, 3) of K, from forces on single nodes. diagonal: (n,) one value for the three rows of a node. others:
        elements behind the tets, (s, 4); None where there are none.
        """
        self.meet(others)
        share(gather_matrix, CHUNKS, blocks.reshape(-1, 9), node_blocks.reshape(-1, 9), scale, diagonal, self.order,
              self.source_start, self.source, self.column_start, self.indptr, self.data)
        return self.data

    def matrix(self) -> sp.csc_matrix:
        """The lower triangle as a SciPy matrix that shares `data`; always the same one."""
        return self._matrix


def _inserted(values: Any, before: Index, new: Any) -> Any:
    """`values` with `new` ones before these places, which rise."""
    place = before + np.arange(len(before))
    out = np.empty(len(values) + len(new), dtype=values.dtype)
    is_old = np.ones(len(out), dtype=bool)
    is_old[place] = False
    out[place], out[is_old] = new, values
    return out
