"""Forces with Lagrange multipliers that outlast a step."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

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


@runtime_checkable
class StiffensAcross(Protocol):
    """Links of ropes and constraints that are stiff across their direction, by their multipliers.

    An iteration from nowhere near the root needs the multipliers that its linear step ends with, as methods with
    Lagrange multipliers have them: those of the last step may be smaller by orders of magnitude, those of the positions
    that it comes to larger, since what moves sideways gets longer by the square of that.
    """

    def expect(self, before: Vec, after: Vec, time: float) -> None:
        """Let the projected K take the multipliers at positions `after` by their values and slopes at `before`, both
        (n, 3) [m], until the next `recall`. time: [s]."""
