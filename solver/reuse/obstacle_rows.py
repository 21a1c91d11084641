"""Rows of obstacle nodes in the memory of parts, adapted to added, removed or changed obstacles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..state import State, Vec
from ..world.node_memory import reorder_memory

Counts = Mapping[str, int]  #: nodes of each obstacle by name, in their order


class ObstacleRows:
    """Rows of obstacle nodes in arrays of memory: their number in the earlier bake and in the present job."""

    def __init__(self, then: Counts, now: Counts, changed: frozenset[str]) -> None:
        """then, now: numbers of nodes in the earlier bake and in the job.

        changed: names of added, removed or changed obstacles, which touch none of the reused bodies.
        """
        self._then, self._now, self._changed = then, now, changed

    @property
    def are_alike(self) -> bool:
        """Return whether the obstacles have equal numbers of nodes, in order, in the earlier bake and in the job."""
        return [*self._then.values()] == [*self._now.values()]

    def now(self, state: State, parts: Sequence[int]) -> State:
        """Return a state of the earlier bake with rows for the present obstacles.

        parts: numbers of the parts of its world that touch obstacles. Rows of changed obstacles are zero.
        """
        memory = dict(state.memory)
        for prefix in (f"{part}/" for part in parts):
            own = {key.removeprefix(prefix): value for key, value in state.memory.items() if key.startswith(prefix)}
            memory |= {prefix + key: value for key, value in reorder_memory(own, self._rows).items()}
        return replace(state, memory=memory)

    def _rows(self, then: Vec) -> Vec:
        """Return rows of a table (n, …) of the earlier bake in the order of this one; zero for obstacles that changed.
        """
        leading = len(then) - sum(self._then.values())
        ends = np.cumsum([leading, *self._then.values()]).tolist()
        own = {name: then[first:last] for name, first, last in zip(self._then, ends, ends[1:])}
        of_none = np.zeros((0, *then.shape[1:]))
        tables = [of_none if name in self._changed else own[name] for name in self._now]
        rows = [table if len(table) == count else np.zeros((count, *then.shape[1:]))
                for table, count in zip(tables, self._now.values())]
        return np.concatenate([then[:leading], *rows])
