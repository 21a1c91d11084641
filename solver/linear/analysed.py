"""Sparsity pattern that a linear solver has analysed, to detect that elements were added or removed since."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


class Analysed:
    """Sparsity pattern of a matrix in compressed columns; shares the index arrays of the matrix."""

    def __init__(self, lower: sp.csc_matrix) -> None:
        self._indptr, self._indices = lower.indptr, lower.indices

    def is_of(self, lower: sp.csc_matrix) -> bool:
        """Whether `lower` has this sparsity pattern; the same index arrays are recognised without a comparison of
        entries."""
        if lower.indices is not self._indices:
            if not (np.array_equal(lower.indptr, self._indptr) and np.array_equal(lower.indices, self._indices)):
                return False
            self._indptr, self._indices = lower.indptr, lower.indices
        return True
