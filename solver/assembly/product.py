"""Products with a symmetric matrix of which only the lower triangle is stored."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..state import Vec
from .product_kernels import multiply_lower


class Product:
    """Products A x of a symmetric matrix, stored as its lower triangle, whose values may be overwritten."""

    def __init__(self, lower: sp.csc_matrix) -> None:
        """lower: (m, m), sorted columns that begin with the diagonal entry; its arrays are shared."""
        self._lower = lower
        self._out = np.zeros(lower.shape[0])

    def of(self, lower: sp.csc_matrix) -> bool:
        """Whether this object is for the matrix `lower`."""
        return lower is self._lower

    def __call__(self, x: Vec) -> Vec:
        """Return A x, (m,), which the next call overwrites."""
        multiply_lower(self._lower.data, self._lower.indices, self._lower.indptr, x, self._out)
        return self._out

    def diagonal(self) -> Vec:
        """Return a copy of the diagonal of A, (m,)."""
        values: Vec = self._lower.data[self._lower.indptr[:-1]]
        return values

    def diagonal_blocks(self) -> Vec:
        """Return the 3 x 3 blocks on the diagonal of A, (m / 3, 3, 3)."""
        data, first = self._lower.data, self._lower.indptr[:-1].reshape(-1, 3)
        blocks = np.empty((len(first), 3, 3))
        for c in range(3):
            for r in range(c, 3):
                blocks[:, r, c] = blocks[:, c, r] = data[first[:, c] + r - c]
        return blocks
