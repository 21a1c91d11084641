"""Directions and stop rule of a stage whose surfaces are in contact."""

from __future__ import annotations

import numpy as np

from ..errors import StepFailed
from ..iteration.protocol import Exhausted, Stop
from ..state import Vec
from .descent_protocol import DescentDirections, Direction, Step
from .fallback_euler import StageNotConverged
from .limits import remaining
from .problem import Evaluation, StageProblem

CLEARANCE_REMEDY = "Leave more room there, animate it more slowly, or use shorter steps"
LARGEST_GROWTH = 2.0  #: relative to the last step: a reused factor with a longer direction is replaced


class ContactIterations(DescentDirections, Stop[Step]):
    """Directions and stop rule of a stage in contact, which depends on the accuracy of the present factor."""

    max_factorizations = 30  #: largest number of factors of a stage, with the iterations that find an impact's pairs
    reused_factor_margin = 1.0e3  #: factor by which the remaining energy must be smaller on a reused factor
    slow = 0.5  #: ratio of successive steps above which another factor of projected stiffness would converge as slowly
    reuse_limit = 8  #: most iterations on one factor where convergence is slow
    #: root mean square relative change of a body's edges that is not visible: a few nodes come to rest long after the
    #: others
    usual = 0.003
    #: relative to a negligible decrease of energy along the last direction: up to it the next one is solved for
    worth_a_solve = 8.0

    def __init__(self, strain_left: float, accepts: bool, by_strain: bool) -> None:
        """strain_left: admissible relative change of an edge by further iterations. accepts: whether a stage that has
        not converged is accepted. by_strain: whether strain alone decides convergence."""
        self._strain_left, self._accepts, self._by_strain = strain_left, accepts, by_strain
        self._factors = self._uses = self._count = 0  #: factors; iterations on the last one, and in all
        self.last = 0.0  #: strain of the last full step
        self._is_slow = self._is_fresh = False
        self.vector: Vec = np.zeros(0)  #: the last direction

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction:
        """Return the next direction of descent. Raises Exhausted after too many factors, and where a factorization
        fails at an iterate that may be accepted; StageNotConverged where it fails at any other."""
        self._count += 1
        reused = None
        if not self._by_strain and self.last > 0.0 and self._is_slow and self._uses < self.reuse_limit:
            reused = _find_reused_direction(problem, at, self.last)
        self._is_fresh = reused is None
        if reused is None:
            if self._factors == self.max_factorizations:
                raise Exhausted
            try:
                problem.factors.factor_for_directions(problem, at.unknowns)
            except StepFailed as failure:
                self.retries(problem, at, failure)
                raise Exhausted from failure
            self._factors, self._uses = self._factors + 1, 0
        self.vector = problem.factors.direction(problem, at.residual) if reused is None else reused
        self._uses += 1
        return Direction(self.vector)

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return True, to try again with a new factor, after a search on a reused one has failed; False where the
        iterate may be accepted. Raises StageNotConverged otherwise."""
        if not self._is_fresh:
            self.last = 0.0
            return True
        if self._accepts and self._count > 1:
            return False
        raise StageNotConverged(str(failure), failure.object, failure.remedy or CLEARANCE_REMEDY) from failure

    def is_done(self, step: Step) -> bool:
        """Whether neither the remaining strain nor the remaining energy is visible."""
        problem, at, moved = step.problem, step.after, step.moved
        self._is_slow = moved > self.slow * self.last > 0.0
        rest = self._remaining_strain(step)
        self.last = moved if step.is_full else 0.0
        if not step.is_full:
            return False
        if rest <= self._strain_left:
            if self._is_slow and not self._is_fresh:
                # a small step may be due to the factor: the next iteration factors again, or has a far smaller residual
                self._uses = self.reuse_limit
                return False
            return self._accepts or self._has_converged_energy(problem, at)
        return ((self._is_fresh or self._is_slow) and not self._by_strain
                and problem.system.edges.usual_change_of_pieces(problem.displacement(step.change))
                <= min(self.usual, self._strain_left)
                and self._has_converged_energy(problem, at))

    def _has_converged_energy(self, problem: StageProblem, at: Evaluation) -> bool:
        """Whether hardly any energy is left along the last direction, or along the next one on a new factor: one more
        solve finds that out, where another iteration would need another factor."""
        left = problem.relative_energy_left(at, self.vector)
        if left <= 1.0 or not self._is_fresh or left > self.worth_a_solve:
            return left <= 1.0
        self.vector = problem.factors.direction(problem, at.residual)
        return problem.relative_energy_left(at, self.vector) <= 1.0

    def _remaining_strain(self, step: Step) -> float:
        """Return the strain that iterations after this step would still cause, as far as it counts for convergence."""
        # quasistatic nodes may still slide a little in each iteration without any energy left
        problem, moved, left = step.problem, step.moved, remaining(step.moved, self.last)
        if not self._is_fresh and step.is_full and not self._is_slow:
            # the remaining energy does not converge quadratically on a reused factor: it has to be far smaller
            self.vector = self.reused_factor_margin * problem.factors.direction(problem, step.after.residual)
            left = problem.strain(self.vector) / self.reused_factor_margin
        if self._by_strain:
            return left
        # slow convergence on a reused factor says little about the remaining distance
        return min(moved, left) if self._is_fresh or not self._is_slow else max(moved, left)


def _find_reused_direction(problem: StageProblem, at: Evaluation, last: float) -> Vec | None:
    """Return the last factor's direction, (3 p,) [m/s], if its strain is about that of the last step; else None."""
    direction = problem.factors.direction(problem, at.residual)
    return direction if problem.strain(direction) <= LARGEST_GROWTH * last else None
