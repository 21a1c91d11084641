"""CHOLMOD as cvxopt's wheel carries it: for installations that cannot build scikit-sparse."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy.sparse as sp
from cvxopt import cholmod, matrix, spmatrix

from ...state import Index, Vec
from ..analysed import Analysed
from ..interface import NotPositiveDefinite
from .backward import Backward
from .fronts import Following, Fronts
from .supernodal import Supernodes, supernodes

_CAPSULE = b"CHOLMOD FACTOR D L"  # double, lower
_SOLVE_ALL, _SOLVE_LT, _PERMUTE = 0, 5, 7  # CHOLMOD's codes


def _sparse(lower: sp.csc_matrix) -> Any:
    columns = np.repeat(np.arange(lower.shape[1]), np.diff(lower.indptr))
    return spmatrix(matrix(lower.data), matrix(lower.indices.astype(np.int64)), matrix(columns), lower.shape)


class CvxoptCholmod:
    """LinearSolver on cvxopt."""

    proves_definite = True

    def __init__(self) -> None:
        # as benchmarks/sparse_wheels.py found
        self.why = "CHOLMOD through cvxopt, which factors and solves as fast as scikit-sparse's would"
        self.remarks: list[str] = []
        self.factored = 0
        self._fronts: Fronts | None = None  #: of a pattern that came later
        self._backward: Backward | None = None
        self._kept = 0

    @staticmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """AMD on the graph of nodes."""
        count = graph.shape[0]
        if count == 0:
            return np.zeros(0, dtype=np.int32)
        cholmod.options.update(supernodal=2, nmethods=0)
        dominant = _sparse(sp.tril(graph + sp.identity(count) * count, format="csc"))
        factor = cholmod.symbolic(dominant)
        cholmod.numeric(dominant, factor)
        numbers = matrix(np.arange(count, dtype=float))
        cholmod.solve(factor, numbers, sys=_PERMUTE)
        return np.array(numbers).ravel().astype(np.int32)

    def analyse(self, lower: sp.csc_matrix, kept: int) -> None:
        self._following, self._kept, self._is_past = Following(lower, kept, self.order), kept, False
        self._take(lower)

    def _take(self, lower: sp.csc_matrix) -> None:
        self._own = self._analysed = Analysed(lower)
        self._fronts, self._backward = None, None
        self._matrix = _sparse(lower)
        size = lower.shape[0]
        # 1: the order given and no other; else CHOLMOD takes AMD's where that has less fill
        cholmod.options.update(supernodal=2, nmethods=1)
        self._factor = cholmod.symbolic(self._matrix, p=matrix(np.arange(size, dtype=np.int64)))
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
        self._matrix.V = matrix(lower.data)
        try:
            cholmod.numeric(self._matrix, self._factor)
        except ArithmeticError as failure:
            raise NotPositiveDefinite(str(failure)) from None
        self._stands = True

    def _apply(self, right: Vec, system: int) -> Vec:
        columns = matrix(right)
        cholmod.solve(self._factor, columns, sys=system)
        return np.array(columns)

    def solve(self, right: Vec) -> Vec:
        if self._fronts is not None:
            return self._fronts.solve(right.reshape(len(right), -1)).reshape(right.shape)
        if right.ndim == 2 and right.shape[1] > 1:  # cvxopt takes one after the other, and reads L for each
            inside = self.supernodes()
            if inside is not None:
                return inside.solve(right)
        return self._apply(right.reshape(len(right), -1), _SOLVE_ALL).reshape(right.shape)

    def forget_past(self) -> None:
        """The pattern that came last, and the order that earlier ones led to."""
        self._is_past = True
        self._following.forget_past()

    def condense(self) -> Vec:
        """One backward solve, on all threads where the factor's inside is as expected."""
        inside = self.supernodes()
        if self._backward is None:
            self._backward = Backward(self._permutation(), self._kept)
        jacobian: Vec = self._backward.solve(self._solve_lt if inside is None else inside.solve_lt)
        return jacobian

    def _permutation(self) -> Index:
        if self._fronts is not None:
            return self._fronts.permutation
        numbers = np.arange(self._matrix.size[0], dtype=float)[:, None]
        return self._apply(numbers, _PERMUTE).ravel().astype(np.int64)

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
            size = self._matrix.size[0]
            self._supernodes, self._looked_inside = supernodes(_address(self._factor), size, self._solve_lt), True
        return self._supernodes

    def _solve_lt(self, sides: Vec) -> Vec:
        return self._apply(sides, _SOLVE_LT)


def _address(factor: Any) -> int | None:
    """The cholmod_factor that cvxopt's capsule holds."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(factor) if type(factor).__name__ == "PyCapsule" else None
    return api.PyCapsule_GetPointer(factor, name) if name == _CAPSULE else None  # type: ignore[no-any-return]
