"""Memory layout of fronts in a partial refactorization: fronts in whose subtree nothing has changed keep their columns
of L and their update matrices from matrix to matrix, also where the pattern changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...state import Index, Mask
from .front_layout_kernels import find_memory, find_valid_fronts
from .plan_kernels import gather_subtrees, stack_subtrees
from .supernodal import Supernodes

Long: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.int8]
HEADROOM = 1.5  #: times the memory for updates of a factor that is made whole: a layout without as much is not used
#: subtrees that cost less than one part in so many are made as a whole, since update matrices take memory; the first
#: that fits
PARTS = (512, 128)
MOST_UPDATES = 4.0  #: of the room of L, for updates; where they take more all is made each time


@dataclass(frozen=True)
class MemoryBlocks:
    """Memory blocks of all supernodes in one array."""

    starts: Long  #: (s,)
    capacities: Long  #: capacity of each block in values, (s,)
    vacant: Long  #: unused blocks, first entries and capacities, (v, 2)
    end: int  #: of all blocks
    most: int  #: where they may end

    @classmethod
    def of_all(cls, sizes: Long, headroom: float) -> MemoryBlocks:
        """Return blocks of these sizes, (s,), one after the other. headroom: largest memory of later blocks, relative
        to theirs."""
        end = int(sizes.sum())
        return cls(np.cumsum(sizes) - sizes, sizes, np.zeros((0, 2), np.int64), end, int(headroom * end))

    def after(self, sizes: Long, before: Index) -> MemoryBlocks:
        """Return blocks for other supernodes of these sizes, (s,); each takes that of the former supernode `before`,
        (s,), −1 for none, if it is large enough."""
        starts, capacities = np.empty_like(sizes), np.empty_like(sizes)
        left = np.empty((len(self.vacant) + len(self.starts), 2), np.int64)
        end = find_memory(sizes, before, self.starts, self.capacities, self.vacant, self.end, starts, capacities, left)
        return MemoryBlocks(starts, capacities, left[left[:, 1] > 0], end, self.most)


@dataclass(frozen=True)
class FrontLayout:
    """Memory layout of the supernodes of one factor: columns of L and update matrices."""

    of: Supernodes
    in_values: MemoryBlocks  #: of L
    in_updates: MemoryBlocks  #: update matrices of supernodes that keep them
    stacked: int  #: memory before these, for the update matrices of all others
    made: Flags  #: 1 for fronts to be factored, 0 where front and subtree remain valid, (s,)
    stores_update: Flags  #: 1 for supernodes that keep their update matrices, else 0, (s,)
    parts: int  #: see PARTS

    @classmethod
    def of_all(cls, inside: Supernodes) -> FrontLayout | None:
        """Return a layout with all fronts to be factored; None where it would take much more memory than L itself."""
        return next((layout._with_all_memory() for parts in PARTS
                     if (layout := cls._in_parts(inside, parts))._fits), None)

    @classmethod
    def _in_parts(cls, inside: Supernodes, parts: int) -> FrontLayout:
        whole, least = _sum_subtrees(inside, parts)
        stores_update = ((inside.parent < 0) | (whole[inside.parent] > least)).astype(np.int8)
        of_values, of_updates = _sizes(inside)
        stacked = int(HEADROOM * stack_updates(inside, of_updates * (1 - stores_update))[1])
        # L takes less memory than updates do, and gaps between its blocks grow with each pattern
        in_values = MemoryBlocks.of_all(of_values, 2.0 * HEADROOM - 1.0)
        in_updates = MemoryBlocks.of_all(of_updates * stores_update, HEADROOM)
        return cls(inside, in_values, in_updates, stacked, np.ones_like(stores_update), stores_update, parts)

    @property
    def _fits(self) -> bool:
        return self.stacked + self.in_updates.most <= MOST_UPDATES * self.in_values.end

    def _with_all_memory(self) -> FrontLayout:
        """Return this layout with all memory that updates may take: gaps between their blocks grow with each pattern,
        and memory that is not written to costs nothing."""
        most = int(MOST_UPDATES * self.in_values.end) - self.stacked
        return replace(self, in_updates=replace(self.in_updates, most=max(self.in_updates.most, most)))

    def with_all_fronts(self) -> FrontLayout:
        """Return this layout with all fronts to be factored."""
        return replace(self, made=np.ones_like(self.made))

    @property
    def unknowns(self) -> Mask:
        """Return a mask of the unknowns whose columns of L are to be computed, (m,)."""
        out = np.empty(len(self.of.permutation), dtype=bool)
        out[self.of.permutation] = np.repeat(self.made == 1, np.diff(self.of.first))
        return out

    def updates(self) -> tuple[Long, int]:
        """Return the first entry of each update matrix, (s,), and the number of values that all may take."""
        starts, _ = stack_updates(self.of, _sizes(self.of)[1] * (1 - self.stores_update))
        return np.where(self.stores_update == 1, self.stacked + self.in_updates.starts, starts), \
            self.stacked + self.in_updates.most

    def after(self, inside: Supernodes, changed: Mask) -> FrontLayout | None:
        """Return a layout for another factor, or for this one again, in the same memory; None where it does not fit or
        no front keeps its values.

        changed: unknowns in whose columns the entries of A may have changed since these fronts were factored, (m,).
        """
        old, count = self.of, len(inside.parent)
        row_of_unknown = np.empty(len(changed), np.int32)
        row_of_unknown[old.permutation] = np.arange(len(row_of_unknown), dtype=np.int32)
        owner = np.repeat(np.arange(len(old.parent), dtype=np.int32), np.diff(old.first))
        made, before, stores_update = np.empty(count, np.int8), np.empty(count, np.int32), np.empty(count, np.int8)
        find_valid_fronts(inside.first, inside.rows_start, inside.rows, inside.permutation, inside.parent, changed,
                          old.first, old.rows_start, old.rows, old.permutation, old.parent, row_of_unknown, owner,
                          self.stores_update, *_sum_subtrees(inside, self.parts), made, before, stores_update)
        of_values, of_updates = _sizes(inside)
        in_values = self.in_values.after(of_values, before)
        in_updates = self.in_updates.after(of_updates * stores_update, before)
        fits = (in_values.end <= in_values.most and in_updates.end <= in_updates.most
                and stack_updates(inside, of_updates * (1 - stores_update))[1] <= self.stacked)
        if not fits or made.all():
            return None
        return FrontLayout(inside, in_values, in_updates, self.stacked, made, stores_update, self.parts)


def stack_updates(inside: Supernodes, sizes: Long) -> tuple[Long, int]:
    """Return the first entry of each update matrix, (s,), and the size of the memory for all, where each is read only
    once.

    sizes: of the update matrices, (s,), in values.
    """
    starts = np.zeros(len(sizes), np.int64)
    size = stack_subtrees(inside.parent, sizes, inside.trees, inside.top, np.zeros(len(sizes), np.int8),
                          np.zeros(len(sizes), np.int64), starts)
    return starts, int(size)


def _sum_subtrees(inside: Supernodes, parts: int) -> tuple[Long, int]:
    """Return the cost of each supernode with its subtree, (s,), and the least cost of a subtree whose fronts keep their
    values: that of all over `parts`."""
    lengths = np.diff(inside.rows_start).astype(np.int64)
    whole, start = np.empty(len(lengths), np.int64), np.empty(len(lengths), np.int32)
    gather_subtrees(inside.parent, np.diff(inside.first) * lengths**2, whole, start)
    return whole, int(whole[inside.parent < 0].sum()) // parts


def _sizes(inside: Supernodes) -> tuple[Long, Long]:
    """Return the number of values of L and of the update matrix of each supernode, (s,) each."""
    columns, lengths = np.diff(inside.first).astype(np.int64), np.diff(inside.rows_start)
    return columns * lengths, (lengths - columns) ** 2
