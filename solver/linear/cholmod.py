"""CHOLMOD through scikit-sparse: supernodal, refactored in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sksparse.cholmod import CholmodError, CholmodNotPositiveDefiniteError, analyze

from ..state import Index, Vec
from ..threads import one_openmp_level
from .interface import NotPositiveDefinite


class Cholmod:
    """LinearSolver on scikit-sparse's CHOLMOD."""

    def __init__(self) -> None:
        self.why = "CHOLMOD through scikit-sparse, the fastest measured"
        self._factor: Any = None
        self._kept = 0

    @staticmethod
    def order(graph: sp.csc_matrix) -> Index:
        """METIS, or AMD where this CHOLMOD was built without it."""
        if graph.shape[0] == 0:
            return np.zeros(0, dtype=np.int32)
        shifted = (graph + sp.identity(graph.shape[0], format="csc")).tocsc()
        for method in ("metis", "amd"):
            try:
                return analyze(shifted, mode="simplicial", ordering_method=method).P().astype(np.int32)  # type: ignore[no-any-return]
            except CholmodError:
                continue
        return np.arange(graph.shape[0], dtype=np.int32)

    def analyse(self, lower: sp.csc_matrix, kept: int) -> None:
        self._kept = kept
        # the pattern is in elimination order already; CHOLMOD adds its postorder
        self._factor = analyze(lower, mode="supernodal", ordering_method="natural")
        permutation = self._factor.P()
        self._place = np.empty_like(permutation)
        self._place[permutation] = np.arange(len(permutation))

    def factor(self, lower: sp.csc_matrix) -> None:
        with one_openmp_level():
            try:
                self._factor.cholesky_inplace(lower)
            except CholmodNotPositiveDefiniteError as failure:
                raise NotPositiveDefinite(str(failure)) from None

    def solve(self, right: Vec) -> Vec:
        with one_openmp_level():
            return self._factor(right)  # type: ignore[no-any-return]

    def condense(self, right: Vec) -> tuple[Vec, Vec]:
        """One backward solve: Lᵀ Y = [0; I] holds J Y_k = Y_q, and L⁻¹ right joins it as further columns."""
        size, kept, columns = len(self._place), self._kept, right.shape[1]
        free = size - kept
        place_q, place_k = self._place[:free], self._place[free:]
        sides = np.zeros((size, kept + columns), order="F")
        with one_openmp_level():
            if columns and free:
                sides[place_q, kept:] = right
                sides[:, kept:] = self._factor.solve_L(sides[:, kept:], use_LDLt_decomposition=False)
                sides[place_k, kept:] = 0.0
            sides[place_k, np.arange(kept)] = 1.0
            answer = self._factor.solve_Lt(sides, use_LDLt_decomposition=False)
        below = answer[place_q]
        if not kept:
            return np.zeros((free, 0)), below
        # J = Y_q Y_k⁻¹
        jacobian = scipy.linalg.solve(answer[place_k][:, :kept].T, below[:, :kept].T).T
        return jacobian, below[:, kept:]
