"""Directions in which a stage's velocities are given: what is solved for is across them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..linear.interface import Factoring
from ..state import Index, Vec
from .around_factor import AroundFactor


@dataclass(frozen=True)
class GivenDirections:
    """Xᵀ M v = rates for X with Xᵀ M X = 1, in the order of the free nodes or, after `ordered`, in that of unknowns."""

    basis: Vec  #: X, (3 f, s) [kg^−½]
    weighted: Vec  #: M X, (3 f, s)
    rates: Vec  #: (s,)

    def ordered(self, rank: Index) -> GivenDirections:
        """The same with rows of nodes in another order. rank: (f,)."""
        width = self.basis.shape[1]
        basis, weighted = (rows.reshape(-1, 3 * width)[rank].reshape(-1, width) for rows in (self.basis, self.weighted))
        return GivenDirections(basis, weighted, self.rates)

    def meet(self, v: Vec) -> Vec:
        """The velocities nearest to v, both (3 f,), that are as given."""
        return v + self.basis @ (self.rates - self.weighted.T @ v)

    def across(self, direction: Vec) -> Vec:
        """A direction, (3 f,), without what would change the given rates."""
        return direction - self.basis @ (self.weighted.T @ direction)

    def left(self, residual: Vec) -> Vec:
        """A residual, (3 f,), without what holds the given rates."""
        return residual - self.weighted @ (self.basis.T @ residual)


class AcrossGiven(AroundFactor):
    """A factor whose answers leave the held rates: A d = r − M X μ, Xᵀ M d = 0. [Ascher 26]"""

    def __init__(self, linear: Factoring, held: GivenDirections) -> None:
        """linear: analysed; held: in the order of its unknowns."""
        super().__init__(linear)
        self._held = held
        self._yielding: Vec | None = None

    def factor(self, lower: sp.csc_matrix, places: Vec | None = None) -> None:
        """Factor A. Raises NotPositiveDefinite."""
        self._yielding = None
        self._inner.factor(lower, places)

    def solve(self, right: Vec) -> Vec:
        """d for r, both (m,)."""
        if self._yielding is None:
            self._yielding = self._inner.solve(self._held.weighted)
        weighted, free = self._held.weighted, self._inner.solve(right)
        answer: Vec = free - self._yielding @ np.linalg.solve(weighted.T @ self._yielding, weighted.T @ free)
        return answer
