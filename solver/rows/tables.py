"""Rows of a dense program, in the rates of all unknowns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..state import Vec


@dataclass(frozen=True)
class BilateralRows:
    """Equations G u + Σ λ = g."""

    G: Vec  #: (r, m)
    target: Vec  #: g, (r,)
    compliance: Vec  #: Σ, (r,); 0 of hard rows

    @classmethod
    def none(cls, unknowns: int) -> BilateralRows:
        """Return a table without rows."""
        return cls(np.zeros((0, unknowns)), np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class UnilateralRows:
    """Rows with bounded impulses: N u ≥ c where the impulse may be 0 … ∞. The first k of them are contacts."""

    N: Vec  #: (p, m)
    target: Vec  #: c, (p,)
    low: Vec  #: least impulses, (p,)
    high: Vec  #: largest, (p,)

    def stacked(self, cones: ConeRows) -> tuple[Vec, Vec]:
        """Return all rows, those of cones last, (p + 2 k, m): for products with them, and as a dense matrix."""
        rows = np.concatenate([self.N, cones.T])
        return rows, rows


@dataclass(frozen=True)
class SparseUnilateralRows(UnilateralRows):
    """Unilateral rows as a sparse matrix, without cones."""

    N: sp.csr_matrix

    def stacked(self, cones: ConeRows) -> tuple[sp.csr_matrix, Vec]:
        """Return the rows as they are and as a dense matrix, (p, m)."""
        return self.N, self.N.toarray()


@dataclass(frozen=True)
class ConeRows:
    """Two rows along the surface of each of the k contacts: |impulse| ≤ μ × normal impulse."""

    T: Vec  #: (2 k, m)
    target: Vec  #: (2 k,)
    friction: Vec  #: μ, (k,)

    @classmethod
    def none(cls, unknowns: int) -> ConeRows:
        """Return a table without rows."""
        return cls(np.zeros((0, unknowns)), np.zeros(0), np.zeros(0))
