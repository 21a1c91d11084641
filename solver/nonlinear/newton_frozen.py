"""NEWTON-L0: Newton's method with conjugate gradients preconditioned by a frozen factor."""

from __future__ import annotations

from ..state import Vec
from .inexact import InexactNewton
from .interface import StageSolver
from .limits import StopRule
from .problem import Evaluation, StageProblem
from .reused_factor import ReusedFactor


class NewtonFrozen(StageSolver):
    """Newton's method with a few conjugate gradient iterations a direction, as the factor is nearly exact. [Thesis
    Alg. 5.4]"""

    factor: type[ReusedFactor] = ReusedFactor

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of `StopRule.of` and InexactNewton; patience: iterations that a factorization costs."""
        self.limits = StopRule.of(params)
        self._newton = InexactNewton(self.limits, params)
        self._factor = self.factor(params["patience"])

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the unknowns at the root, starting from a guess, both (3 p,) [m/s]. Raises StepFailed where the
        iteration does not converge."""
        at = problem.evaluate(guess)
        goal = self.limits.goal(problem, at)
        if at.size <= goal:
            return at.unknowns
        self._factor.ready(problem, guess)
        at, spent = self._approach(problem, at, goal)
        at, inner = self._newton.solve(problem, at, goal, lambda _: self._factor.solve, self._factor)
        self._factor.note_iterations(spent + inner)
        return at.unknowns

    def _approach(self, problem: StageProblem, at: Evaluation, goal: float) -> tuple[Evaluation, int]:
        """Return the start of Newton's method, and the number of iterations on the factor alone that led to it."""
        return at, 0

    def forget_past(self) -> None:
        """Discard the factor."""
        self._factor.forget()
