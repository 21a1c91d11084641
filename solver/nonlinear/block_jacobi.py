"""Block Jacobi preconditioner of Newton's method without a factor: the inverse 3 x 3 blocks on the diagonal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.product import Product
from ..linear.block_kernels import multiply_blocks
from ..state import Vec


class BlockJacobi:
    """Block Jacobi preconditioner P: the 3 x 3 diagonal blocks of the matrix of one iteration."""

    def __init__(self) -> None:
        self._inverse, self._out = np.zeros((0, 3, 3)), np.zeros(0)

    def of(self, product: Product) -> Callable[[Vec], Vec]:
        """Invert the diagonal blocks of a matrix (m, m); return `solve`. Raises LinAlgError where a block is singular.
        """
        self._inverse = np.linalg.inv(product.diagonal_blocks())
        if len(self._out) != 3 * len(self._inverse):
            self._out = np.zeros(3 * len(self._inverse))
        return self.solve

    def solve(self, rhs: Vec) -> Vec:
        """Return P⁻¹ r of a right-hand side r, both (m,), in an array that the next call overwrites."""
        multiply_blocks(self._inverse, rhs, self._out)
        return self._out
