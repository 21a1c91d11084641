"""HYBRID-L0: a frozen factor instead of the matrix, and Newton's method where that fails."""

from __future__ import annotations

from ..errors import StepFailed
from .limits import Progress
from .newton_frozen import NewtonFrozen
from .problem import Evaluation, StageProblem


class HybridFrozen(NewtonFrozen):
    """Quasi-Newton on the factor, then conjugate gradients with it. [Thesis Alg. 5.3] [Thesis Alg. 5.4]"""

    def _approach(self, problem: StageProblem, at: Evaluation, goal: float) -> tuple[Evaluation, int]:
        """As near as the factor alone brings, and the iterations it took."""
        progress = Progress(goal, self._factor.patience)
        for done in range(self.limits.iterations):
            try:
                at, _ = problem.search(at, self._factor.solve(-at.residual))
            except StepFailed:
                return at, done
            if at.size <= goal or progress.is_slow(at.size):
                return at, done + 1
        return at, self.limits.iterations
