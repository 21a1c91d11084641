"""J from one backward solve, for any Cholesky factor that can be asked for L and Lᵀ apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Vec

HalfSolve = Callable[[Vec], Vec]


class Backward:
    """Lᵀ Y = [0; I] in the kept rows holds J: Y_q = J Y_k. The columns A_qq⁻¹ right join the same solve. [ConJac 6]"""

    def __init__(self, permutation: Vec, kept: int) -> None:
        """permutation: the factor's own, row i of L is unknown permutation[i]. kept: the last unknowns."""
        size = len(permutation)
        self._free, self._kept = size - kept, kept
        place = np.empty(size, dtype=np.int64)
        place[permutation] = np.arange(size)
        # slices where the factor kept our order: picking rows one by one costs as much as the solve
        in_order = np.array_equal(place, np.arange(size))
        self._q = slice(0, self._free) if in_order else place[: self._free]
        self._k = slice(self._free, size) if in_order else place[self._free :]
        self._sides = np.zeros((size, 0), order="F")

    def solve(self, right: Vec, solve_l: HalfSolve, solve_lt: HalfSolve) -> tuple[Vec, Vec]:
        """As LinearSolver.condense."""
        kept, columns = self._kept, right.shape[1]
        if self._sides.shape[1] != kept + columns:
            self._sides = np.zeros((len(self._sides), kept + columns), order="F")
        sides = self._sides
        if columns and self._free:
            sides[self._q, kept:] = right
            sides[self._k, kept:] = 0.0
            sides[:, kept:] = solve_l(sides[:, kept:])
        sides[:, :kept] = 0.0
        sides[self._k, :kept] = np.eye(kept)
        sides[self._k, kept:] = 0.0
        answer = solve_lt(sides)
        below = answer[self._q]
        inverse = np.linalg.inv(answer[self._k][:, :kept])
        return (inverse.T @ below[:, :kept].T).T, below[:, kept:]
