"""NEWTON-L1: Newton's method with conjugate gradients preconditioned by an extrapolated factor."""

from __future__ import annotations

from ..linear.interface import LinearSolver
from .extrapolated import ExtrapolatedFactor, extrapolation_notes
from .newton_frozen import NewtonFrozen


class NewtonExtrapolated(NewtonFrozen):
    """Newton's method with a few conjugate gradient iterations a direction, on an extrapolated factor. [Thesis Alg.
    5.4]"""

    factor = ExtrapolatedFactor

    def notes(self, linear: LinearSolver) -> list[str]:
        """Return a list with one sentence for the user where the linear solver's factor cannot be extrapolated, else
        none."""
        return extrapolation_notes(linear)
