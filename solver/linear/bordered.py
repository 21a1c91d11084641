"""Base of linear solvers that apply A_qq⁻¹ to columns and have no factor of all of A."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp

from ..state import Vec
from .blocks import LANES
from .interface import ShowsNothing
from .spread import Spread


class Bordered(ShowsNothing, ABC):
    """Base of a LinearSolver that computes A⁻¹ b and J by solves with A_qq, the block of all but the last unknowns."""

    _spread: Spread  #: of the analysed pattern
    _lower: sp.csc_matrix  #: whose values are the last matrix
    _jacobian: Vec | None  #: J of that matrix, once it was computed
    _left: Vec  #: −A_qk − A_qq J

    @abstractmethod
    def _solve(self, columns: Vec, name: str, count: int) -> Vec:
        """Return approximately A_qq⁻¹ columns, (inner, count), and overwrite the columns by their residuals.

        columns: (strips, inner, lanes). name: label of the right-hand sides, equal for right-hand sides of one kind.
        """

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,) or (m, c), by solves with A_qq and the Schur complement of the last unknowns."""
        rhs_columns = rhs.reshape(len(rhs), -1)
        inner, retained = self._spread.inner, self._spread.retained
        if not retained:
            return self._solve_inner(rhs_columns, "whole").reshape(rhs.shape)
        # A_kk − A_kq A_qq⁻¹ A_qk is left for the last unknowns
        jacobian = self._condense()
        columns = np.zeros(self._shape(retained))
        self._spread.columns(self._lower, columns)
        across = block_diagonal(columns, retained).T
        lower = self._lower[inner:, inner:]
        whole = (lower + sp.tril(lower, -1).T).toarray()
        inner_solution = self._solve_inner(rhs_columns[:inner], "inner")
        whole += across @ jacobian - jacobian.T @ self._left
        own = np.linalg.solve(whole, rhs_columns[inner:] - across @ inner_solution)
        return np.concatenate([inner_solution + jacobian @ own, own]).reshape(rhs.shape)

    def condense(self) -> Vec:
        """Return J = −A_qq⁻¹ A_qk, (m − retained, retained), a copy. [ConJac 6]"""
        return self._condense().copy()

    def compute_condensation_residual(self) -> Vec | None:
        """Return the residual −A_qk − A_qq J of the last J, (m − retained, retained); None where it vanishes."""
        return self._left if self._left.any() else None

    def _condense(self) -> Vec:
        if self._jacobian is None:
            columns = np.zeros(self._shape(self._spread.retained))
            self._spread.columns(self._lower, columns, -1.0)
            self._jacobian = self._solve(columns, "retained", self._spread.retained)
            self._left = block_diagonal(columns, self._spread.retained)
        return self._jacobian

    def _solve_inner(self, rhs: Vec, name: str) -> Vec:
        """Return A_qq⁻¹ rhs, both (inner, c)."""
        count = rhs.shape[1]
        columns = np.zeros(self._shape(count))
        strips, size, lanes = columns.shape
        for strip in range(strips):
            part = rhs[:, strip * lanes : (strip + 1) * lanes]
            columns[strip, :, : part.shape[1]] = part
        return self._solve(columns, name, count)

    def _shape(self, count: int) -> tuple[int, int, int]:
        lanes = 1 if count == 1 else LANES
        return -(-count // lanes), self._spread.inner, lanes


def block_diagonal(strips: Vec, count: int) -> Vec:
    """Return strips of columns, (s, m, lanes), as columns of one matrix, (m, count), a copy without unused lanes."""
    pieces, rows, lanes = strips.shape
    whole: Vec = strips.transpose(1, 0, 2).reshape(rows, pieces * lanes)[:, :count].copy()
    return whole
