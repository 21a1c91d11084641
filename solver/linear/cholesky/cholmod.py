"""CHOLMOD through scikit-sparse: supernodal, refactored in place."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy.sparse as sp
from sksparse.cholmod import CholmodError, CholmodNotPositiveDefiniteError, analyze

from ...state import Index, Vec
from ..analysed import Analysed
from ..interface import NotPositiveDefinite
from .backward import Backward
from .fronts import Following, Fronts
from .supernodal import Supernodes, supernodes


class Cholmod:
    """LinearSolver on scikit-sparse's CHOLMOD."""

    proves_definite = True

    def __init__(self) -> None:
        self.why = "CHOLMOD through scikit-sparse, the fastest measured"
        self.remarks: list[str] = []
        self.factored = 0
        self._factor: Any = None
        self._fronts: Fronts | None = None  #: of a pattern that came later
        self._backward: Backward | None = None
        self._kept = 0

    @staticmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """METIS, or AMD where this CHOLMOD was built without it, and where the pattern does not last: on sheets of a
        thousand nodes that takes a quarter of METIS' time, for a factor as sparse."""
        return _ordered(graph, *(("metis", "amd") if lasts else ("amd",)))

    def analyse(self, lower: sp.csc_matrix, kept: int) -> None:
        self._following, self._kept, self._is_past = Following(lower, kept, self.order), kept, False
        self._take(lower)

    def _take(self, lower: sp.csc_matrix) -> None:
        # the pattern is in elimination order already; CHOLMOD adds its postorder
        self._factor = analyze(lower, mode="supernodal", ordering_method="natural")
        self._own = self._analysed = Analysed(lower)
        self._fronts, self._backward = None, None
        self._supernodes: Supernodes | None = None
        self._looked_inside = self._stands = False

    def follow(self, lower: sp.csc_matrix) -> None:
        """Take another pattern of the same unknowns: CHOLMOD the first one, which it has analysed already."""
        own, self._is_past = self._own.is_of(lower), False
        self._fronts, self._backward = None if own else self._following.follow(lower), None
        if own or self._fronts is not None:
            self._analysed = self._own if own else Analysed(lower)
        else:
            self._take(lower)

    def factor(self, lower: sp.csc_matrix, places: Vec | None = None) -> None:
        self.factored += 1
        if self._is_past or not self._analysed.is_of(lower):
            self.follow(lower)
        if self._fronts is not None:
            self._fronts.factor(lower)
            return
        self._stands = False
        try:
            self._factor.cholesky_inplace(lower)
        except CholmodNotPositiveDefiniteError as failure:
            raise NotPositiveDefinite(str(failure)) from None
        self._stands = True

    def solve(self, right: Vec) -> Vec:
        if self._fronts is not None:
            return self._fronts.solve(right.reshape(len(right), -1)).reshape(right.shape)
        return self._factor(right)  # type: ignore[no-any-return]

    def forget_past(self) -> None:
        """The pattern that came last, and the order that earlier ones led to."""
        self._is_past = True
        self._following.forget_past()

    def condense(self) -> Vec:
        """One backward solve, on all threads where the factor's inside is as expected."""
        inside = self.supernodes()
        if self._backward is None:
            order = self._factor.P() if self._fronts is None else self._fronts.permutation
            self._backward = Backward(order, self._kept)
        return self._backward.solve(self._solve_lt if inside is None else inside.solve_lt)

    def left_of_condense(self) -> Vec | None:
        """Nothing."""
        return None

    def supernodes(self) -> Supernodes | None:
        """The inside of the factor, once there is one; None where it is not as expected."""
        if self._is_past:
            return None
        if self._fronts is not None:
            return self._fronts if self._fronts.stands else None
        if not self._looked_inside and self._stands:
            size = len(self._factor.P())
            self._supernodes, self._looked_inside = supernodes(_address(self._factor), size, self._solve_lt), True
        return self._supernodes

    def _solve_lt(self, sides: Vec) -> Vec:
        return self._factor.solve_Lt(sides, use_LDLt_decomposition=False)  # type: ignore[no-any-return]


def _ordered(graph: sp.csc_matrix, *methods: str) -> Index:
    """By the first method that this CHOLMOD knows."""
    if graph.shape[0] == 0:
        return np.zeros(0, dtype=np.int32)
    # the diagonal counts nothing; to add one takes as long as to order a small graph
    tidy = graph.dtype == float and graph.has_canonical_format
    pattern = graph if tidy else (graph + sp.identity(graph.shape[0], format="csc")).tocsc()
    for method in methods:
        try:
            return analyze(pattern, mode="simplicial", ordering_method=method).P().astype(np.int32)  # type: ignore[no-any-return]
        except CholmodError:
            continue
    return np.arange(graph.shape[0], dtype=np.int32)


def _address(factor: Any) -> int | None:
    """Where scikit-sparse's Factor keeps its cholmod_factor: the word behind the reference to its Common."""
    if type(factor).__basicsize__ != 4 * ctypes.sizeof(ctypes.c_size_t):
        return None
    words = (ctypes.c_size_t * 4).from_address(id(factor))
    return words[3] if words[2] == id(factor._common) else None
