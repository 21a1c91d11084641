"""HYBRID-L0: quasi-Newton on a frozen factor, and Newton's method where that fails."""

from __future__ import annotations

from ..errors import StepFailed
from .limits import Progress
from .newton_frozen import NewtonFrozen
from .problem import Evaluation, StageProblem


class HybridFrozen(NewtonFrozen):
    """Quasi-Newton on the frozen factor, then conjugate gradients preconditioned by it. [Thesis Alg. 5.3] [Thesis Alg.
    5.4]"""

    def _approach(self, problem: StageProblem, at: Evaluation, goal: float) -> tuple[Evaluation, int]:
        """Return the iterate after quasi-Newton steps on the factor alone, and how many these were."""
        progress = Progress(goal, self._factor.patience)
        for done in range(self.limits.iterations):
            try:
                at, _ = problem.search(at, self._factor.solve(-at.residual))
            except StepFailed:
                return at, done
            if at.size <= goal or progress.is_slow(at.size):
                return at, done + 1
        return at, self.limits.iterations
