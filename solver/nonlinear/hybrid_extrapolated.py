"""HYBRID-L1: an extrapolated factor instead of the matrix, and Newton's method where that fails."""

from __future__ import annotations

from ..linear.interface import LinearSolver
from .extrapolated import ExtrapolatedFactor, extrapolation_notes
from .hybrid_frozen import HybridFrozen


class HybridExtrapolated(HybridFrozen):
    """Quasi-Newton on a factor that follows the motion, then CG with it. [Thesis Alg. 5.3] [Thesis Alg. 5.4]"""

    factor = ExtrapolatedFactor

    def notes(self, linear: LinearSolver) -> list[str]:
        """Says where the factor cannot follow."""
        return extrapolation_notes(linear)
