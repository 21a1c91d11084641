"""QLB: L-BFGS that starts from a reused Cholesky factor instead of a multiple of the identity."""

from __future__ import annotations

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .interface import StageSolver
from .limits import Progress, StopRule
from .problem import Evaluation, StageProblem
from .reused_factor import ReusedFactor
from .stop_rules import ResidualStop


class SecantDirections(DescentDirections):
    """Directions of a reused factor, updated by secant pairs; the factor is renewed where convergence is slow."""

    def __init__(self, factor: ReusedFactor, pairs: SecantPairs, goal: float, first: Evaluation) -> None:
        """factor: renewed where convergence is slow. pairs: secant pairs on it. goal: residual to reach [N s]. first:
        evaluation at which the iterations start."""
        self._factor, self._pairs, self._goal = factor, pairs, goal
        self._progress = Progress(goal, factor.patience)
        self.best = first  #: the iterate with the smallest residual
        self.count = 0  #: iterations on the present factor in this stage

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction:
        """Return the next direction. Raises StepFailed where a new factor fails."""
        if last is not None:
            self.follow(last)
        return Direction(self._pairs.direction(at.residual, self._factor.solve))

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Renew the factor and return True. Raises `failure` where the failed direction was that of a new factor."""
        if self._progress.fresh and len(self._pairs) == 0:
            raise failure
        self._renew(problem, at)
        return True

    def follow(self, step: Step) -> None:
        """Add the secant pair of a step; renew the factor where convergence is slow. Raises StepFailed."""
        self._pairs.add(step.change, step.after.residual - step.before.residual)
        self.best = min(self.best, step.after, key=lambda at: at.size)
        self.count += 1
        if step.after.size > self._goal and self._progress.is_slow(step.after.size):
            self._renew(step.problem, step.after)

    def _renew(self, problem: StageProblem, at: Evaluation) -> None:
        self._factor.renew(problem, at.unknowns)
        self._pairs.clear(len(at.unknowns))
        self._progress.restart()
        self.count = 0


class QLB(StageSolver):
    """Stage solver with directions of a reused factor, updated by the secant pairs of the last steps. Both outlive the
    stage. [Witemeyer 2021]

    Where convergence is slow or no step is accepted, the factor is renewed at that point.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of `StopRule.of`; patience: iterations that a factorization costs; memory: number of secant
        pairs."""
        self.limits = StopRule.of(params)
        self._factor = ReusedFactor(params["patience"])
        self._pairs = SecantPairs(int(params["memory"]))

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the unknowns at the root, starting from a guess, both (3 p,) [m/s]. Raises StepFailed where the
        iteration does not converge."""
        at = problem.evaluate(guess)
        goal = self.limits.goal(problem, at)
        if at.size <= goal:
            return at.unknowns
        if self._factor.ready(problem, guess):
            self._pairs.clear(len(guess))
        directions = SecantDirections(self._factor, self._pairs, goal, at)
        end = descend(problem, at, directions, ResidualStop(goal), self.limits.iterations)
        if end.last is not None:
            directions.follow(end.last)
        if not end.has_converged:
            raise self.limits.failure(problem, directions.best)  # iterates wander where only rounding is left
        self._factor.note_iterations(directions.count)
        return end.at.unknowns

    def forget_past(self) -> None:
        """Discard the factor and the secant pairs."""
        self._factor.forget()
        self._pairs.clear(0)
