"""CHOLMOD in cvxopt's wheel: for installations that cannot build scikit-sparse."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy.sparse as sp
from cvxopt import cholmod, matrix, spmatrix

from ...state import Index, Vec
from ..interface import NotPositiveDefinite
from .library import Library

_CAPSULE = b"CHOLMOD FACTOR D L"  # double, lower
_SOLVE_ALL, _SOLVE_LT, _PERMUTE = 0, 5, 7  # CHOLMOD's codes


def _convert(lower: sp.csc_matrix) -> Any:
    columns = np.repeat(np.arange(lower.shape[1]), np.diff(lower.indptr))
    return spmatrix(matrix(lower.data), matrix(lower.indices.astype(np.int64)), matrix(columns), lower.shape)


class CvxoptCholmod(Library):
    """LinearSolver on cvxopt's CHOLMOD."""

    def __init__(self) -> None:
        # as benchmarks/sparse_wheels.py found
        super().__init__("CHOLMOD through cvxopt, which factors and solves as fast as scikit-sparse's would")

    @staticmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return AMD's fill-reducing order of the nodes of a graph (n, n), (n,), whatever the values of its edges;
        `lasts` is ignored."""
        count = graph.shape[0]
        if count == 0:
            return np.zeros(0, dtype=np.int32)
        cholmod.options.update(supernodal=2, nmethods=0)
        edges = sp.csc_matrix((np.ones(graph.nnz), graph.indices, graph.indptr), graph.shape)
        dominant = _convert(sp.tril(edges + sp.identity(count) * count, format="csc"))
        factor = cholmod.symbolic(dominant)
        cholmod.numeric(dominant, factor)
        numbers = matrix(np.arange(count, dtype=float))
        cholmod.solve(factor, numbers, sys=_PERMUTE)
        return np.array(numbers).ravel().astype(np.int32)

    def _analyse(self, lower: sp.csc_matrix) -> None:
        self._matrix = _convert(lower)
        # 1: the order given and no other; else CHOLMOD takes AMD's where that has less fill
        cholmod.options.update(supernodal=2, nmethods=1)
        self._made = cholmod.symbolic(self._matrix, p=matrix(np.arange(lower.shape[0], dtype=np.int64)))

    def _factor(self, lower: sp.csc_matrix) -> None:
        self._matrix.V = matrix(lower.data)
        try:
            cholmod.numeric(self._matrix, self._made)
        except ArithmeticError as failure:
            raise NotPositiveDefinite(str(failure)) from None

    def _apply(self, rhs: Vec, system: int) -> Vec:
        columns = matrix(rhs)
        cholmod.solve(self._made, columns, sys=system)
        return np.array(columns)

    def _solve(self, rhs: Vec) -> Vec:
        if rhs.ndim == 2 and rhs.shape[1] > 1:  # cvxopt solves column by column, and reads L for each
            inside = self.supernodes()
            if inside is not None:
                return inside.solve(rhs)
        return self._apply(rhs.reshape(len(rhs), -1), _SOLVE_ALL).reshape(rhs.shape)

    def _solve_lt(self, sides: Vec) -> Vec:
        return self._apply(sides, _SOLVE_LT)

    def _permutation(self) -> Index:
        numbers = np.arange(self._matrix.size[0], dtype=float)[:, None]
        return self._apply(numbers, _PERMUTE).ravel().astype(np.int64)

    def _address(self) -> int | None:
        return _address(self._made)


def _address(factor: object) -> int | None:
    """Return the address of the cholmod_factor in cvxopt's capsule; None where this is no such capsule."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(factor) if type(factor).__name__ == "PyCapsule" else None
    return api.PyCapsule_GetPointer(factor, name) if name == _CAPSULE else None  # type: ignore[no-any-return]
