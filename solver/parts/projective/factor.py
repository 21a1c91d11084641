"""Constant matrix of global steps, with a diagonal of the nodes that have targets or contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ...linear.choose import choose
from ...linear.interface import NotPositiveDefinite, inside_of
from ...state import Index, Vec

if TYPE_CHECKING:
    from ...linear.cholesky.single_few import SingleFew


class GlobalMatrix:
    """κ M + Σ w AᵀA of the free nodes, factored once for all three axes, plus a diagonal that changes at a few nodes.

    A diagonal that differs from the factored one at a few nodes costs one solved column for each, which is reused until
    the matrix is factored again. Where more differ the matrix is factored again, in single precision where the linear
    solver shows its factor's pattern, and in double only where `solve` requires it. [Notes, Projective Dynamics]
    """

    #: nodes with another diagonal that Woodbury's identity takes; with more the matrix is factored again
    most_updates = 24

    def __init__(self, matrix: sp.csc_matrix) -> None:
        """matrix: (p, p), symmetric and positive definite. Raises NotPositiveDefinite."""
        self._linear = choose()
        self._order = self._linear.order((matrix - sp.diags(matrix.diagonal())).tocsc())
        self._back = np.argsort(self._order)
        self._lower = sp.tril(matrix[self._order][:, self._order]).tocsc()
        self._lower.sort_indices()
        self._diagonal = self._lower.indptr[:-1]  # each column begins with its diagonal
        self._plain = self._lower.data[self._diagonal].copy()
        self._linear.analyse(self._lower, 0)
        self._added = np.zeros(len(self._order))  #: diagonal of the factored matrix in addition to the constant one
        self._requested = self._added  #: required diagonal in addition to the constant one
        self._changed: Index = np.zeros(0, dtype=np.int64)  #: indices at which both differ
        self._columns: dict[int, Vec] = {}
        self._copy: SingleFew | None = None
        self.factored = 1  #: number of factorizations
        self._linear.factor(self._lower)
        #: precisions in which the factor exists
        self._in_double, self._in_single = True, False

    def add(self, diagonal: Vec) -> None:
        """Set the diagonal that is added to the matrix, (p,) [N/m], not negative. Raises NotPositiveDefinite."""
        self._requested = diagonal
        if np.count_nonzero(diagonal != self._added) > self.most_updates:
            self._factor(diagonal.copy())
        self._update()

    def _factor(self, added: Vec) -> None:
        """Factor the matrix with an added diagonal, (p,). Raises NotPositiveDefinite."""
        self._added, self._columns = added, {}
        self._lower.data[self._diagonal] = self._plain + added[self._order]
        self.factored += 1
        self._in_single = self._factor_in_single()
        self._in_double = not self._in_single
        if self._in_double:
            self._linear.factor(self._lower)

    def _factor_in_single(self) -> bool:
        """Return whether the matrix could be factored in single precision."""
        copy = self._single_copy()
        if copy is None or not copy.single.can_factor(self._lower):
            return False
        try:
            copy.single.factor(self._lower)
        except NotPositiveDefinite:
            return False
        return True

    def _update(self) -> None:
        """Compute the low-rank update that makes solutions of the factor those with the required diagonal."""
        self._changed = changed = np.flatnonzero(self._requested != self._added)
        if not len(changed):
            return
        new = [node for node in changed.tolist() if node not in self._columns]
        for first in range(0, len(new), 3):
            nodes = new[first : first + 3]
            unit = np.zeros((len(self._added), len(nodes)))
            unit[nodes, range(len(nodes))] = 1.0
            self._columns.update(zip(nodes, (self._solve if self._in_double else self._solve_in_single)(unit).T))
        self._responses = np.stack([self._columns[node] for node in changed.tolist()], axis=1)
        # (A + E d Eᵀ)⁻¹ = A⁻¹ − A⁻¹ E (d⁻¹ + Eᵀ A⁻¹ E)⁻¹ Eᵀ A⁻¹
        change = self._requested[changed] - self._added[changed]
        self._inside = scipy.linalg.lu_factor(np.diag(1.0 / change) + self._responses[changed])

    def solve(self, rhs: Vec) -> Vec:
        """Return the solution for right-hand sides (p, 3), in double precision."""
        if not self._in_double:
            self._linear.factor(self._lower)
            self._in_double, self._columns = True, {}
            self._update()
        return self._correct_solution(self._solve(rhs))

    def direction(self, rhs: Vec) -> Vec:
        """Return the solution for right-hand sides (p, 3) to about six digits where the linear solver shows its factor,
        else in double precision: for steps that a line search checks. Single precision takes a third of the time."""
        if not self._in_single:
            copy = self._single_copy()
            if copy is None:
                return self.solve(rhs)
            copy.single.copy()
            self._in_single = True
        return self._correct_solution(self._solve_in_single(rhs))

    def _single_copy(self) -> SingleFew | None:
        """Return the solver in single precision on the factor's pattern; None where the linear solver does not show
        that."""
        from ...linear.cholesky.single_few import SingleFew  # compiled only where it is used

        if self._copy is None:
            inside = inside_of(self._linear)
            if inside is not None and SingleFew.can_copy(inside):
                self._copy = SingleFew(inside, 0, rows=self._back)
        return self._copy

    def _correct_solution(self, solution: Vec) -> Vec:
        """Return the factor's solutions, (p, 3), corrected for the diagonals that differ from the factored ones."""
        if len(self._changed):
            solution -= self._responses @ scipy.linalg.lu_solve(self._inside, solution[self._changed])
        return solution

    def _solve(self, rhs: Vec) -> Vec:
        solution: Vec = self._linear.solve(np.asfortranarray(rhs[self._order]))[self._back]
        return solution

    def _solve_in_single(self, rhs: Vec) -> Vec:
        assert self._copy is not None
        return self._copy.solve(rhs)
