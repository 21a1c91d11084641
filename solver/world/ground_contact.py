"""Tests of nodes' contact with the ground: whether it persists over a step, and whether it is an impact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..contact.laws.ground_penalty import GroundPenalty
from ..state import Index, Vec

GENTLE_SPEED = 0.05  #: relative to the speed that weight adds in a step: a slower contact with the ground is resting


def persists(law: GroundPenalty, x: Vec, v: Vec, time: float, before: Index, now: Index, forced: Sequence[Index],
             fall: float, h: float) -> bool:
    """Return whether contacts changed only at nodes of a resting or sliding body.

    Changed nodes have a normal speed of at most `fall`, the speed that weight adds in a step of h seconds [m/s], and no
    node of a spring is among them. x, v: of all nodes, (n, 3) [m], [m/s]. before, now: nodes in contact, (k,). forced:
    nodes of each spring.
    """
    changed = np.setxor1d(before, now)
    if not len(np.intersect1d(before, now)) or any(len(np.intersect1d(changed, nodes)) for nodes in forced):
        return False
    speed = law.plane.rising(v[changed], time)
    gentle = (np.abs(speed) <= fall) & (np.abs(law.gaps(changed, x, time)) <= h * fall)
    return bool(gentle.all())


def is_hit(law: GroundPenalty, ends: Iterable[tuple[Vec, Vec, float]], fall: float) -> bool:
    """Return whether nodes touch the ground with a normal speed above `GENTLE_SPEED` times `fall`.

    ends: positions, (n, 3) [m], velocities, (n, 3) [m/s], and times [s]. fall: speed that weight adds in a step [m/s].
    """
    for x, v, time in ends:
        speed = law.plane.rising(v[law.find(x, time).nodes], time)
        if np.abs(speed).max(initial=0.0) > GENTLE_SPEED * fall:
            return True
    return False
