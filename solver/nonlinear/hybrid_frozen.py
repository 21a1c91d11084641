"""HYBRID-L0: a frozen factor instead of the matrix, and Newton's method where that fails."""

from __future__ import annotations

from ..errors import StepFailed
from ..linear.interface import LinearSolver
from ..state import Vec
from .inexact import InexactNewton
from .kept_factor import KeptFactor
from .limits import Limits, Progress
from .problem import Evaluation, StageProblem


class HybridFrozen:
    """Quasi-Newton on the factor, then conjugate gradients with it. [Thesis Alg. 5.3] [Thesis Alg. 5.4]"""

    factor: type[KeptFactor] = KeptFactor

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of Limits and InexactNewton; patience: iterations that a factorization costs."""
        self.limits = Limits.of(params)
        self._newton = InexactNewton(self.limits, params)
        self._factor = self.factor(params["patience"])

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """The root. Raises StepFailed."""
        at = problem.evaluate(guess)
        goal = self.limits.goal(problem, at)
        if at.size <= goal:
            return at.unknowns
        self._factor.ready(problem, guess)
        at, spent = self._quasi(problem, at, goal)
        at, inner = self._newton.solve(problem, at, goal, lambda _: self._factor.solve)
        self._factor.spent(spent + inner)
        return at.unknowns

    def _quasi(self, problem: StageProblem, at: Evaluation, goal: float) -> tuple[Evaluation, int]:
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

    def notes(self, linear: LinearSolver) -> list[str]:
        """None: any linear solver will do."""
        return []

    def forget_past(self) -> None:
        """Drop the factor."""
        self._factor.forget()
