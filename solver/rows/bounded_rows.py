"""Rows with a constant Jacobian and varying bounds: friction, with normal impulses from another program."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..state import Vec
from .bilateral import Respond
from .bounded import BoundedProgram
from .names import RowMultipliers
from .tables import DenseRows


class BoundedRows:
    """min ½ uᵀ A u − uᵀ b under G u + Σ λ = g with λ within bounds, by its dual, for varying b and bounds.

    W = G A⁻¹ Gᵀ + Σ is computed once; A may be the matrix of a step that includes the response of its other rows. Rows
    that are all equations are solved by one Cholesky factor, others by a `BoundedProgram`. Redundant rows need a
    compliance.
    """

    def __init__(self, rows: DenseRows, respond: Respond, start: Vec | None = None) -> None:
        """rows: their bounds may be replaced in each solution. respond: A⁻¹ of impulses on unknowns, (m, c). start:
        multipliers of an earlier solution, (r,), which save time; None for none."""
        self.rows, self._start = rows, start
        #: A⁻¹ Gᵀ, (m, r)
        self.Y: Vec = respond(np.ascontiguousarray(rows.G.T)) if len(rows) else np.zeros(rows.G.T.shape)
        self._response: Vec = rows.G @ self.Y  #: velocities of rows by multipliers, without compliance, (r, r)
        self._W: Vec = self._response + self._response.T
        self._W *= 0.5
        np.einsum("ii->i", self._W)[:] += rows.compliance
        self._factor: tuple[Vec, bool] | None = None
        self._program: BoundedProgram | None = None

    @property
    def iterations(self) -> int:
        """Return the number of iterations of all solutions so far; 0 where rows are equations."""
        return self._program.iterations if self._program else 0

    def name_multipliers(self, multiplier: Vec) -> RowMultipliers:
        """Return multipliers, (r,), with the names of the rows."""
        return RowMultipliers(self.rows.name, multiplier)

    def solve(self, u: Vec, bounds: tuple[Vec, Vec] | None = None, present: Vec | None = None) -> Vec:
        """Return the multipliers, (r,). Raises StepFailed where there is no solution, ValueError where a row is not
        finite, LinAlgError where equations have no Cholesky factor.

        u: unknowns without the rows, (m,), or, with `present`, under these multipliers, (r,). bounds: least and largest
        multipliers instead of the rows' own, (r,) each.
        """
        velocity = self.rows.G @ u
        if present is not None:
            velocity -= self._response @ present
        velocity -= self.rows.target
        if bounds is None and self._factor is None and self.rows.is_equation.all():
            self._factor = cho_factor(self._W)
        if bounds is None and self._factor is not None:
            multiplier: Vec = -cho_solve(self._factor, velocity)
            return multiplier
        if self._program is None:
            self._program = BoundedProgram(self._W, velocity, self._start)
        return self._program.solve(velocity, *(bounds or (self.rows.low, self.rows.high)))
