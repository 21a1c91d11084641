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
