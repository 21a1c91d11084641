"""Layout of the parts' coordinates, rates and memory in the one State of a world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import BadInput
from ..state import State, Vec


def of_another_version() -> BadInput:
    """Return the error for a snapshot of a version with another layout of the memory."""
    return BadInput("the snapshot was written by a version of ConJac that kept what parts remember elsewhere",
                    "Free the cache and bake again")


class Layout:
    """Mapping between the states of parts and the one State of a world.

    Coordinates and rates of the parts are concatenated; their memory has keys `k/key`, with k the part's index. Keys
    without an index belong to no part, such as those of the step size controller.
    """

    def __init__(self, unknowns: Sequence[int]) -> None:
        """unknowns: number of coordinates of each part."""
        ends = np.cumsum([0, *unknowns]).tolist()
        self._where = [slice(first, end) for first, end in zip(ends, ends[1:])]
        self._numbers = {str(k): k for k in range(len(self._where))}

    def split_state(self, state: State) -> list[State]:
        """Return the state of each part. Raises BadInput where the memory has keys of other parts."""
        memories: list[dict[str, Vec]] = [{} for _ in self._where]
        for key, value in state.memory.items():
            number, separator, own = key.partition("/")
            if separator:
                if number not in self._numbers or "/" in own:
                    raise of_another_version()
                memories[self._numbers[number]][own] = value
        return [State(state.time, state.q[where], state.u[where], memory)
                for where, memory in zip(self._where, memories)]

    def check(self, state: State) -> None:
        """Check a state. Raises ValueError where its number of coordinates or rates differs from that of the parts."""
        count = self._where[-1].stop if self._where else 0
        for what, values in (("coordinates", state.q), ("rates", state.u)):
            if len(values) != count:
                raise ValueError(f"it has {len(values)} {what}, and the simulation has {count}")

    def merge_states(self, states: Sequence[State], before: State | None = None) -> State:
        """Return the state of the world from the state of each part. before: has memory that belongs to no part."""
        memory = {} if before is None else {key: value for key, value in before.memory.items() if "/" not in key}
        for k, state in enumerate(states):
            memory |= {f"{k}/{key}": value for key, value in state.memory.items()}
        return State(states[0].time, np.concatenate([state.q for state in states]),
                     np.concatenate([state.u for state in states]), memory)
