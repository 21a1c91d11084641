"""HYBRID-L1: quasi-Newton on an extrapolated factor, and Newton's method where that fails."""

from __future__ import annotations

from ..linear.interface import LinearSolver
from .extrapolated import ExtrapolatedFactor, extrapolation_notes
from .hybrid_frozen import HybridFrozen


class HybridExtrapolated(HybridFrozen):
    """Quasi-Newton on an extrapolated factor, then conjugate gradients preconditioned by it. [Thesis Alg. 5.3] [Thesis
    Alg. 5.4]"""

    factor = ExtrapolatedFactor

    def notes(self, linear: LinearSolver) -> list[str]:
        """Return a list with one sentence for the user where the linear solver's factor cannot be extrapolated, else
        none."""
        return extrapolation_notes(linear)
