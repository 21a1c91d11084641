"""Names of the objects that block prescribed motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..contact.laws.interface import ContactLaw
from ..state import Vec
from .bodies import BodyInWorld, ObstacleInWorld


def blocked_at(bodies: Sequence[BodyInWorld], obstacles: Sequence[ObstacleInWorld], contacts: Sequence[ContactLaw],
               node: int, x: Vec) -> tuple[str, str]:
    """Return what a prescribed node belongs to, and what touches that nearest to the node at x, (n, 3) [m], or touches
    the body that it is a pin of; each an empty string where that has no name.

    An obstacle that pushes a body is before what is pinned of it, and what the body leans on is before the obstacle.
    """
    things = [*((f'the pin of "{one.name}"', f'"{one.name}"', one.nodes) for one in bodies),
              *((f'"{one.name}"', f'"{one.name}"', one.nodes) for one in obstacles)]
    owner = np.full(len(x), -1)
    for k, (_, _, nodes) in enumerate(things):
        owner[nodes] = k
    mine = int(owner[node])
    if mine < 0:
        return "", ""
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int32), *(law.node_pairs_within(x, 1.0) for law in contacts)])
    sides = owner[pairs]
    both = np.concatenate([np.column_stack([sides, pairs]), np.column_stack([sides[:, ::-1], pairs[:, ::-1]])])
    against = both[(both[:, 0] == mine) & (both[:, 1] >= 0) & (both[:, 1] != mine)]
    if not len(against):
        return things[mine][0], ""
    away = np.linalg.norm(x[against[:, 2]] - x[node], axis=1)
    return things[mine][0], things[int(against[int(away.argmin()), 1])][1]
