"""Columns beside one factor: what was asked of it is asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...state import Index, Vec

FREED, ON_VERTEX, SPREAD = 0, 1, 2  #: a direction that was let go, a row of one vertex, one of several
Name = tuple[int, int, int]  #: one of these, the number of its vertex or row, and which direction

Write = Callable[[int, int, int, Vec], None]
Solve = Callable[[Sequence[Name], Vec], tuple[Vec, Vec, Vec]]


class Beside:
    """Of each column itself, A times it, what it is in the frames of the vertices, and the factor's answer, (m, c)."""

    def __init__(self, size: int) -> None:
        self._at: dict[Name, int] = {}
        self._arrays: list[Vec] = [np.zeros((size, 0), order="F") for _ in range(4)]
        self._chosen: Index = np.zeros(0, np.int32)

    def ask(self, names: Sequence[Name], write: Write, solve: Solve) -> None:
        """Choose these columns; those that are new are written and solved, all at once."""
        new = [name for name in names if name not in self._at]
        if new:
            size = len(self._arrays[0])
            whole = np.empty((size, len(new)), order="F")
            for column, name in enumerate(new):
                self._at[name] = self._arrays[0].shape[1] + column
                write(*name, whole[:, column])
            found = (whole, *solve(new, whole))
            self._arrays = [np.asfortranarray(np.hstack([old, more])) if old.shape[1] else np.asfortranarray(more)
                            for old, more in zip(self._arrays, found)]
        self._chosen = np.array([self._at[name] for name in names], np.int32)

    def columns(self) -> tuple[Vec, Vec, Vec]:
        """The chosen ones themselves, in frames, and the answers, all (m, c)."""
        whole, _, turned, solved = self._arrays
        return whole[:, self._chosen], turned[:, self._chosen], solved[:, self._chosen]

    def products(self) -> Vec:
        """A times the chosen ones, (m, c): of directions that were let go, zero for rows."""
        products: Vec = self._arrays[1][:, self._chosen]
        return products
