"""HYBRID-L0: quasi-Newton on a frozen factor, and Newton's method where that fails."""

from __future__ import annotations

from ..errors import StepFailed
from .descent import DescentDirections, Direction, Step, Stop, descend
from .limits import Progress
from .newton_frozen import NewtonFrozen
from .problem import Evaluation, StageProblem
from .reused_factor import ReusedFactor


class FrozenDirections(DescentDirections):
    """Quasi-Newton directions of a factor that is never renewed."""

    def __init__(self, factor: ReusedFactor) -> None:
        self._factor = factor
        self.count = 0  #: accepted iterations

    def find(self, problem: StageProblem, at: Evaluation) -> Direction:
        """Return the factor's direction."""
        return Direction(self._factor.solve(-at.residual))

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return False, as there is no other direction after a search that failed: the stage does not converge."""
        return False

    def follow(self, step: Step) -> None:
        """Count the iteration."""
        self.count += 1


class SlowStop(Stop):
    """Ends where the residual is below a goal [N s], or would need more iterations than a new factor costs."""

    def __init__(self, goal: float, patience: float) -> None:
        """patience: iterations that a new factor costs."""
        self._goal, self._progress = goal, Progress(goal, patience)

    def is_done(self, step: Step) -> bool:
        """Whether the residual is small enough or decreases too slowly."""
        return step.after.size <= self._goal or self._progress.is_slow(step.after.size)


class HybridFrozen(NewtonFrozen):
    """Quasi-Newton on the frozen factor, then conjugate gradients preconditioned by it. [Thesis Alg. 5.3] [Thesis Alg.
    5.4]"""

    def _approach(self, problem: StageProblem, at: Evaluation, goal: float) -> tuple[Evaluation, int]:
        """Return the iterate after quasi-Newton steps on the factor alone, and how many these were."""
        directions = FrozenDirections(self._factor)
        end = descend(problem, at, directions, SlowStop(goal, self._factor.patience), self.limits.iterations)
        return end.at, directions.count
