"""NEWTON-L1: Newton's method with conjugate gradients preconditioned by an extrapolated factor."""

from __future__ import annotations

from ..linear.interface import LinearSolver
from .extrapolated import ExtrapolatedFactor, extrapolation_notes
from .newton_frozen import NewtonFrozen


class NewtonExtrapolated(NewtonFrozen):
    """A few conjugate gradient iterations for each direction, preconditioned by an extrapolated factor. [Thesis Alg.
    5.4]"""

    factor = ExtrapolatedFactor

    def notes(self, linear: LinearSolver) -> list[str]:
        """Return a sentence where the factor cannot be extrapolated."""
        return extrapolation_notes(linear)
