"""NEWTON-D with early stopping."""

from __future__ import annotations

from ..state import Vec
from .descent import Step, Stop, descend
from .fallback_euler import raises_not_converged
from .interface import StageSolver
from .limits import StopRule, remaining
from .newton import FactoredDirections
from .problem import StageProblem


class VisibleStop(Stop):
    """Ends after a full step where neither the remaining strain nor the remaining energy is visible."""

    def __init__(self, strain_left: float) -> None:
        """strain_left: admissible relative change of an edge."""
        self._strain_left, self._last = strain_left, 0.0

    def is_done(self, step: Step) -> bool:
        """Whether the remaining change is small enough."""
        moved, problem = step.moved, step.problem
        # the true matrix squares the change, a projected one leaves a fraction of it
        left = moved * moved if step.direction.is_true else remaining(moved, self._last)
        if problem.stage.inertia:
            settled = (min(moved, left) <= self._strain_left
                       and problem.relative_energy_left(step.after, step.direction.vector) <= 1.0)
        else:
            # quasistatic positions may converge slowly in small steps
            settled = left <= self._strain_left
        self._last = moved if step.is_full else 0.0
        return step.is_full and settled


class NewtonVisible(StageSolver):
    """Factors in each iteration until further ones would change no edge by more than a fraction of its length.

    Easily bent bodies such as cloth leave the region of any reused factor within a step: Quick does not converge in
    most steps of hanging cloth. Contact is solved by `contact_newton`, as for Quick.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: edge_left, that fraction; iterations, after which a linearised step replaces the stage."""
        self.limits = StopRule(0.0, int(params["iterations"]), 0.0, params["edge_left"])

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return unknowns near the root. Raises StageNotConverged; StepFailed for a stage without inertia."""
        with raises_not_converged(problem):
            return self._solve(problem, guess)

    def _solve(self, problem: StageProblem, guess: Vec) -> Vec:
        stop = VisibleStop(self.limits.strain_left)
        end = descend(problem, problem.evaluated(guess), FactoredDirections(ends_early=True), stop,
                      self.limits.iterations)
        if not end.has_converged:
            raise self.limits.failure(problem, end.at)
        return end.at.unknowns
