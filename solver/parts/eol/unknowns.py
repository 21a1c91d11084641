"""Unknowns of a sheet, three rates ẋ or five rates ẋ and Ẋ of each vertex, and the pattern of the matrix over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...linear.tidy import tidy_csc
from ...state import Index, Mask, Vec
from .unknowns_kernels import lower_of, pairs_of

MOST = 5  #: rates of one vertex
PAIRS = np.array([(a, b) for a in range(4) for b in range(a + 1)])  #: of an element's nodes


@dataclass(frozen=True)
class Unknowns:
    """Numbers of each vertex' rates and pairs of vertices that elements join, for as long as the mesh has the same
    faces and sliding vertices."""

    slides: Mask  #: whether a vertex has Ẋ, (n,)
    elements: Index  #: (p, 4), the last node again where there are three

    @cached_property
    def first(self) -> Index:
        """Return the number of the first rate of each vertex, and of all rates, (n + 1,)."""
        first: Index = np.concatenate([[0], np.cumsum(np.where(self.slides, MOST, 3))]).astype(np.int32)
        return first

    @property
    def count(self) -> int:
        """Return the number of rates of all vertices, m."""
        return int(self.first[-1])

    @cached_property
    def _pairs(self) -> tuple[Index, Index, Index]:
        """Return pairs of vertices of any element, the larger first, and the slots of each element's pairs, (p, 10); −1
        − slot where its first node is the smaller."""
        high, low, slots = pairs_of(np.ascontiguousarray(self.elements), len(self.slides))
        return high, low, slots

    @property
    def slots(self) -> Index:
        """Return slots of each element's pairs among the blocks, (p, 10); −1 − slot where the block is transposed."""
        return self._pairs[2]

    @property
    def blocks(self) -> int:
        """Return the number of blocks (5, 5) of pairs of vertices."""
        return len(self._pairs[0])

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Return keys of the blocks, the smaller vertex << 32 | the larger, rising, (b,)."""
        high, low, _ = self._pairs
        return low.astype(np.int64) << 32 | high

    def joining(self, more: Index, blocks: Vec, extra: int = 0) -> tuple[Unknowns, Vec]:
        """Return the unknowns with `extra` more vertices of three rates and with more elements, (k, 4), and blocks,
        (b, 5, 5), at their slots there, zero elsewhere."""
        nodes = more[:, PAIRS].astype(np.int64)
        new = np.setdiff1d(nodes.min(axis=2) << 32 | nodes.max(axis=2), self.keys)
        entry = np.searchsorted(self.keys, new)
        wider = Joined(np.concatenate([self.slides, np.zeros(extra, dtype=bool)]), self.elements, np.insert(
            self.keys, entry, new))
        spread = np.zeros((wider.blocks, MOST, MOST))
        own = np.ones(wider.blocks, dtype=bool)
        own[entry + np.arange(len(new))] = False
        spread[own] = blocks
        return wider, spread

    @cached_property
    def diagonal(self) -> Index:
        """Return the slot of each vertex with itself, (n,); −1 of vertices of no element."""
        high, low, _ = self._pairs
        slot = np.full(len(self.slides), -1, dtype=np.int32)
        own = np.flatnonzero(high == low)
        slot[high[own]] = own
        return slot

    @cached_property
    def table(self) -> Index:
        """Return the numbers of each vertex' rates, (n, 5), −1 after its last."""
        numbers = self.first[:-1, None] + np.arange(MOST)
        table: Index = np.where(numbers < self.first[1:, None], numbers, -1).astype(np.int32)
        return table

    @cached_property
    def _lower(self) -> tuple[sp.csc_matrix, Index]:
        """Return the pattern of the lower triangle, and the number of each of its values among those of the blocks."""
        high, low, _ = self._pairs
        starts, rows, values = lower_of(high, low, self.first)
        return tidy_csc(np.zeros(len(rows)), rows, starts), values

    def lower(self, blocks: Vec) -> sp.csc_matrix:
        """Return the lower triangle of the matrix of blocks, (b, 5, 5): one object, whose values each call overwrites.
        """
        pattern, where = self._lower
        np.take(blocks.ravel(), where, out=pattern.data)
        return pattern

    def join(self, v: Vec, slide: Vec) -> Vec:
        """Return rates, (m,), of velocities ẋ, (n, 3) [m/s], and Ẋ, (n, 2) [m/s]."""
        return np.concatenate([v, slide], axis=1).ravel()[self._present]

    def split(self, u: Vec) -> tuple[Vec, Vec]:
        """Return velocities ẋ, (n, 3) [m/s], and Ẋ, (n, 2) [m/s], zero where a vertex does not slide, of rates, (m,).
        """
        both = np.zeros(MOST * len(self.slides))
        both[self._present] = u
        both = both.reshape(-1, MOST)
        return np.ascontiguousarray(both[:, :3]), np.ascontiguousarray(both[:, 3:])

    @cached_property
    def _present(self) -> Index:
        """Return the numbers of the rates among five of each vertex, (m,)."""
        present = np.ones((len(self.slides), MOST), dtype=bool)
        present[~self.slides, 3:] = False
        return np.flatnonzero(present.ravel()).astype(np.int32)


@dataclass(frozen=True)
class Joined(Unknowns):
    """Unknowns with additional pairs that no element joins, so few that slots of elements are not computed again."""

    joined: NDArray[np.int64]  #: keys of all blocks, (b,)

    @cached_property
    def _pairs(self) -> tuple[Index, Index, Index]:
        high: Index = (self.joined & 0xFFFFFFFF).astype(np.int32)
        return high, (self.joined >> 32).astype(np.int32), np.zeros((0, len(PAIRS)), np.int32)
