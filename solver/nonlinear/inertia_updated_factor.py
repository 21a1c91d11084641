"""A factor of a stage of mostly quasistatic positions, whose solutions have their exact inertia."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..linear.interface import Factoring
from ..parts.conjac.inertia import CLOSE, MOST
from ..parts.interface import PositionInertia
from ..state import Index, Vec
from .conjugate_gradients import ConjugateGradients
from .factor_wrapper import FactorWrapper
from .position_matrix import PositionMatrix


class InertiaUpdatedFactor(FactorWrapper):
    """A factor that solves with the exact matrix, by conjugate gradients on a factor that has a regularisation mass in
    place of the exact inertia W Wᵀ, which is added by (L + W Wᵀ)⁻¹ = L⁻¹ − L⁻¹ W (1 + Wᵀ L⁻¹ W)⁻¹ Wᵀ L⁻¹.

    Without this update a mirror-symmetric body rotated: rounding errors that differ on both sides, which a symmetric
    right-hand side hides from conjugate gradients, grew with each iteration from 1e-15 to 1e-10 of the solution.
    """

    def __init__(self, linear: Factoring, inertia: PositionInertia, regularisation_mass: Vec, order: Index) -> None:
        """linear: analysed for the matrix. inertia: the exact one. regularisation_mass: (n,) [kg]. order: nodes of the
        unknowns."""
        super().__init__(linear)
        self._inertia, self._regularisation_mass, self._order = inertia, regularisation_mass, order
        self._matrix: PositionMatrix | None = None  #: of the last factor
        self._gradients = ConjugateGradients(CLOSE, MOST)
        #: L⁻¹ W of the last factor times the inverse Cholesky factor of 1 + Wᵀ L⁻¹ W, (m, r)
        self._inertia_solutions: Vec | None = None
        self.true: sp.csc_matrix | None = None  #: the matrix to solve with, where it is not the one that is factored

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor the matrix with the regularisation mass. lower: its lower triangle, (m, m). positions: of its nodes
        [m], for the ordering. Raises NotPositiveDefinite."""
        self._inner.factor(lower, positions)
        self._matrix = PositionMatrix(lower if self.true is None else self.true, self._inertia,
                                      self._regularisation_mass, self._order)
        self.true = None
        columns = self._inertia.columns if self._inner.proves_definite else None
        if columns is not None:
            rhs = columns[self._order].reshape(lower.shape[0], -1)
            solutions = self._inner.solve(rhs)
            root = np.linalg.cholesky(np.eye(rhs.shape[1]) + rhs.T @ solutions)
            self._inertia_solutions = scipy.linalg.solve_triangular(root, solutions.T, lower=True).T

    @property
    def has_inertia_update(self) -> bool:
        """Whether solutions of the factor are corrected by the exact inertia."""
        return self._inertia_solutions is not None

    def solve(self, rhs: Vec) -> Vec:
        """Return a descent direction for a right-hand side, both (m,); conjugate gradients stop at negative curvature.
        Raises ValueError without a factor."""
        if self._matrix is None:
            raise ValueError("nothing is factored")
        return self._gradients.solve(self._matrix.times, rhs, self.approximate_solve)

    def approximate_solve(self, rhs: Vec) -> Vec:
        """Return the solution of a right-hand side, both (m,), by the factor and its inertia update alone."""
        solution = self._inner.solve(rhs)
        if self._inertia_solutions is None:
            return solution
        return solution - self._inertia_solutions @ (self._inertia_solutions.T @ rhs)
