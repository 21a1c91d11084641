"""Solved columns of one factor, cached for as long as the factor is reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...state import Index, Vec

FREED, ON_VERTEX, SPREAD = 0, 1, 2  #: a released direction, a row of one vertex, one of several
Name = tuple[int, int, int]  #: kind, number of the vertex or row, and direction


class CachedColumns:
    """Cache of columns a, (m, c), with three further arrays of each: a in the frames of the vertices, and x and y with
    xᵀ y = aᵀ F⁻¹ a for the factored matrix F. x and y are a in frames and its solution, or both the half solve L⁻¹ a.
    The products of all columns with each other, (c, c), are cached, too: aᵀ a, xᵀ y, and aᵀ A a of released
    directions."""

    def __init__(self, size: int) -> None:
        """size: number of unknowns, the length of a column."""
        self._at: dict[Name, int] = {}
        self._arrays: list[Vec] = [np.zeros((size, 0), order="F") for _ in range(4)]
        self._between: list[Vec] = [np.zeros((0, 0)) for _ in range(3)]
        self._chosen: Index | None = None  #: None: all of them in their order

    def missing(self, names: Sequence[Name]) -> list[Name]:
        """Return the names of columns that are not cached yet, in their order."""
        return [name for name in names if name not in self._at]

    def add(self, names: Sequence[Name], whole: Vec, in_frames: Vec, first: Vec, second: Vec,
            products: Mapping[Name, Vec]) -> None:
        """Add columns a, a in frames, x and y, all (m, c) in Fortran's order. products: A times each released direction
        among them, (m,), by name."""
        count = self._arrays[0].shape[1]
        self._at |= {name: count + column for column, name in enumerate(names)}
        self._arrays = [np.hstack([old, more]) if count else more
                        for old, more in zip(self._arrays, (whole, in_frames, first, second))]
        moved = np.zeros((count + len(names), len(names)))
        freed = [column for column, name in enumerate(names) if name in products]
        if freed:
            moved[:, freed] = self._arrays[0].T @ np.column_stack([products[names[column]] for column in freed])
        for k, more in enumerate((self._arrays[0].T @ whole, self._arrays[2].T @ second, moved)):
            self._between[k] = np.block([[self._between[k], more[:count]], [more[:count].T, more[count:]]])

    def choose(self, names: Sequence[Name]) -> None:
        """Choose columns by name; all of them have to be cached."""
        chosen = [self._at[name] for name in names]
        self._chosen = None if chosen == list(range(len(self._at))) else np.array(chosen, np.int32)

    def columns(self) -> tuple[Vec, Vec, Vec]:
        """Return the chosen columns a, a in frames, and y, all (m, c)."""
        whole, in_frames, _, second = self._arrays
        if self._chosen is None:
            return whole, in_frames, second
        return whole[:, self._chosen], in_frames[:, self._chosen], second[:, self._chosen]

    def between(self) -> tuple[Vec, Vec, Vec]:
        """Return products of the chosen columns: aᵀ a, aᵀ F⁻¹ a, and aᵀ A a of released directions, all (c, c)."""
        if self._chosen is None:
            return self._between[0], self._between[1], self._between[2]
        block = np.ix_(self._chosen, self._chosen)
        return self._between[0][block], self._between[1][block], self._between[2][block]
