"""Rows on several unknowns, each with few entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec


@dataclass(frozen=True)
class Across:
    """Table of s rows by their entries; a row may have several entries for one unknown."""

    first: Index  #: entry of each row, (s + 1,)
    row: Index  #: of each entry
    column: Index  #: its unknown
    value: Vec

    def __len__(self) -> int:
        return len(self.first) - 1

    def times(self, u: Vec) -> Vec:
        """Return the product of each row with unknowns u (m,), (s,)."""
        return np.asarray(np.bincount(self.row, self.value * u[self.column], len(self)), dtype=float)

    def squares(self, weight: Vec) -> Vec:
        """Return the sum of each row's squared entries, weighted by their unknowns, (s,). weight: (m,)."""
        return np.asarray(np.bincount(self.row, np.square(self.value) * weight[self.column], len(self)), dtype=float)

    def write(self, number: int, out: Vec) -> None:
        """Add a row, by its number, to an array over unknowns, (m,)."""
        entries = slice(int(self.first[number]), int(self.first[number + 1]))
        np.add.at(out, self.column[entries], self.value[entries])
