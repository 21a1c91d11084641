"""Multipliers of ropes and constraints at the end of the last step, in the memory of a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..forces.multipliers import MULTIPLIERS, WithMultipliers
from ..state import State, Vec


def recall(laws: Sequence[WithMultipliers], state: State) -> None:
    """Set the multipliers of forces to those of a state."""
    all_of_them, first = state.memory.get(MULTIPLIERS), 0
    for law in laws:
        law.recall(None if all_of_them is None else all_of_them[first : first + law.remembers])
        first += law.remembers


def remembering(laws: Sequence[WithMultipliers], after: State, x: Vec) -> State:
    """Return a state with the multipliers of forces at its positions x, (n, 3) [m]."""
    found = np.concatenate([law.multipliers(x, after.time) for law in laws])
    return replace(after, memory={**after.memory, MULTIPLIERS: found})


class Iterates:
    """Positions that the iterations of a stage linearise at, from each of which laws expect their multipliers at the
    next."""

    def __init__(self, laws: Sequence[WithMultipliers]) -> None:
        self._laws = laws
        self._last: Vec | None = None

    def follow(self, x: Vec, time: float) -> None:
        """Go on to positions x, (n, 3) [m], at the stage's end [s]."""
        if self._last is not None and not np.array_equal(self._last, x):
            for law in self._laws:
                law.expect(self._last, x, time)
        self._last = x
