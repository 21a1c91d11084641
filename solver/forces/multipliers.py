"""Forces with Lagrange multipliers that outlast a step."""

from __future__ import annotations

from typing import Protocol

from ..state import Vec

MULTIPLIERS = "multipliers"  #: of all such forces of a part at the end of the last step [N], in a state's memory


class WithMultipliers(Protocol):
    """Links of ropes, twist, limits, welds that break, and constraints between points."""

    @property
    def remembers(self) -> int:
        """Return the number of multipliers."""

    def recall(self, multipliers: Vec | None) -> None:
        """From now on these were the multipliers at the end of the last step [N]; None: there was none."""

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return them at positions (n, 3) [m] and a time [s], (`remembers`,) [N]."""

    def expect(self, before: Vec, after: Vec, time: float) -> None:
        """Let the projected K take the multipliers at positions `after` by their values and slopes at `before`, both
        (n, 3) [m], until the next `recall`. time: [s].

        Links of ropes and constraints, which are stiff across their direction by their multipliers, need this: an
        iteration from nowhere near the root needs those that its linear step ends with. Those of the last step may be
        smaller by orders of magnitude, those of the positions that it comes to larger, since what moves sideways gets
        longer by the square of that. What keeps this default is not stiff across.
        """
        return None
