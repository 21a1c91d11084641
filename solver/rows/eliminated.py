"""Bilateral rows that are eliminated from the unknowns along given directions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..state import Index, Vec
from .names import Multipliers
from .tables import DenseRows


@dataclass(frozen=True)
class EliminatedRows:
    """min ½ uᵀ A u − uᵀ b under s hard equations G u = g, by their elimination: u = B g + w with G B = 1, G w = 0.

    B is given with the rows, such as M⁻¹ Gᵀ where G M⁻¹ Gᵀ = 1. Iterates satisfy the rows, their residuals have no
    component along B, and each row costs one solve with a factor. [Ascher 26]
    """

    rows: DenseRows  #: unknowns in the order of the free nodes or, after `reorder`, in that of its argument
    directions: Vec  #: B, (m, s)

    def reorder(self, rank: Index) -> EliminatedRows:
        """Return the rows for another order of nodes, with three unknowns each. rank: index of each node in the present
        order, (f,)."""
        width = len(self.rows)
        directions, transposed = (columns.reshape(-1, 3 * width)[rank].reshape(-1, width)
                                  for columns in (self.directions, self.rows.G.T))
        return EliminatedRows(replace(self.rows, G=transposed.T), directions)

    def impose(self, u: Vec) -> Vec:
        """Return the rates, (m,), that satisfy the rows and differ from u (m,) along B alone."""
        return u + self.directions @ (self.rows.target - self.rows.G @ u)

    def direction_across(self, direction: Vec) -> Vec:
        """Return the projection of a direction, (m,), onto those that no row resists."""
        return direction - self.directions @ (self.rows.G @ direction)

    def residual_across(self, residual: Vec) -> Vec:
        """Return a residual A u − b, (m,), less the impulses of the rows."""
        return residual - self.rows.G.T @ self._impulses(residual)

    def multipliers(self, residual: Vec) -> Multipliers:
        """Return the rows' impulses from the residual A u − b of the minimum without these, (m,)."""
        return Multipliers.of((self.rows.name, self._impulses(residual)))

    def _impulses(self, residual: Vec) -> Vec:
        """Return the impulses of the rows from the residual of all unknowns."""
        impulses: Vec = self.directions.T @ residual
        return impulses

    def solve(self, free: Vec, response: Vec) -> tuple[Vec, Vec]:
        """Return u, (m,), and the rows' impulses, (s,), from the rates without rows, (m,). response: A⁻¹ Gᵀ, (m, s)."""
        off: Vec = np.linalg.solve(self.rows.G @ response, self.rows.G @ free - self.rows.target)
        return free - response @ off, -off
