"""Multifrontal Cholesky factorization in single or double precision, on all threads, on known supernodes.

Single precision has half the bytes and twice the lanes: for directions, which need not be exact. Double precision is
for patterns that change. Each supernode's front is assembled from entries of A and the update matrices of its children,
and factored by BLAS. Subtrees are factored in parallel, then the top of the tree front by front, each in tiles. The
result does not depend on which thread factors which front. [Liu 1992]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...pool import KernelStage
from ...state import Index, Vec
from ...threads import begin, parallel_stages
from ..analysed import Analysed
from .blas import addresses
from .front_layout import FrontLayout, stack_updates
from .multifrontal_kernels import assemble_tiles, factor_trees, panel_tiles, solve_tiles, start_panel, update_tiles
from .plan_kernels import locate_entries, locate_node_entries
from .supernodal import Supernodes

Single: TypeAlias = npt.NDArray[np.float32]
Long: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = npt.NDArray[np.floating[Any]]
Take: TypeAlias = Callable[[int], Values]

PANEL = 192  #: columns of a front at the top that are factored together
TILE = 96  #: rows or columns of a front at the top that a thread takes at once
MOST_UPDATES = 2.0  #: of the room of L, for all update matrices together
ALWAYS_FITS = 1 << 24  #: values; memory that is always available
UNLIMITED = 1 << 62


class Workspace:
    """Memory for values, update matrices and indices of entries that successive factors reuse."""

    def __init__(self, kind: type = np.float64) -> None:
        """kind: dtype of the values."""
        self._values: Values = np.empty(0, kind)
        self._updates: Values = np.empty(0, kind)
        self._index_memory: Index = np.empty(0, np.int32)
        self._search: Entries | None = None  #: that another thread may still write there

    def values(self, count: int) -> Values:
        """Return memory for this many values of L; its contents are those of the last factor, or undefined."""
        if len(self._values) < count:
            self._values = np.empty(count + count // 4, self._values.dtype)
        return self._values[:count]

    def entries(self, inside: Supernodes, lower: sp.csc_matrix) -> Entries:
        """Begin to find the positions of the entries of `lower`, (m, m), in the fronts of `inside`, and return them."""
        self._search = Entries(inside, lower, self.index_memory(2 * len(lower.indices)))
        return self._search

    def index_memory(self, count: int) -> Index:
        """Return memory for at least this many indices, after the search for entries that writes there has ended."""
        if self._search is not None:
            self._search.result()
            self._search = None
        if len(self._index_memory) < count:
            self._index_memory = np.empty(count + count // 4, np.int32)
        return self._index_memory

    def updates(self, count: int) -> Values:
        """Return memory for this many values of update matrices; its contents are undefined."""
        if len(self._updates) < count:
            self._updates = np.empty(count + count // 4, self._updates.dtype)
        return self._updates[:count]


class Multifrontal:
    """Plan of a multifrontal factorization, made once for a pattern; `factor` writes L."""

    def __init__(self, inside: Supernodes, lower: sp.csc_matrix, blas: Long, take: Take, most: int,
                 entries: Entries, layout: FrontLayout | None = None) -> None:
        """inside: supernodes. lower: matrix of their pattern. blas: of `addresses`. take: returns memory for a number
        of values, in the precision of the factor. most: largest number of values of all update matrices. entries:
        positions of the entries of `lower`. layout: memory layout of fronts, of which not all need be factored; None
        for the closest layout of all fronts."""
        # arrays of `inside`, not itself: without a cycle of references an owner of both is freed once it is unused
        self._trees, self._top, self._blas, self._most = inside.trees, inside.top, blas, most
        self._values = int(inside.values_start[-1])
        self.is_of = Analysed(lower).is_of  #: whether it can factor this matrix
        first, rows_start, parent, relative = inside.first, inside.rows_start, inside.parent, inside.relative
        count = len(parent)
        self._made: npt.NDArray[np.int8] = np.ones(count, dtype=np.int8)
        if layout is None:
            sizes = (np.diff(rows_start) - np.diff(first)).astype(np.int64) ** 2
            self._updates_start, self.update_size = stack_updates(inside, sizes)
            self._values_start = inside.values_start
        else:
            self.use_layout(layout)
        by_parent = np.argsort(parent, kind="stable").astype(np.int32)
        children_start = np.searchsorted(parent[by_parent], np.arange(count + 1)).astype(np.int32)
        # (unsigned indices are not tested for being negative: a twentieth of a factor)
        self._supernodes, self._pattern = (first, rows_start), (
            children_start, by_parent, relative.view(np.uint32), *entries.result())
        longest = -(-inside.longest // TILE)
        pieces = max(len(inside.trees) // 2, longest * (longest + 1) // 2)
        self._ints = np.zeros((pieces, 8), dtype=np.int32)
        self._failed = np.zeros(len(inside.trees) // 2 + 1, dtype=np.int32)
        self._updates = take(self.update_size if layout is not None or self.fits else 0)

    def use_layout(self, at: FrontLayout) -> None:
        """Use the memory layout `at` from now on, and factor only the fronts that it marks."""
        self._values_start, self._made = at.in_values.starts.astype(np.int32), at.made
        self._updates_start, self.update_size = at.updates()

    @property
    def fits(self) -> bool:
        """Whether update matrices take little more memory than L itself; if not the plan must not be used."""
        return self.update_size <= max(min(MOST_UPDATES * float(self._values), self._most), ALWAYS_FITS)

    def factor(self, data: Vec, scale: float, values: Single | Vec) -> bool:
        """Write L of scale A for all fronts that are to be factored; return False where the matrix is not positive
        definite.

        data: entries of A's lower triangle, (nnz,). values: of L, as in Supernodes, in the precision of the plan.
        """
        failed = self._failed
        failed[:] = 0
        widest = max(len(self._trees) // 2, 1)
        parallel_stages("factor", len(values), widest, self._stages(data, scale, values))
        return not failed.any()

    def _stages(self, data: Vec, scale: float, values: Single | Vec) -> Iterator[KernelStage]:
        """Yield the stages: subtrees in parallel, then the fronts above them in sequence; none after one that is not
        positive definite."""
        yield KernelStage(factor_trees, len(self._trees) // 2, (
            self._trees, self._made, self._blas, self._ints, self._failed, data, scale, values, *self._plan),
            partial(self._bytes_of_trees, values.itemsize))
        for s in self._top[self._made[self._top] == 1].tolist():
            if self._failed.any():
                return
            yield from self._stages_of_front(s, data, scale, values)

    @property
    def _plan(self) -> tuple[Any, ...]:
        return self._updates, *self._supernodes, self._values_start, self._updates_start, *self._pattern

    def _bytes_of_trees(self, of_one: int) -> int:
        """Return the bytes of L and of update matrices that fronts of subtrees which are to be made take. of_one: bytes
        of a value."""
        first, rows_start = self._supernodes
        columns, lengths = np.diff(first).astype(np.int64), np.diff(rows_start).astype(np.int64)
        is_made = self._made == 1
        is_made[self._top] = False
        # of an update matrix a triangle is written, and read
        return int((columns * lengths + (lengths - columns) ** 2)[is_made].sum()) * of_one

    def _stages_of_front(self, s: int, data: Vec, scale: float, values: Single | Vec) -> Iterator[KernelStage]:
        """Yield the stages of one front, panel by panel, each in tiles, and that of its update matrix."""
        blas, ints = self._blas, self._ints
        first, rows_start = self._supernodes
        block = (values, rows_start, self._values_start)
        columns, length = int(first[s + 1] - first[s]), int(rows_start[s + 1] - rows_start[s])
        of_values, of_updates = columns * length * values.itemsize, (length - columns) ** 2 * values.itemsize
        yield KernelStage(assemble_tiles, -(-length // TILE), (s, TILE, data, scale, values, *self._plan),
                    partial(int, of_values + of_updates))
        for left in range(0, columns, PANEL):
            right = min(left + PANEL, columns)
            if left > 0:
                yield KernelStage(panel_tiles, -(-(length - left) // TILE), (s, left, right, TILE, blas, ints, *block),
                            partial(int, of_values * right // columns))
            yield KernelStage(start_panel, 1, (s, left, right, blas, ints, self._failed, *block),
                        partial(int, (right - left) ** 2 * values.itemsize))
            if self._failed[-1]:
                return
            if length > right:
                yield KernelStage(solve_tiles, -(-(length - right) // TILE), (s, left, right, TILE, blas, ints, *block),
                            partial(int, of_values * (right - left) // columns))
        tiles = -(-(length - columns) // TILE)
        if tiles:
            yield KernelStage(update_tiles, tiles * (tiles + 1) // 2, (
                s, TILE, blas, ints, values, self._updates, first, *block[1:], self._updates_start),
                partial(int, of_values + of_updates // 2))


def multifrontal(inside: Supernodes, lower: sp.csc_matrix, kind: type = np.float32,
                 take: Take | None = None, most: int = UNLIMITED, index_memory: Index | None = None,
                 layout: FrontLayout | None = None, entries: Entries | None = None) -> Multifrontal | None:
    """Return the plan of a multifrontal factorization; None where scipy's BLAS is not as expected or memory would be
    short.

    inside: supernodes. lower: matrix of their pattern. kind: np.float32 or np.float64. take: returns memory for a
    number of values, new memory where left out. most: largest number of values of all update matrices. index_memory:
    memory for two indices of each entry of `lower`, new where left out. layout: memory layout of fronts, as in
    Multifrontal. entries: positions of the entries of `lower`, where their search has begun.
    """
    blas = addresses("s" if kind is np.float32 else "d")
    if blas is None:
        return None
    factor = Multifrontal(inside, lower, blas, take or (lambda count: np.empty(count, dtype=kind)), most,
                          entries or Entries(inside, lower, index_memory), layout)
    return factor if layout is not None or factor.fits else None


class Entries:
    """Positions of the entries of A in the fronts, found by another thread meanwhile, if there is one."""

    def __init__(self, inside: Supernodes, lower: sp.csc_matrix, index_memory: Index | None) -> None:
        """lower: matrix of the pattern that `inside` factors. index_memory: memory for two indices of each of its
        entries, new for None."""
        size, count = len(inside.permutation), len(lower.indices)
        index_memory = np.empty(2 * count, dtype=np.int32) if index_memory is None else index_memory
        self._starts, self._inside = np.empty(size + 1, dtype=np.int32), inside
        self._pattern = lower.indptr, lower.indices
        self._source, self._in_front = index_memory[:count], index_memory[count : 2 * count]
        self._work = begin(self._find)

    def of(self, inside: Supernodes, lower: sp.csc_matrix) -> bool:
        """Whether these are the positions for the supernodes `inside` and the pattern of `lower`, by identity of the
        arrays."""
        return inside is self._inside and lower.indptr is self._pattern[0] and lower.indices is self._pattern[1]

    def result(self) -> tuple[Index, Index, Index]:
        """Return the first entry of each column of L, (m + 1,), and of each entry its index in A's data and its row in
        the front."""
        self._work.lead()
        return self._starts, self._source.view(np.uint32), self._in_front.view(np.uint32)

    def _find(self) -> None:
        """Write for each entry of A its index in the data and its row in the front, in the order of the columns of
        L."""
        inside, (indptr, indices) = self._inside, self._pattern
        size = len(inside.permutation)
        inverse, within = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
        inverse[inside.permutation] = np.arange(size, dtype=np.int32)
        out = self._starts, self._source, self._in_front
        if inside.nodes:
            unsigned = (array.view(np.uint32) for array in (indices, inside.permutation, inverse, inside.rows))
            indices, permutation, row_of, rows = unsigned
            locate_node_entries(indptr, indices, inside.nodes, permutation, row_of, inside.first, inside.rows_start,
                               rows, *out)
        else:
            locate_entries(indptr, indices, inverse, inside.first, inside.rows_start, inside.rows, within, *out)
