"""Sparse matrices from arrays that are known to be in order."""

from __future__ import annotations

import scipy.sparse as sp

from ..state import Index, Vec

_EMPTY = sp.csc_matrix((0, 0))


def tidy_csc(data: Vec, indices: Index, indptr: Index) -> sp.csc_matrix:
    """A square matrix over these very arrays: int32, rows of a column rising and each once.

    scipy's own constructor looks at all of them, which for matrices of some hundred unknowns takes as long as a solve.
    """
    matrix = object.__new__(sp.csc_matrix)
    matrix.__dict__.update(_EMPTY.__dict__)
    matrix._shape = (len(indptr) - 1, len(indptr) - 1)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
