"""Solved columns of one factor, kept for as long as the factor is reused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...state import Index, Vec

FREED, ON_VERTEX, SPREAD = 0, 1, 2  #: a released direction, a row of one vertex, one of several
Name = tuple[int, int, int]  #: one of these, the number of its vertex or row, and which direction

#: writes a column that is zero
Write = Callable[[int, int, int, Vec], None]
#: columns in frames, the two, and A times the released directions
Solve = Callable[[Sequence[Name], Vec], tuple[Vec, Vec, Vec, dict[Name, Vec]]]


class CachedColumns:
    """Columns a, (m, c), and three of each: a in the frames of the vertices, and x and y with xᵀ y = aᵀ F⁻¹ a for the
    factored matrix F, which are a in frames and its solution, or the half solve L⁻¹ a twice. Beside them the products
    of all with all, (c, c): aᵀ a, xᵀ y, and aᵀ A a of released directions."""

    def __init__(self, size: int) -> None:
        self._at: dict[Name, int] = {}
        self._arrays: list[Vec] = [np.zeros((size, 0), order="F") for _ in range(4)]
        self._between: list[Vec] = [np.zeros((0, 0)) for _ in range(3)]
        self._chosen: Index | None = None  #: None: all of them in their order

    def choose(self, names: Sequence[Name], write: Write, solve: Solve) -> None:
        """Choose columns by name; new ones are written and solved in one call."""
        new = [name for name in names if name not in self._at]
        if new:
            size, count = self._arrays[0].shape
            whole = np.zeros((size, len(new)), order="F")
            for column, name in enumerate(new):
                self._at[name] = count + column
                write(*name, whole[:, column])
            turned, first, second, products = solve(new, whole)
            self._arrays = [np.hstack([old, more]) if count else more
                            for old, more in zip(self._arrays, (whole, turned, first, second))]
            moved = np.zeros((count + len(new), len(new)))
            freed = [column for column, name in enumerate(new) if name in products]
            if freed:
                moved[:, freed] = self._arrays[0].T @ np.column_stack([products[new[column]] for column in freed])
            for k, more in enumerate((self._arrays[0].T @ whole, self._arrays[2].T @ second, moved)):
                self._between[k] = np.block([[self._between[k], more[:count]], [more[:count].T, more[count:]]])
        chosen = [self._at[name] for name in names]
        self._chosen = None if chosen == list(range(len(self._at))) else np.array(chosen, np.int32)

    def columns(self) -> tuple[Vec, Vec, Vec]:
        """Return the chosen columns a, a in frames, and y, all (m, c)."""
        whole, turned, _, second = self._arrays
        if self._chosen is None:
            return whole, turned, second
        return whole[:, self._chosen], turned[:, self._chosen], second[:, self._chosen]

    def between(self) -> tuple[Vec, Vec, Vec]:
        """Return products of the chosen columns: aᵀ a, aᵀ F⁻¹ a, and aᵀ A a of released directions, all (c, c)."""
        if self._chosen is None:
            return self._between[0], self._between[1], self._between[2]
        here = np.ix_(self._chosen, self._chosen)
        return self._between[0][here], self._between[1][here], self._between[2][here]
