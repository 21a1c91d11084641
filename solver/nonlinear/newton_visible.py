"""NEWTON-D with early stopping."""

from __future__ import annotations

from ..state import Vec
from .fallback_euler import raises_not_converged
from .interface import StageSolver
from .limits import StopRule, remaining
from .problem import StageProblem


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
        at, last, whole = problem.evaluated(guess), 0.0, False
        for _ in range(self.limits.iterations):
            true = problem.factor(at.unknowns, whole)
            direction = problem.system.linear.solve(-at.residual)
            if not problem.moves(direction):
                return at.unknowns  # only rounding is left
            strain = problem.strain(direction)
            at, fraction = problem.search(at, direction, strain)
            whole, moved = fraction == 1.0, fraction * strain
            # the true matrix squares the change, a projected one leaves a fraction of it
            remaining_strain = moved * moved if true else remaining(moved, last)
            if problem.stage.inertia:
                settled = min(moved, remaining_strain) <= self.limits.strain_left and problem.has_converged_energy(at,
                                                                                                                   direction)
            else:
                # quasistatic positions may converge slowly in small steps
                settled = remaining_strain <= self.limits.strain_left
            if whole and settled:
                return at.unknowns
            last = moved if whole else 0.0
        raise self.limits.failure(problem, at)
