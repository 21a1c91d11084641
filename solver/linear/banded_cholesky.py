"""LAPACK's banded Cholesky factor, for ropes: narrow bands, on which supernodes are mostly overhead."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from ..state import Index, Vec
from .analysed import Analysed
from .banded import order_banded
from .interface import LinearSolver, NotPositiveDefinite, ShowsNothing

WIDEST = 24  #: entries below the diagonal: wider bands are left to the other solver


class BandedCholesky(ShowsNothing):
    """LinearSolver that factors the analysed pattern as a band, in reverse Cuthill-McKee order.

    Other patterns, as in contact, wide bands and matrices with retained unknowns are factored by another LinearSolver.
    """

    proves_definite = True

    def __init__(self, other: LinearSolver) -> None:
        self._other, self.factored = other, 0
        self.why = f"LAPACK's banded factor, as all are ropes; where something touches {other.why}"
        self._band: Vec | None = None  #: values below the diagonal by column, (w + 1, m), while they are a factor
        self._band_index: Index = np.zeros(0, np.int64)  #: index of each entry in the band's memory

    @property
    def remarks(self) -> list[str]:
        """Return the remarks of the other solver: sentences for the log."""
        return self._other.remarks

    @remarks.setter
    def remarks(self, shared: list[str]) -> None:
        self._other.remarks = shared

    def order(self, graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return an elimination order of the nodes of a graph (n, n), (n,): with a narrow band, or that of the other
        solver where the band is wide.

        lasts: whether the pattern stays; for the other solver.
        """
        order = order_banded(graph)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        ends = graph.tocoo()
        bandwidth = np.abs(rank[ends.row] - rank[ends.col]).max(initial=0)
        return order if 3 * bandwidth + 2 <= WIDEST else self._other.order(graph, lasts)

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the sparsity pattern of a lower triangle (m, m), whose values are ignored; `condense` is for the last
        `retained` unknowns."""
        self._other.analyse(lower, retained)
        column = np.repeat(np.arange(lower.shape[1], dtype=np.int64), np.diff(lower.indptr))
        below = lower.indices - column
        self._width, self._analysed = int(below.max(initial=0)), Analysed(lower)
        self._is_narrow = not retained and self._width <= WIDEST
        # LAPACK has the band column by column
        self._band_index = (self._width + 1) * column + below
        self._band = None

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor the matrix with this lower triangle (m, m). Raises NotPositiveDefinite.

        positions: of the nodes of the rows [m], (m/3, 3); for the other solver.
        """
        self.factored += 1
        self._band = None
        if not self._is_narrow or not self._analysed.is_of(lower):
            self._other.factor(lower, positions)
            return
        flat = np.zeros((self._width + 1) * lower.shape[1])
        flat[self._band_index] = lower.data
        band, info = lapack.dpbtrf(flat.reshape(-1, self._width + 1).T, lower=1, overwrite_ab=1)
        if info:
            raise NotPositiveDefinite(f"pivot {info} is not positive")
        self._band = band

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,) or (m, c), with the last factor."""
        if self._band is None:
            return self._other.solve(rhs)
        solution: Vec = lapack.dpbtrs(self._band, rhs.reshape(len(rhs), -1), lower=1)[0]
        return np.ascontiguousarray(solution).reshape(rhs.shape)

    def condense(self) -> Vec:
        """Return J = −A_qq⁻¹ A_qk, (m − retained, retained), from the other solver, which factors every matrix with
        retained unknowns."""
        return self._other.condense()

    def compute_condensation_residual(self) -> Vec | None:
        """Return the residual −A_qk − A_qq J of the other solver's last J, (m − retained, retained); None where it is
        negligible."""
        return self._other.compute_condensation_residual()

    def forget_past(self) -> None:
        """Discard what depends on earlier matrices, also in the other solver."""
        self._band = None
        self._other.forget_past()
