"""Columns beside one factor: what was asked of it is asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...state import Index, Vec

FREED, ON_VERTEX, SPREAD = 0, 1, 2  #: a direction that was let go, a row of one vertex, one of several
Name = tuple[int, int, int]  #: one of these, the number of its vertex or row, and which direction

#: writes a column that is zero
Write = Callable[[int, int, int, Vec], None]
#: columns in frames, the two, and A times those that were let go
Solve = Callable[[Sequence[Name], Vec], tuple[Vec, Vec, Vec, dict[Name, Vec]]]


class KeptColumns:
    """Of each column itself, what it is in the frames of the vertices, and two whose products with each other are those
    with the factor's inverse between, (m, c): the column in frames and the answer to it, or what half a solve makes of
    it and that again. Of directions that were let go A times the column too."""

    def __init__(self, size: int) -> None:
        self._at: dict[Name, int] = {}
        self._arrays: list[Vec] = [np.zeros((size, 0), order="F") for _ in range(4)]
        self._products: dict[Name, Vec] = {}
        self._chosen: Index | None = None  #: None: all of them as they stand

    def ask(self, names: Sequence[Name], write: Write, solve: Solve) -> None:
        """Choose these columns; those that are new are written and solved, all at once."""
        new = [name for name in names if name not in self._at]
        if new:
            size, count = self._arrays[0].shape
            whole = np.zeros((size, len(new)), order="F")
            for column, name in enumerate(new):
                self._at[name] = count + column
                write(*name, whole[:, column])
            turned, first, second, products = solve(new, whole)
            self._products.update(products)
            self._arrays = [np.hstack([old, more]) if count else more
                            for old, more in zip(self._arrays, (whole, turned, first, second))]
        chosen = [self._at[name] for name in names]
        self._chosen = None if chosen == list(range(len(self._at))) else np.array(chosen, np.int32)

    def columns(self) -> tuple[Vec, Vec, Vec, Vec]:
        """The chosen ones themselves, in frames, and those two, all (m, c)."""
        if self._chosen is None:
            return self._arrays[0], self._arrays[1], self._arrays[2], self._arrays[3]
        whole, turned, first, second = (array[:, self._chosen] for array in self._arrays)
        return whole, turned, first, second

    def products(self, names: Sequence[Name]) -> Vec:
        """A times directions that were let go, which have been asked for, (m, c)."""
        return np.column_stack([self._products[name] for name in names]) if len(names) else self._arrays[0][:, :0]
