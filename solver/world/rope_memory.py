"""Tensions of ropes at the end of the last step, in the memory of a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..forces.ropes import TENSION, RopeLinks
from ..state import State, Vec


def recall(links: Sequence[RopeLinks], state: State) -> None:
    """Ropes pull from now on as they did at a state."""
    tension, first = state.memory.get(TENSION), 0
    for law in links:
        law.recall(None if tension is None else tension[first : first + len(law.nodes)])
        first += len(law.nodes)


def remembering(links: Sequence[RopeLinks], after: State, x: Vec) -> State:
    """A state with what ropes pull with at its positions x, (n, 3) [m]."""
    tension = np.concatenate([law.tension(x) for law in links])
    return replace(after, memory={**after.memory, TENSION: tension})
