"""QLB: L-BFGS that starts from a reused Cholesky factor instead of a multiple of the identity."""

from __future__ import annotations

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .interface import StageSolver
from .limits import Progress, StopRule
from .problem import StageProblem
from .reused_factor import ReusedFactor


class QLB(StageSolver):
    """Directions of the factor, updated by the secant pairs of the last steps. Both outlive the stage. [Witemeyer 2021]

    Where convergence is slow or no step is accepted, the factor is renewed at that point.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of StopRule; patience: iterations that a factorization costs; memory: number of secant pairs.
        """
        self.limits = StopRule.of(params)
        self._factor = ReusedFactor(params["patience"])
        self._pairs = SecantPairs(int(params["memory"]))

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the root. Raises StepFailed."""
        at = problem.evaluate(guess)
        goal = self.limits.goal(problem, at)
        if at.size <= goal:
            return at.unknowns
        if self._factor.ready(problem, guess):
            self._pairs.clear(len(guess))
        progress, best = Progress(goal, self._factor.patience), at
        for _ in range(self.limits.iterations):
            direction = self._pairs.direction(at.residual, self._factor.solve)
            try:
                after, _ = problem.search(at, direction)
            except StepFailed:
                if progress.fresh and len(self._pairs) == 0:
                    raise
                self._renew(problem, at.unknowns, progress)
                continue
            self._pairs.add(after.unknowns - at.unknowns, after.residual - at.residual)
            at, best = after, min(best, after, key=lambda one: one.size)
            if at.size <= goal:
                self._factor.spent(progress.count + 1)
                return at.unknowns
            if progress.is_slow(at.size):
                self._renew(problem, at.unknowns, progress)
        raise self.limits.failure(problem, best)  # iterates wander where only rounding is left

    def _renew(self, problem: StageProblem, unknowns: Vec, progress: Progress) -> None:
        self._factor.renew(problem, unknowns)
        self._pairs.clear(len(unknowns))
        progress.restart()

    def forget_past(self) -> None:
        """Discard the factor and the secant pairs."""
        self._factor.forget()
        self._pairs.clear(0)
