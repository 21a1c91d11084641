"""Forces with Lagrange multipliers that persist from step to step."""

from __future__ import annotations

from typing import Protocol

from ..state import Vec

MULTIPLIERS = "multipliers"  #: key in a state's memory: of all such forces of a part at the end of the last step [N]


class WithMultipliers(Protocol):
    """Protocol of a force with multipliers: links of ropes, twist, limits, welds that break, constraints between
    points."""

    @property
    def remembers(self) -> int:
        """Return the number of multipliers."""

    def recall(self, multipliers: Vec | None) -> None:
        """Set the multipliers to those at the end of the last step, (`remembers`,) [N]; None before the first step."""

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return the multipliers at positions x (n, 3) [m] and a time [s], (`remembers`,) [N]."""

    def expect(self, before: Vec, after: Vec, time: float) -> None:
        """Let the projected K use, until the next `recall`, multipliers at `after` that are linearised at `before`.

        before, after: positions (n, 3) [m]. time: [s]. Only links of ropes and constraints, whose lateral stiffness is
        proportional to their multipliers, override this default, which does nothing. Far from the root an iteration
        needs the multipliers with which its linear step ends: those of the last step may be smaller by orders of
        magnitude, and those at the new positions larger, since lateral motion lengthens a link by its square.
        """
        return None
