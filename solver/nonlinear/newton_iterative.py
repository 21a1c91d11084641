"""NEWTON-I: Newton's method with conjugate gradients, without any factor."""

from __future__ import annotations

from ..state import Vec
from .block_jacobi import BlockJacobi
from .inexact import InexactNewton
from .interface import StageSolver
from .limits import StopRule
from .problem import StageProblem


class NewtonIterative(StageSolver):
    """Newton's method with conjugate gradients, preconditioned by the inverse 3 x 3 blocks on the diagonal.
    [Thesis 5.5.1]"""

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of `StopRule.of` and InexactNewton."""
        self.limits = StopRule.of(params)
        self._newton = InexactNewton(self.limits, params)
        self._blocks = BlockJacobi()

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the unknowns at the root, starting from a guess, both (3 p,) [m/s]. Raises StepFailed where the
        iteration does not converge."""
        at = problem.evaluate(guess)
        return self._newton.solve(problem, at, self.limits.goal(problem, at), self._blocks.of)[0].unknowns
