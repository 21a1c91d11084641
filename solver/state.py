"""State of a simulation, which a snapshot saves whole. SI units, float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vec = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class CarrierMotion:
    """Motion of the points that a part's nodes are attached to."""

    positions: Vec  #: [m], (a, 3)
    velocities: Vec  #: [m/s], (a, 3)


@dataclass(frozen=True)
class State:
    """Everything that the next step depends on, and nothing else. Arrays are never written to in place."""

    time: float  #: seconds since the start frame
    q: Vec  #: coordinates, (m_q,): node positions [m], node-major
    u: Vec  #: their rates, (m,): the *full* velocity of the last step [m/s]
    memory: Mapping[str, Vec] = field(default_factory=dict)  #: histories, multipliers; each owner declares its keys
    #: in a part's own state, where its nodes are attached to a carrier; in no snapshot
    carrier_motion: CarrierMotion | None = None
    #: stage of joints with this solution, while its step is not finished; in no snapshot
    tree_stage: Any = field(default=None, compare=False, repr=False)
    #: impulses of a cloth on bodies in contact or attached, in the step that returned this state; in no snapshot
    reaction: Any = field(default=None, compare=False, repr=False)
