"""Memory of a mechanism's last linearised step: its length, and the twists with which bodies left it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...state import Vec

STEP = "joints.h"  #: key of the memory: length of the last linearised step [s], (1,)
#: key of the memory: twists with which bodies left where the last linearised step was solved, (n, 6), ω in the bodies'
#: frames and the centres' velocities in world; only where coordinates were moved by other means than rates since then
LAST_TWIST = "joints.last_twist"


def find_time_since_last(memory: Mapping[str, Vec], h: float) -> float:
    """Return the duration [s] since the last linearised step was solved, whose rates led to the present coordinates; h
    where there was none."""
    last = memory.get(STEP)
    return h if last is None else float(last[0])


def record_step(memory: Mapping[str, Vec], h: float, prefix: str = "") -> Mapping[str, Vec]:
    """Return the memory after a linearised step of h seconds. prefix: of keys of the mechanism within a memory that
    other parts share."""
    key = prefix + STEP
    last = memory.get(key)
    return memory if last is not None and last[0] == h else {**memory, key: np.array([h])}
