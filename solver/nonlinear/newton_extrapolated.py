"""NEWTON-L1: Newton's method with conjugate gradients preconditioned by an extrapolated factor."""

from __future__ import annotations

from ..linear.interface import LinearSolver
from .extrapolated import ExtrapolatedFactor, extrapolation_notes
from .newton_frozen import NewtonFrozen


class NewtonExtrapolated(NewtonFrozen):
    """A few conjugate gradients for each direction, on a factor that follows the motion. [Thesis Alg. 5.4]"""

    factor = ExtrapolatedFactor

    def notes(self, linear: LinearSolver) -> list[str]:
        """Says where the factor cannot follow."""
        return extrapolation_notes(linear)
