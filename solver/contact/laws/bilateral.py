"""Rows that hold both ways: loops and drives. Once eliminated, what is left answers as a system without them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from ...state import Index, Vec

#: Δu = A⁻¹ b for b (m, c), the posed system's answer to impulses on rates
Respond = Callable[[Vec], Vec]

DEPENDENT = 1.0e-9  #: of the scaled trace: a pivot below it is a row that others already say
TINY = float(np.finfo(float).tiny)
SOFTENED = 1.0e-10  #: of the scaled trace: what dependent rows are softened by


class Bilateral:
    """min ½ uᵀ A u − uᵀ b under G u + Σ λ = g, with A u = b + Gᵀ λ, by its dual W λ = g − G u_free.

    W = G A⁻¹ Gᵀ + Σ is small and dense. Rows are scaled so that its diagonal is one, radians and metres alike. Rows
    that depend on others leave it singular: all of them then give way by `SOFTENED` of the trace, and `redundant`
    names them. Rows that no rate moves are left out. [Thesis 3.8]
    """

    def __init__(self, G: Vec, respond: Respond, compliance: Vec) -> None:
        """G: (r, m). respond: A⁻¹. compliance: Σ, (r,). Raises ValueError where a number is not finite."""
        self.G, self.plain = G, respond
        self.Y: Vec = respond(np.ascontiguousarray(G.T))  #: A⁻¹ Gᵀ, (m, r)
        W = G @ self.Y
        W[np.diag_indices_from(W)] += compliance
        if not np.isfinite(W).all():
            raise ValueError("the rows are not finite")
        diagonal: Vec = W.diagonal()
        moved = diagonal > max(1.0e-14 * float(diagonal.max(initial=0.0)), TINY)
        self._scale: Vec = np.where(moved, 1.0 / np.sqrt(np.where(moved, diagonal, 1.0)), 0.0)
        scaled = self._scale[:, None] * W * self._scale
        scaled[~moved, ~moved] = 1.0
        self._factor, pivots, rank, _ = lapack.dpstrf(scaled, tol=DEPENDENT, lower=1)
        self._dependent = np.sort(pivots[rank:] - 1)
        self._held = ~moved
        if rank < len(G):
            scaled[np.diag_indices_from(scaled)] += SOFTENED
            self._factor, failed = lapack.dpotrf(scaled, lower=1)
            if failed:
                raise ValueError("the rows contradict one another")
            self._order = slice(None)
        else:
            self._order = pivots - 1

    @property
    def redundant(self) -> Index:
        """Rows that others already say or that no rate moves, ascending."""
        rows: Index = np.union1d(self._dependent, np.flatnonzero(self._held)).astype(np.int32)
        return rows

    def multipliers(self, missing: Vec) -> Vec:
        """λ = W⁻¹ missing, both (r,) or (r, c): impulses that change the rows' velocities by `missing`."""
        if not len(self.G):
            return missing
        scaled = self._scale[:, None] * missing.reshape(len(missing), -1)
        answer, _ = lapack.dpotrs(self._factor, scaled[self._order], lower=1)
        out = np.empty_like(answer)
        out[self._order] = answer
        multipliers: Vec = (self._scale[:, None] * out).reshape(missing.shape)
        return multipliers

    def solve(self, free: Vec, target: Vec) -> tuple[Vec, Vec]:
        """(u, λ) from the rates without rows, (m,), and the rows' targets, (r,)."""
        multiplier = self.multipliers(target - self.G @ free)
        return free + self.Y @ multiplier, multiplier

    def respond(self, impulses: Vec) -> Vec:
        """Δu of impulses on rates, (m, c), while the rows hold: A⁻¹ − Y W⁻¹ Yᵀ, which is symmetric."""
        free = self.plain(impulses)
        return free - self.Y @ self.multipliers(self.G @ free)
