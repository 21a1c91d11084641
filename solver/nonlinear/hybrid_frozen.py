"""HYBRID-L0: quasi-Newton on a frozen factor, and Newton's method where that fails."""

from __future__ import annotations

from ..errors import StepFailed
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .newton_frozen import NewtonFrozen
from .problem import Evaluation, StageProblem
from .reused_factor import ReusedFactor
from .stop_rules import SlowStop


class FrozenDirections(DescentDirections):
    """Quasi-Newton directions of a factor that is never renewed."""

    def __init__(self, factor: ReusedFactor) -> None:
        self._factor = factor

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction:
        """Return the direction of the frozen factor for the residual of an evaluation."""
        return Direction(self._factor.solve(-at.residual))

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return False, as there is no other direction after a search that failed: the stage does not converge."""
        return False


class HybridFrozen(NewtonFrozen):
    """Quasi-Newton on the frozen factor, then conjugate gradients preconditioned by it. [Thesis Alg. 5.3] [Thesis Alg.
    5.4]"""

    def _approach(self, problem: StageProblem, at: Evaluation, goal: float) -> tuple[Evaluation, int]:
        """Return the iterate after quasi-Newton steps on the factor alone, and how many these were."""
        stop = SlowStop(goal, self._factor.patience)
        end = descend(problem, at, FrozenDirections(self._factor), stop, self.limits.iterations)
        return end.at, end.accepted
