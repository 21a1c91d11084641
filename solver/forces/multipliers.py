"""Forces with Lagrange multipliers that outlast a step."""

from __future__ import annotations

from typing import Protocol

from ..state import Vec

MULTIPLIERS = "multipliers"  #: of all such forces of a part at the end of the last step [N], in a state's memory


class WithMultipliers(Protocol):
    """Links of ropes, and constraints between points."""

    @property
    def remembers(self) -> int:
        """Return the number of multipliers."""

    def recall(self, multipliers: Vec | None) -> None:
        """From now on these were the multipliers at the end of the last step [N]; None: there was none."""

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return them at positions (n, 3) [m] and a time [s], (`remembers`,) [N]."""
