"""NEWTON-I: Newton's method with conjugate gradients, without any factor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.product import Product
from ..linear.block_kernels import multiply_blocks
from ..state import Vec
from .inexact import InexactNewton
from .interface import StageSolver
from .limits import StopRule
from .problem import StageProblem


class NewtonIterative(StageSolver):
    """Preconditioned by the inverse 3 x 3 blocks on the diagonal. [Thesis 5.5.1]"""

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of StopRule and InexactNewton."""
        self.limits = StopRule.of(params)
        self._newton = InexactNewton(self.limits, params)
        self._out = np.zeros(0)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the root. Raises StepFailed."""
        at = problem.evaluate(guess)
        return self._newton.solve(problem, at, self.limits.goal(problem, at), self._block_jacobi)[0].unknowns

    def _block_jacobi(self, product: Product) -> Callable[[Vec], Vec]:
        inverse = np.linalg.inv(product.diagonal_blocks())
        if len(self._out) != 3 * len(inverse):
            self._out = np.zeros(3 * len(inverse))

        def apply(vector: Vec) -> Vec:
            multiply_blocks(inverse, vector, self._out)
            return self._out

        return apply
