"""Preconditioned conjugate gradients for inexact Newton directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Vec


class ConjugateGradients:
    """Preconditioned conjugate gradients for A x = b, until |A x − b| in the preconditioner's norm has fallen by a
    factor. A solve stops at the first direction of negative curvature, with the best descent direction up to there.
    [Thesis Alg. 5.4]"""

    def __init__(self, tolerance: float, most: int) -> None:
        """tolerance: admissible residual relative to the first. most: limit of iterations of one solve."""
        self.tolerance, self.most = tolerance, most
        self.taken = 0  #: iterations of the last solve
        self.negative_curvature = False  #: whether it ended at negative curvature
        self.was_cut = False  #: whether it ended before the tolerance was met
        self._arrays = np.zeros((4, 0))

    def solve(self, multiply: Callable[[Vec], Vec], rhs: Vec, precondition: Callable[[Vec], Vec],
              most: int | None = None) -> Vec:
        """Return an approximate solution x of A x = rhs, both (m,). multiply, precondition: A v and P⁻¹ v of v (m,);
        each result is used before the next call. most: limit of iterations in this solve, None for that of the
        constructor."""
        if self._arrays.shape[1] != len(rhs):
            self._arrays = np.zeros((4, len(rhs)))
        x, r, p, scratch = self._arrays
        x[:], r[:] = 0.0, rhs
        z = precondition(r)
        p[:] = z
        square = float(r @ z)
        goal = self.tolerance**2 * square
        self.taken, self.negative_curvature = 0, False
        most = self.most if most is None else most
        while self.taken < most and square > goal:
            along = multiply(p)
            curvature = float(p @ along)
            if curvature <= 0.0:
                self.negative_curvature = True
                break
            step = square / curvature
            x += np.multiply(p, step, out=scratch)
            r -= np.multiply(along, step, out=scratch)
            z = precondition(r)
            before, square = square, float(r @ z)
            p *= square / before
            p += z
            self.taken += 1
        self.was_cut = square > goal and not self.negative_curvature
        solution: Vec = (p if self.negative_curvature and self.taken == 0 else x).copy()
        return solution
