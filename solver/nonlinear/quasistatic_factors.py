"""Factors of a stage of mostly quasistatic positions, and solutions with their exact inertia."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import scipy.sparse as sp

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..state import Vec
from .inertia_updated_factor import InertiaUpdatedFactor
from .stage_equations import StageEquations
from .stage_factors import StageFactors


class QuasistaticFactors(StageFactors):
    """Exact factorizations for a stage of mostly quasistatic positions, which converge only with exact directions."""

    def __init__(self, linear: InertiaUpdatedFactor) -> None:
        """linear: the linear solver of the stage's matrix."""
        self._linear = linear

    def factor(self, problem: StageEquations, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Factor the projected matrix at `unknowns`, (3 p,) [m/s]; solutions are those of the true one as far as that
        is definite. Return `try_true`.

        With projected stiffness alone quasistatic positions converge too slowly. The other arguments have no effect.
        Raises StepFailed where the stiffness is not positive definite.
        """
        if try_true:
            problem.fill(unknowns, project=False)
            self._linear.true = problem.system.matrix.copy()
        problem.fill(unknowns)
        try:
            self._linear.factor(problem.system.matrix, problem.positions_at(unknowns)[problem.order])
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        return try_true

    def factor_for_directions(self, problem: StageEquations, unknowns: Vec) -> None:
        """Factor the projected matrix at `unknowns`, (3 p,) [m/s], exactly. Raises StepFailed where it is not positive
        definite."""
        self.factor(problem, unknowns, False)

    def direction(self, problem: StageEquations, residual: Vec) -> Vec:
        """Return the Newton direction (3 p,) [m/s] of a residual (3 p,) [N s]."""
        return self._linear.solve(-residual)

    def approximate_solve(self, problem: StageEquations, rhs: Vec) -> Vec:
        """Return an approximate solution of a right-hand side, both (3 p,), for a fraction of the time of an exact one.
        """
        return self._linear.approximate_solve(rhs) if self._linear.has_inertia_update else self._linear.solve(rhs)
