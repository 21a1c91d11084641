"""NEWTON-D with early stopping: a stage ends where the remaining strain is not visible."""

from __future__ import annotations

from ..state import Vec
from .descent import descend
from .fallback_euler import raises_not_converged
from .interface import StageSolver
from .limits import StopRule
from .newton import FactoredDirections
from .problem import StageProblem
from .stop_rules import VisibleStop


class NewtonVisible(StageSolver):
    """Newton's method with a factor in each iteration, until further ones would change no edge by more than a fraction
    of its length.

    Easily bent bodies such as cloth leave the region of any reused factor within a step: Quick does not converge in
    most steps of hanging cloth. Contact is solved by `contact_newton`, as for Quick.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: edge_left, the admissible relative change of an edge; iterations, after which a linearised step
        replaces the stage."""
        self.limits = StopRule(0.0, int(params["iterations"]), 0.0, params["edge_left"])

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return unknowns near the root, starting from a guess, both (3 p,) [m/s]. Raises StageNotConverged where a
        stage with inertia fails, StepFailed where one without inertia does."""
        with raises_not_converged(problem):
            return self._solve(problem, guess)

    def _solve(self, problem: StageProblem, guess: Vec) -> Vec:
        stop = VisibleStop(self.limits.strain_left)
        end = descend(problem, problem.evaluate_once(guess), FactoredDirections(ends_early=True), stop,
                      self.limits.iterations)
        if not end.has_converged:
            raise self.limits.failure(problem, end.at)
        return end.at.unknowns
