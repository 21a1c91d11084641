"""Factors of a stage of mostly quasistatic positions, and solutions with their exact inertia."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..errors import StepFailed
from ..linear.interface import Factoring, NotPositiveDefinite
from ..parts.conjac.inertia import CLOSE, MOST
from ..parts.interface import PositionInertia
from ..state import Index, Vec
from .conjugate_gradients import ConjugateGradients
from .factor_wrapper import FactorWrapper
from .stage_equations import StageEquations
from .stage_factors import StageFactors


class QuasistaticFactors(StageFactors):
    """Exact factorizations: quasistatic positions converge only with exact directions."""

    def __init__(self, linear: InertiaUpdatedFactor) -> None:
        """linear: the linear solver of the stage's matrix."""
        self._linear = linear

    def factor(self, problem: StageEquations, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Factor the projected matrix; solutions are those of the true one as far as that is definite. Returns
        `try_true`.

        With projected stiffness alone quasistatic positions converge too slowly. The other arguments have no effect.
        Raises StepFailed.
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
        """Factor the projected matrix exactly. Raises StepFailed."""
        self.factor(problem, unknowns, False)

    def direction(self, problem: StageEquations, residual: Vec) -> Vec:
        """Return the Newton direction, both (3 p,): [m/s] of a residual [N s]."""
        return self._linear.solve(-residual)

    def approximate_solve(self, problem: StageEquations, right: Vec) -> Vec:
        """Return an approximate solution (3 p,) of a right-hand side, for a fraction of the time."""
        return self._linear.approximate_solve(right) if self._linear.has_inertia_update else self._linear.solve(right)


class InertiaUpdatedFactor(FactorWrapper):
    """Solves with the exact matrix, by conjugate gradients on a factor that has a regularisation mass in place of the
    exact inertia W Wᵀ, which is added by (L + W Wᵀ)⁻¹ = L⁻¹ − L⁻¹ W (1 + Wᵀ L⁻¹ W)⁻¹ Wᵀ L⁻¹.

    Without this update a mirror-symmetric body rotated: rounding errors that differ on both sides, which a symmetric
    right-hand side hides from conjugate gradients, grew with each iteration from 1e-15 to 1e-10 of the solution.
    """

    def __init__(self, linear: Factoring, inertia: PositionInertia, regularisation_mass: Vec, order: Index) -> None:
        """regularisation_mass: (n,) [kg]. order: nodes of the unknowns."""
        super().__init__(linear)
        self._inertia, self._regularisation_mass, self._order = inertia, regularisation_mass, order
        self._lower, self._diagonal = sp.csc_matrix((0, 0)), np.zeros(0)
        self._gradients = ConjugateGradients(CLOSE, MOST)
        #: L⁻¹ W of the last factor times the inverse Cholesky factor of 1 + Wᵀ L⁻¹ W, (m, r)
        self._inertia_solutions: Vec | None = None
        self.true: sp.csc_matrix | None = None  #: the matrix to solve with, where it is not the one that is factored

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor A. Raises NotPositiveDefinite."""
        self._inner.factor(lower, positions)
        self._lower, self.true = lower if self.true is None else self.true, None
        self._diagonal = self._lower.diagonal() + np.repeat(self._regularisation_mass[self._order], 3)
        columns = self._inertia.columns if self._inner.proves_definite else None
        if columns is not None:
            right = columns[self._order].reshape(lower.shape[0], -1)
            solutions = self._inner.solve(right)
            root = np.linalg.cholesky(np.eye(right.shape[1]) + right.T @ solutions)
            self._inertia_solutions = scipy.linalg.solve_triangular(root, solutions.T, lower=True).T

    @property
    def has_inertia_update(self) -> bool:
        """Whether solutions of the factor are corrected by the exact inertia."""
        return self._inertia_solutions is not None

    def solve(self, right: Vec) -> Vec:
        """Return a descent direction for a right-hand side, both (m,); conjugate gradients stop at negative curvature.
        """
        return self._gradients.solve(self._times, right, self.approximate_solve)

    def approximate_solve(self, right: Vec) -> Vec:
        """Return the solution (m,) by the factor and its inertia update alone."""
        solution = self._inner.solve(right)
        if self._inertia_solutions is None:
            return solution
        return solution - self._inertia_solutions @ (self._inertia_solutions.T @ right)

    def _times(self, v: Vec) -> Vec:
        field = np.zeros((len(self._regularisation_mass), 3))
        field[self._order] = v.reshape(-1, 3)
        out: Vec = self._lower @ v + self._lower.T @ v - self._diagonal * v
        return out + self._inertia.times(field)[self._order].ravel()
