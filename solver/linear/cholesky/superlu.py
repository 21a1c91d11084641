"""SciPy's SuperLU in its symmetric mode: slow, but always available."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ...state import Index, Vec
from ..banded import order_banded
from ..interface import NotPositiveDefinite, ShowsNothing


class SuperLU(ShowsNothing):
    """LinearSolver on scipy.sparse.linalg.splu."""

    proves_definite = True

    def __init__(self) -> None:
        self.why = "SuperLU from SciPy, the fallback"
        self.remarks: list[str] = []
        self.factored = 0
        self._full: Any = None
        self._whole: Any = None
        self._inner: Any = None
        self._retained = 0

    @staticmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return a banded order of the nodes of a graph (n, n), (n,), in which memory is read; SuperLU finds its own
        fill-reducing order."""
        return order_banded(graph)

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the number of unknowns that `condense` retains; SuperLU analyses each matrix again."""
        self._retained = retained

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor the matrix with this lower triangle (m, m), later where unknowns are retained. Raises
        NotPositiveDefinite."""
        self.factored += 1
        self._full = (lower + sp.tril(lower, -1).T).tocsc()
        self._whole = self._inner = None
        if self._retained == 0:
            # nothing to condense, so the whole will be needed: an indefinite matrix is reported now
            self._whole = self._split(self._full)

    @staticmethod
    def _split(full: sp.csc_matrix) -> Any:
        """Return factors computed without pivoting; every pivot of a positive definite matrix is positive. Raises
        NotPositiveDefinite."""
        try:
            factors = splu(full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as failure:
            raise NotPositiveDefinite(str(failure)) from None
        if not (factors.U.diagonal() > 0.0).all():
            raise NotPositiveDefinite("a pivot is not positive")
        return factors

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,) or (m, c). Raises NotPositiveDefinite where the matrix is factored only now."""
        if self._whole is None:
            self._whole = self._split(self._full)
        return self._whole.solve(rhs)  # type: ignore[no-any-return]

    def forget_past(self) -> None:
        """Do nothing: no factor depends on an earlier one."""

    def condense(self) -> Vec:
        """Return J = −A_qq⁻¹ A_qk, (m − retained, retained), by a solve with A_qq for every column, as in the paper.
        [ConJac 6]"""
        free = self._full.shape[0] - self._retained
        if self._inner is None and free:
            self._inner = self._split(self._full[:free, :free])
        if free == 0:
            return np.zeros((0, self._retained))
        jacobian: Vec = -self._inner.solve(self._full[:free, free:].toarray())
        return jacobian

    def compute_condensation_residual(self) -> Vec | None:
        """Return None: J has the digits of a double precision factor."""
        return None
