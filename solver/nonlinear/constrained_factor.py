"""A matrix factor that is constrained by rows, which are eliminated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..linear.interface import Factoring
from ..rows.eliminated import EliminatedRows
from ..state import Vec
from .factor_wrapper import FactorWrapper


class ConstrainedFactor(FactorWrapper):
    """A factor whose solutions do not change the velocities of rows: A d = r + Gᵀ μ, G d = 0. [Ascher 26]"""

    def __init__(self, linear: Factoring, eliminated: EliminatedRows) -> None:
        """linear: factorization, analysed for the pattern of A. eliminated: rows in the order of its unknowns."""
        super().__init__(linear)
        rows = eliminated.rows
        self._unchanged = replace(eliminated, rows=replace(rows, target=np.zeros(len(rows))))
        self._response: Vec | None = None

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor A. lower: its lower triangle, (m, m). positions: of its nodes [m], for the ordering. Raises
        NotPositiveDefinite."""
        self._response = None
        self._inner.factor(lower, positions)

    def solve(self, rhs: Vec) -> Vec:
        """Return d with A d = r + Gᵀ μ and G d = 0 for a right-hand side r, both (m,)."""
        if self._response is None:
            self._response = self._inner.solve(self._unchanged.rows.G.T)
        return self._unchanged.solve(self._inner.solve(rhs), self._response)[0]
