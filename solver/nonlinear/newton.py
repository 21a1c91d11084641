"""NEWTON-D: Newton's method with a direct solve in each iteration."""

from __future__ import annotations

from ..state import Vec
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .interface import StageSolver
from .limits import StopRule
from .problem import Evaluation, StageProblem
from .stop_rules import ResidualStop


class FactoredDirections(DescentDirections):
    """Newton directions with a new factor each: the projected matrix far from the root, the true one after a full step,
    from where it converges in a few iterations."""

    slow = 0.5  #: ratio of successive residuals above which projected stiffness has stalled
    blends = (0.0625, 0.25)  #: fractions of projected stiffness, added to the true one, that are tried after that

    def __init__(self, ends_early: bool) -> None:
        """ends_early: whether the stop rule is one of strain: directions below rounding then end the stage with any
        matrix, and projected stiffness that has stalled is not blended with the true one."""
        self._ends_early = ends_early

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction | None:
        """Return the direction of the matrix at an iterate; None where only rounding is left. Raises StepFailed where
        the matrix cannot be factored."""
        is_true = problem.factors.factor(problem, at.unknowns, last is not None and last.is_full,
                                         blends=self.blends if self._has_stalled(last) else ())
        vector = problem.system.linear.solve(-at.residual)
        if (is_true or self._ends_early) and not problem.moves(vector):
            return None
        return Direction(vector, problem.strain(vector) if self._ends_early else None, is_true)

    def _has_stalled(self, last: Step | None) -> bool:
        """Whether the residual hardly decreased with projected stiffness, which is far too stiff on the descent from a
        saddle, as where a contact slips off an edge."""
        if last is None or self._ends_early or last.direction.is_true:
            return False
        return last.after.size > self.slow * last.before.size


class NewtonDirect(StageSolver):
    """Newton's method with a factor in each iteration: of the projected matrix far from the root, the true one near it.
    [Thesis 5.4]"""

    def __init__(self, params: dict[str, float]) -> None:
        """params: tolerance, iterations, force_scale and patience, as for `StopRule.of`."""
        self.limits = StopRule.of(params)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the unknowns at the root, starting from a guess, both (3 p,) [m/s]. Raises StepFailed where the
        iteration does not converge."""
        at = problem.evaluate(guess)
        goal = self.limits.goal(problem, at)
        if at.size <= goal:
            return at.unknowns
        end = descend(problem, at, FactoredDirections(ends_early=False), ResidualStop(goal), self.limits.iterations)
        if not end.has_converged:
            raise self.limits.failure(problem, end.at)
        return end.at.unknowns
