"""Names of rows, and multipliers identified by these names from one solution to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..state import Index, Mask, Vec

Numbers = Index | Mask | npt.NDArray[np.signedinteger[Any]]
Names = npt.NDArray[np.int64]  #: of rows: one that is posed again at the next solution has the same name
KIND, FIRST, SECOND = 1 << 48, 1 << 32, 1 << 16  #: what a kind and two of three numbers count in a name
TANGENT = 1 << 52  #: what each of the two rows along a surface adds to the name of the contact's normal


def row_names(kind: int, first: Numbers, second: Numbers | int = 0, third: Numbers | int = 0) -> Names:
    """Return names of rows of one kind, 0 … 15, from three numbers for each row, (r,), −1 … 65534.

    A 64-bit float represents a name exactly, so that the memory of a state can contain names.
    """
    name: Names = (np.asarray(first).astype(np.int64) + 1) * FIRST + kind * KIND
    return name + (np.asarray(second).astype(np.int64) + 1) * SECOND + np.asarray(third).astype(np.int64) + 1


def tangent_names(name: Names) -> Names:
    """Return names of the two tangential rows of each contact, (2 k,), in turn. name: of the normal rows, (k,)."""
    both: Names = (name[:, None] + np.array([TANGENT, 2 * TANGENT])).ravel()
    return both


@dataclass(frozen=True)
class Multipliers:
    """Multipliers sorted by the names of their rows."""

    name: Names  #: ascending, (k,)
    value: Vec  #: (k,)

    @classmethod
    def of(cls, *tables: tuple[Names, Vec]) -> Multipliers:
        """Return the multipliers of several tables of names and values, (r,) each."""
        name = np.concatenate([names for names, _ in tables])
        order = np.argsort(name, kind="stable")
        return cls(name[order], np.concatenate([values for _, values in tables])[order])

    def __len__(self) -> int:
        return len(self.name)

    def has(self, name: Names) -> Mask:
        """Return for each name, (r,), whether it has a multiplier."""
        if not len(self.name):
            return np.zeros(len(name), np.bool_)
        has_name: Mask = self.name[self._slots(name)] == name
        return has_name

    def at(self, name: Names) -> Vec:
        """Return the multipliers of rows with these names, (r,), 0 for rows that have none."""
        if not len(self.name):
            return np.zeros(len(name))
        slots = self._slots(name)
        value: Vec = np.where(self.name[slots] == name, self.value[slots], 0.0)
        return value

    def _slots(self, name: Names) -> Index:
        """Return the index where each name is or would be, (r,)."""
        slots: Index = np.minimum(np.searchsorted(self.name, name), len(self.name) - 1)
        return slots


@dataclass(frozen=True)
class RowMultipliers:
    """Multipliers in the order of one table, as a start for the next solution, which mostly has its rows in an equal
    order."""

    name: Names  #: (r,)
    value: Vec  #: (r,)

    def __len__(self) -> int:
        return len(self.name)

    def at(self, name: Names) -> Vec:
        """Return the multipliers of rows with these names, (r,), 0 for rows that have none."""
        if self.name.tobytes() == name.tobytes():
            return self.value
        return Multipliers.of((self.name, self.value)).at(name)


#: no multipliers, of which every row has 0
NO_MULTIPLIERS = RowMultipliers(np.zeros(0, np.int64), np.zeros(0))
