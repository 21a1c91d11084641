"""Factor of a matrix plus a small dense matrix on some of its unknowns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.linalg

from ..state import Index, Vec


class Solves(Protocol):
    """Protocol of the factor of a symmetric positive definite matrix."""

    @property
    def factored(self) -> int:
        """Return how often `factor` was called."""

    def factor(self, *values: Any) -> None:
        """Factor the matrix with these values."""

    def solve(self, b: Vec) -> Vec:
        """Return A⁻¹ b, (m,) or (m, c), with the last factor."""


class WoodburyUpdate:
    """Solver for A + Pᵀ G P by Woodbury's identity: A of any factor, G symmetric positive semi-definite on a few rates.

    With G = L Lᵀ and W = A⁻¹ Pᵀ L the inverse is A⁻¹ − W (1 + Lᵀ P W)⁻¹ Wᵀ, whose inner matrix is always positive
    definite.
    """

    def __init__(self, inner: Solves) -> None:
        self._inner = inner
        self._rates: Index
        self.add_nothing()
        self._responses: Vec | None = None

    @property
    def factored(self) -> int:
        """Return how often `factor` was called."""
        return self._inner.factored

    def add(self, rates: Index, matrix: Vec) -> Vec:
        """Set G from the next `factor` on to the positive semi-definite matrix nearest to `matrix`, (c, c), on unknowns
        `rates`, (c,).

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
        """Factor A. values: arguments of the `factor` of A, whose exceptions are raised."""
        self._inner.factor(*values)
        self._responses = None

    def solve(self, b: Vec) -> Vec:
        """Return (A + Pᵀ G P)⁻¹ b, (m,) or (m, c). Values that are not finite are not detected here."""
        unmodified = self._inner.solve(b)
        if not len(self._rates):
            return unmodified
        if self._responses is None:
            columns = np.zeros((len(b), self._root.shape[1]))
            columns[self._rates] = self._root
            self._responses = self._inner.solve(columns)
            inside = self._root.T @ self._responses[self._rates]
            inside[np.diag_indices(len(inside))] += 1.0
            self._inside = scipy.linalg.cho_factor(0.5 * (inside + inside.T), check_finite=False)
        coefficients = scipy.linalg.cho_solve(self._inside, self._root.T @ unmodified[self._rates], check_finite=False)
        out: Vec = unmodified - self._responses @ coefficients
        return out
