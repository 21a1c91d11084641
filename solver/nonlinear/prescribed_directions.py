"""Directions in which a stage's velocities are prescribed; the solution is sought in their complement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..linear.interface import Factoring
from ..state import Index, Vec
from .factor_wrapper import FactorWrapper


@dataclass(frozen=True)
class PrescribedDirections:
    """Xᵀ M v = rates for X with Xᵀ M X = 1, in the order of the free nodes or, after `ordered`, in that of the
    unknowns."""

    basis: Vec  #: X, (3 f, s) [kg^−½]
    weighted: Vec  #: M X, (3 f, s)
    rates: Vec  #: (s,)

    def ordered(self, rank: Index) -> PrescribedDirections:
        """Return a copy whose node rows are in another order. rank: (f,)."""
        width = self.basis.shape[1]
        basis, weighted = (rows.reshape(-1, 3 * width)[rank].reshape(-1, width) for rows in (self.basis, self.weighted))
        return PrescribedDirections(basis, weighted, self.rates)

    def impose(self, v: Vec) -> Vec:
        """Return the velocities nearest to v in the mass norm, both (3 f,), that have the prescribed rates."""
        return v + self.basis @ (self.rates - self.weighted.T @ v)

    def direction_across(self, direction: Vec) -> Vec:
        """Project a direction, (3 f,), onto those that keep the prescribed rates."""
        return direction - self.basis @ (self.weighted.T @ direction)

    def residual_across(self, residual: Vec) -> Vec:
        """Return a residual, (3 f,), less the constraint forces of the prescribed rates."""
        return residual - self.weighted @ (self.basis.T @ residual)


class ConstrainedFactor(FactorWrapper):
    """A factor whose solutions keep the prescribed rates: A d = r − M X μ, Xᵀ M d = 0. [Ascher 26]"""

    def __init__(self, linear: Factoring, prescribed_directions: PrescribedDirections) -> None:
        """linear: analysed. prescribed_directions: in the order of its unknowns."""
        super().__init__(linear)
        self._prescribed = prescribed_directions
        self._response: Vec | None = None

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor A. Raises NotPositiveDefinite."""
        self._response = None
        self._inner.factor(lower, positions)

    def solve(self, right: Vec) -> Vec:
        """Return d for r, both (m,)."""
        if self._response is None:
            self._response = self._inner.solve(self._prescribed.weighted)
        weighted, free = self._prescribed.weighted, self._inner.solve(right)
        solution: Vec = free - self._response @ np.linalg.solve(weighted.T @ self._response, weighted.T @ free)
        return solution
