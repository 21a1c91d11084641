"""Inexact Newton: directions from preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..assembly.product import Product
from ..errors import StepFailed
from ..state import Vec
from .conjugate_gradients import ConjugateGradients
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .limits import StopRule
from .problem import Evaluation, StageProblem
from .reused_factor import ReusedFactor
from .stop_rules import ResidualStop


class InexactDirections(DescentDirections):
    """Directions of conjugate gradients: with the projected matrix, and with the true one after a full step."""

    def __init__(self, direction: Callable[[StageProblem, Evaluation, bool], Vec], cg: ConjugateGradients) -> None:
        """direction: returns the direction (3 p,) [m/s] at an iterate, by the true matrix where the last argument is
        True. cg: the conjugate gradients that `direction` solves with."""
        self._direction, self._cg = direction, cg
        self.inner = 0  #: conjugate gradient iterations so far

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction | None:
        """Return the next direction; None where that of the true matrix moves nothing by more than rounding. Raises
        StepFailed."""
        tries_true = last is not None and last.is_full
        vector = self._direction(problem, at, tries_true)
        self.inner += self._cg.taken
        return None if tries_true and not problem.moves(vector) else Direction(vector)


class InexactNewton:
    """Newton's method with the projected matrix far from the root and the true one near it, as in NEWTON-D. [Thesis
    Alg. 5.4]"""

    def __init__(self, limits: StopRule, params: dict[str, float]) -> None:
        """params: cg_tolerance, relative residual of a direction; cg_iterations, limit for one direction."""
        self.limits = limits
        self._cg = ConjugateGradients(params["cg_tolerance"], int(params["cg_iterations"]))
        self._product: Product | None = None

    def solve(self, problem: StageProblem, at: Evaluation, goal: float,
              precondition: Callable[[Product], Callable[[Vec], Vec]], factor: ReusedFactor | None = None
              ) -> tuple[Evaluation, int]:
        """Return the evaluation at the root, starting from `at`, and the total number of conjugate gradient iterations.
        Raises StepFailed where the iteration does not converge.

        goal: largest residual at a root [N s]. precondition: returns P⁻¹ of the matrix that was just filled. factor:
        that of P, refactored where a direction takes more iterations than a factorization costs, since an old one lacks
        new contacts.
        """
        directions = InexactDirections(partial(self._direction, precondition=precondition, factor=factor), self._cg)
        if at.size <= goal:
            return at, 0
        end = descend(problem, at, directions, ResidualStop(goal), self.limits.iterations)
        if not end.has_converged:
            raise self.limits.failure(problem, end.at)
        return end.at, directions.inner

    def _direction(self, problem: StageProblem, at: Evaluation,
                   true: bool, precondition: Callable[[Product], Callable[[Vec], Vec]],
                   factor: ReusedFactor | None) -> Vec:
        """Return the direction −A⁻¹ residual by preconditioned conjugate gradients, (3 p,) [m/s].

        true: whether A has the true K; where that is indefinite, the projected K is used. precondition: returns P⁻¹ of
        the matrix. factor: that of P, renewed where iterations are too many; None where P has none. Raises StepFailed
        where the projected matrix is not positive definite.
        """
        matrix = problem.system.matrix
        if self._product is None or not self._product.of(matrix):
            self._product = Product(matrix)
        problem.fill(at.unknowns, project=not true)
        if factor is not None and not factor.is_available and not factor.takes_filled(problem):
            raise StepFailed("the system matrix is not positive definite")
        inverse, prescribed = precondition(self._product), problem.prescribed_directions
        if prescribed is not None:
            free = inverse
            inverse = lambda residual: prescribed.direction_across(free(prescribed.residual_across(residual)))  # noqa: E731
        most = self._cg.most if factor is None or factor.patience <= 0.0 else min(self._cg.most, int(factor.patience))
        direction = self._cg.solve(self._product, -at.residual, inverse, most)
        is_definite = not self._cg.negative_curvature
        if is_definite and most < self._cg.most and self._cg.was_cut:
            assert factor is not None
            spent = self._cg.taken
            is_definite = factor.takes_filled(problem)
            if is_definite:
                direction = self._cg.solve(self._product, -at.residual, inverse, self._cg.most)
                is_definite = not self._cg.negative_curvature
            self._cg.taken += spent
        if true and not is_definite:
            # not near enough yet: the projected matrix has a descent direction
            return self._direction(problem, at, False, precondition, factor)
        return direction
