"""Newton's method whose directions come from preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

from ..assembly.product import Product
from ..errors import StepFailed
from ..state import Vec
from .conjugate_gradients import ConjugateGradients
from .kept_factor import KeptFactor
from .limits import StopRule
from .problem import Evaluation, StageProblem


class InexactNewton:
    """The matrix is projected far from the root and the true one near it, as in NEWTON-D. [Thesis Alg. 5.4]"""

    def __init__(self, limits: StopRule, params: dict[str, float]) -> None:
        """params: cg_tolerance, share of the preconditioned residual that stays; cg_iterations, of one direction."""
        self.limits = limits
        self._cg = ConjugateGradients(params["cg_tolerance"], int(params["cg_iterations"]))
        self._product: Product | None = None

    def solve(self, problem: StageProblem, at: Evaluation, goal: float,
              precondition: Callable[[Product], Callable[[Vec], Vec]], factor: KeptFactor | None = None
              ) -> tuple[Evaluation, int]:
        """The root, from `at` on, and all iterations of the conjugate gradients. Raises StepFailed.

        precondition: makes P⁻¹ of the matrix that was just filled. factor: what that is of, made anew where a direction
        takes more iterations than it costs: an older one knows nothing of what touches since.
        """
        whole, inner = False, 0
        if at.size <= goal:
            return at, inner
        for _ in range(self.limits.iterations):
            direction = self._direction(problem, at, precondition, whole, factor)
            inner += self._cg.taken
            if whole and not problem.moves(direction):
                return at, inner
            at, step = problem.search(at, direction)
            if at.size <= goal:
                return at, inner
            whole = step == 1.0
        raise self.limits.failure(problem, at)

    def _direction(self, problem: StageProblem, at: Evaluation,
                   precondition: Callable[[Product], Callable[[Vec], Vec]], true: bool,
                   factor: KeptFactor | None) -> Vec:
        matrix = problem.system.matrix
        if self._product is None or not self._product.of(matrix):
            self._product = Product(matrix)
        problem.fill(at.unknowns, project=not true)
        if factor is not None and not factor.is_kept and not factor.takes_filled(problem):
            raise StepFailed("the system matrix is not positive definite")
        inverse, held = precondition(self._product), problem.held
        if held is not None:
            free = inverse
            inverse = lambda residual: held.across(free(held.left(residual)))  # noqa: E731
        most = self._cg.most if factor is None or factor.patience <= 0.0 else min(self._cg.most, int(factor.patience))
        direction = self._cg.solve(self._product, -at.residual, inverse, most)
        is_definite = not self._cg.met_negative
        if is_definite and most < self._cg.most and self._cg.was_cut:
            assert factor is not None
            spent = self._cg.taken
            is_definite = factor.takes_filled(problem)
            if is_definite:
                direction = self._cg.solve(self._product, -at.residual, inverse, self._cg.most)
                is_definite = not self._cg.met_negative
            self._cg.taken += spent
        if true and not is_definite:
            # not near enough yet: the projected matrix has a minimum to go to
            return self._direction(problem, at, precondition, False, factor)
        return direction
