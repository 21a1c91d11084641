"""Which pattern a solver has analysed: by a matrix's arrays it sees that elements came or went since."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


class Analysed:
    """The pattern of one matrix."""

    def __init__(self, lower: sp.csc_matrix) -> None:
        self._indptr, self._indices = lower.indptr, lower.indices

    def is_of(self, lower: sp.csc_matrix) -> bool:
        """Whether this matrix has it."""
        if lower.indices is not self._indices:
            if not (np.array_equal(lower.indptr, self._indptr) and np.array_equal(lower.indices, self._indices)):
                return False
            self._indptr, self._indices = lower.indptr, lower.indices
        return True
