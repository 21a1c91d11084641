"""Multipliers of ropes and constraints at the end of a step, stored in the memory of a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..forces.multipliers import MULTIPLIERS, WithMultipliers
from ..state import State, Vec


def recall(laws: Sequence[WithMultipliers], state: State) -> None:
    """Set the multipliers of force laws to those in the memory of a state; None where it has none."""
    all_of_them, first = state.memory.get(MULTIPLIERS), 0
    for law in laws:
        law.recall(None if all_of_them is None else all_of_them[first : first + law.remembers])
        first += law.remembers


def remembering(laws: Sequence[WithMultipliers], after: State, x: Vec) -> State:
    """Return a state whose memory has the multipliers of force laws at its positions x, (n, 3) [m]."""
    multipliers = np.concatenate([law.multipliers(x, after.time) for law in laws])
    return replace(after, memory={**after.memory, MULTIPLIERS: multipliers})


class Iterates:
    """Iterates of a stage, from which force laws predict their multipliers at the next iterate."""

    def __init__(self, laws: Sequence[WithMultipliers]) -> None:
        self._laws = laws
        self._last: Vec | None = None

    def follow(self, x: Vec, time: float) -> None:
        """Advance to positions x, (n, 3) [m], where laws predict their multipliers. time: of the stage's end [s]."""
        if self._last is not None and not np.array_equal(self._last, x):
            for law in self._laws:
                law.expect(self._last, x, time)
        self._last = x
