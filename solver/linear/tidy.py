"""Sparse matrices from arrays that are known to be in order."""

from __future__ import annotations

import scipy.sparse as sp

from ..state import Index, Vec

_EMPTY = sp.csc_matrix((0, 0))


def tidy_csc(data: Vec, indices: Index, indptr: Index) -> sp.csc_matrix:
    """Return a square matrix in compressed columns that shares these arrays, without any check.

    data: (nnz,). indices: rows, (nnz,), int32, rising and each once in a column. indptr: (m + 1,), int32. SciPy's own
    constructor checks all of them, which for matrices of some hundred unknowns takes as long as a solve.
    """
    matrix = object.__new__(sp.csc_matrix)
    matrix.__dict__.update(_EMPTY.__dict__)
    matrix._shape = (len(indptr) - 1, len(indptr) - 1)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
