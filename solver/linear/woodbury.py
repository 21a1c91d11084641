"""A factor with a small dense matrix added on some of its unknowns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.linalg

from ..state import Index, Vec


class Solves(Protocol):
    """Protocol of a symmetric positive definite matrix with a factor."""

    @property
    def factored(self) -> int: ...

    def factor(self, *values: Any) -> None: ...

    def solve(self, b: Vec) -> Vec: ...


class WoodburyUpdate:
    """(A + Pᵀ G P)⁻¹ by Woodbury's identity: A of any factor, G symmetric and positive semi-definite on a few rates.

    With G = L Lᵀ and W = A⁻¹ Pᵀ L: A⁻¹ − W (1 + Lᵀ P W)⁻¹ Wᵀ, whose inner matrix is always positive definite.
    """

    def __init__(self, inner: Solves) -> None:
        self._inner = inner
        self._rates: Index
        self.add_nothing()
        self._responses: Vec | None = None

    @property
    def factored(self) -> int:
        """How often `factor` was called."""
        return self._inner.factored

    def add(self, rates: Index, matrix: Vec) -> Vec:
        """G on these unknowns (c,) from the next factor on: the nearest to `matrix` that is positive semi-definite.

        Returns G − matrix, (c, c).
        """
        values, vectors = scipy.linalg.eigh(matrix)
        self._rates, self._root = rates, vectors * np.sqrt(np.maximum(values, 0.0))
        lifted: Vec = (vectors * np.maximum(-values, 0.0)) @ vectors.T
        return lifted

    def add_nothing(self) -> None:
        """Use the matrix A alone from the next factor on."""
        self._rates, self._root = np.zeros(0, dtype=np.int32), np.zeros((0, 0))

    def factor(self, *values: Any) -> None:
        """A's values, as its own factor takes them. Raises what it raises."""
        self._inner.factor(*values)
        self._responses = None

    def solve(self, b: Vec) -> Vec:
        """(A + Pᵀ G P)⁻¹ b, both (m,) or (m, c). What is not finite goes through: the step finds it."""
        alone = self._inner.solve(b)
        if not len(self._rates):
            return alone
        if self._responses is None:
            columns = np.zeros((len(b), self._root.shape[1]))
            columns[self._rates] = self._root
            self._responses = self._inner.solve(columns)
            inside = self._root.T @ self._responses[self._rates]
            inside[np.diag_indices(len(inside))] += 1.0
            self._inside = scipy.linalg.cho_factor(0.5 * (inside + inside.T), check_finite=False)
        reached = scipy.linalg.cho_solve(self._inside, self._root.T @ alone[self._rates], check_finite=False)
        out: Vec = alone - self._responses @ reached
        return out
