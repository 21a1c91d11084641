"""Rates of a sheet whose vertices have three of them, ẋ, or five, ẋ and Ẋ; and the matrix over them."""

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
    """Slots of each vertex' rates, and which vertices an element joins. For as long as the mesh keeps its faces and
    its sliding vertices."""

    slides: Mask  #: whether a vertex has Ẋ, (n,)
    elements: Index  #: (p, 4), the last node again where there are three

    @cached_property
    def first(self) -> Index:
        """Return the first slot of each vertex' rates, and the number of all, (n + 1,)."""
        first: Index = np.concatenate([[0], np.cumsum(np.where(self.slides, MOST, 3))]).astype(np.int32)
        return first

    @property
    def count(self) -> int:
        return int(self.first[-1])

    @cached_property
    def _pairs(self) -> tuple[Index, Index, Index]:
        """Pairs of vertices of any element, the larger first, and where each element's stand among them, (p, 10);
        −1 − place where its first node is the smaller."""
        high, low, slots = pairs_of(np.ascontiguousarray(self.elements), len(self.slides))
        return high, low, slots

    @property
    def slots(self) -> Index:
        """Return slots of each element's pairs among the blocks, (p, 10); −1 − slot where the block is transposed."""
        return self._pairs[2]

    @property
    def blocks(self) -> int:
        """How many blocks (5, 5) of pairs of vertices there are."""
        return len(self._pairs[0])

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Return keys of the blocks, the smaller vertex << 32 | the larger, rising, (b,)."""
        high, low, _ = self._pairs
        return low.astype(np.int64) << 32 | high

    def joining(self, more: Index, blocks: Vec, besides: int = 0) -> tuple[Unknowns, Vec]:
        """Return the unknowns with so many more vertices of three rates and with more elements (k, 4), and
        blocks (b, 5, 5) in their places there, zero elsewhere."""
        nodes = more[:, PAIRS].astype(np.int64)
        new = np.setdiff1d(nodes.min(axis=2) << 32 | nodes.max(axis=2), self.keys)
        place = np.searchsorted(self.keys, new)
        wider = Joined(np.concatenate([self.slides, np.zeros(besides, dtype=bool)]), self.elements, np.insert(
            self.keys, place, new))
        spread = np.zeros((wider.blocks, MOST, MOST))
        own = np.ones(wider.blocks, dtype=bool)
        own[place + np.arange(len(new))] = False
        spread[own] = blocks
        return wider, spread

    @cached_property
    def diagonal(self) -> Index:
        """The slot of each vertex with itself, (n,); −1 of those of no element."""
        high, low, _ = self._pairs
        slot = np.full(len(self.slides), -1, dtype=np.int32)
        own = np.flatnonzero(high == low)
        slot[high[own]] = own
        return slot

    @cached_property
    def table(self) -> Index:
        """Each vertex' rates, (n, 5), −1 behind its last."""
        numbers = self.first[:-1, None] + np.arange(MOST)
        table: Index = np.where(numbers < self.first[1:, None], numbers, -1).astype(np.int32)
        return table

    @cached_property
    def _lower(self) -> tuple[sp.csc_matrix, Index]:
        """The lower triangle's pattern, and where each of its values stands among those of the blocks."""
        high, low, _ = self._pairs
        starts, rows, values = lower_of(high, low, self.first)
        return tidy_csc(np.zeros(len(rows)), rows, starts), values

    def lower(self, blocks: Vec) -> sp.csc_matrix:
        """The lower triangle of the matrix with these blocks (b, 5, 5); the same one each time, with other values."""
        pattern, where = self._lower
        np.take(blocks.ravel(), where, out=pattern.data)
        return pattern

    def flat(self, v: Vec, slide: Vec) -> Vec:
        """Rates (m,) of velocities ẋ (n, 3) and Ẋ (n, 2)."""
        return np.concatenate([v, slide], axis=1).ravel()[self._there]

    def parted(self, u: Vec) -> tuple[Vec, Vec]:
        """ẋ (n, 3) and Ẋ (n, 2), zero where a vertex does not slide, of rates (m,)."""
        both = np.zeros(MOST * len(self.slides))
        both[self._there] = u
        both = both.reshape(-1, MOST)
        return np.ascontiguousarray(both[:, :3]), np.ascontiguousarray(both[:, 3:])

    @cached_property
    def _there(self) -> Index:
        """Places of the rates among five of each vertex."""
        there = np.ones((len(self.slides), MOST), dtype=bool)
        there[~self.slides, 3:] = False
        return np.flatnonzero(there.ravel()).astype(np.int32)


@dataclass(frozen=True)
class Joined(Unknowns):
    """With pairs that no element of its own joins; so few that others' places are not searched again."""

    joined: NDArray[np.int64]  #: keys of all blocks, (b,)

    @cached_property
    def _pairs(self) -> tuple[Index, Index, Index]:
        high: Index = (self.joined & 0xFFFFFFFF).astype(np.int32)
        return high, (self.joined >> 32).astype(np.int32), np.zeros((0, len(PAIRS)), np.int32)
