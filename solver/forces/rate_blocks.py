"""Forces, inertia, damping and stiffness on joint rates that belong to no body and no node.

Examples are the rotor of a motor, or a belt between two hinges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..state import Index, Vec


@dataclass(frozen=True)
class RateBlocks:
    """Force and matrices of one law on k rates, as dense blocks; None for a block that the law does not have."""

    force: Vec  #: f on the rates without D u [N m, N], (k,)
    mass: Vec | None = None  #: M in addition to that of the bodies, symmetric and constant, (k, k)
    damping: Vec | None = None  #: D = ∂f/∂u, symmetric, negative semi-definite, (k, k)
    stiffness: Vec | None = None  #: K = ∂f/∂q, symmetric, negative semi-definite, (k, k)
    energy: float = 0.0  #: whose negative gradient is f [J]


class RateLaw(Protocol):
    """Protocol of a law on rates of hinges and sliders. Entries of the family "rate_law"."""

    def __init__(self, rates: Sequence[Index], params: Mapping[str, float]) -> None:
        """rates: indices of each joint's rates among those of the law, in the order of the scene."""

    def blocks(self, q: Vec, u: Vec, time: float) -> RateBlocks:
        """Return the blocks of joints with coordinates `q` [rad, m] and rates u [rad/s, m/s], both (k,), at `time`
        [s]."""
