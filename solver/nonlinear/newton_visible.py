"""NEWTON-D until nothing is left that shows."""

from __future__ import annotations

from ..state import Vec
from .calm import given_up
from .interface import StageSolver
from .limits import StopRule, left
from .problem import StageProblem


class NewtonVisible(StageSolver):
    """A factorization in each iteration, until further ones would change no edge by more than a share of its length.

    What bends far and easily, as cloth does, leaves the place that any kept factor knows within a step: Quick gives up
    on most steps of cloth that hangs. Where surfaces touch a stage lands as Quick's do.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: edge_left, the share; iterations, after which a step is linearised instead."""
        self.limits = StopRule(0.0, int(params["iterations"]), 0.0, params["edge_left"])

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Near the root. Raises GaveUp; StepFailed where no step of Euler would do instead, as there is no inertia."""
        with given_up(problem):
            return self._solve(problem, guess)

    def _solve(self, problem: StageProblem, guess: Vec) -> Vec:
        at, last, whole = problem.evaluated(guess), 0.0, False
        for _ in range(self.limits.iterations):
            true = problem.factor(at.unknowns, whole)
            direction = problem.system.linear.solve(-at.residual)
            if not problem.moves(direction):
                return at.unknowns  # what is left is rounding
            strain = problem.strain(direction)
            at, share = problem.search(at, direction, strain)
            whole, moved = share == 1.0, share * strain
            # the true matrix leaves the square of what was moved, a projected one a share of it
            ahead = moved * moved if true else left(moved, last)
            if problem.stage.inertia:
                settled = min(moved, ahead) <= self.limits.strain_left and problem.is_balanced(at, direction)
            else:
                settled = ahead <= self.limits.strain_left  # what balances may go on for long, a little at a time
            if whole and settled:
                return at.unknowns
            last = moved if whole else 0.0
        raise self.limits.failure(problem, at)
