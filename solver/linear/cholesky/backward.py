"""Condensation J = −A_qq⁻¹ A_qk from one backward solve, with any Cholesky factor that solves with L and Lᵀ
separately."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...state import Index, Vec


class Backward:
    """Backward solve for J: Lᵀ Y = [0; L_kkᵀ], the lower rows those of the retained unknowns, has the solution Y = [J;
    1]. [ConJac 6]"""

    def __init__(self, permutation: Index, retained: int) -> None:
        """permutation: of the factor, row i of L is unknown permutation[i], (m,). retained: number of unknowns that
        come last."""
        size = len(permutation)
        row_of_unknown = np.empty(size, dtype=np.int64)
        row_of_unknown[permutation] = np.arange(size)
        # slices where the factor kept our order: picking rows one by one costs as much as the solve
        in_order = np.array_equal(row_of_unknown, np.arange(size))
        self._q = slice(0, size - retained) if in_order else row_of_unknown[: size - retained]
        self._k = row_of_unknown[size - retained :]
        self.rows: Index = np.sort(self._k)  #: of L, those of the retained unknowns, (retained,)
        self._sides = np.zeros((size, retained))

    def solve(self, solve_lt: Callable[[Vec], Vec], corner: Vec | None) -> Vec:
        """Return J = −A_qq⁻¹ A_qk, (m − retained, retained).

        solve_lt: returns L⁻ᵀ times its argument, (m, retained), row-major, which it may overwrite. corner: L in rows
        and columns `rows`, (retained, retained); None where it cannot be read: then the solution of Lᵀ Y = [0; 1] has
        Y_q = J Y_k.
        """
        sides = self._sides
        sides[:] = 0.0
        sides[self._k] = np.eye(sides.shape[1])
        if corner is not None:
            sides[self.rows] = corner.T @ sides[self.rows]
        solution = solve_lt(sides)
        jacobian: Vec = np.array(solution[self._q])  # the next solve overwrites this memory
        return jacobian if corner is not None else jacobian @ np.linalg.inv(solution[self._k])
