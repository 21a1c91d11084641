"""Bilateral rows, solved by their dual, and the response of a system under them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Index, Vec
from .bilateral_kernels import CONTRADICT, NOT_FINITE, factor_rows, solve_rows
from .tables import DenseRows

#: Δu = A⁻¹ b for b (m, c), the posed system's response to impulses on rates
Respond = Callable[[Vec], Vec]



class Bilateral:
    """min ½ uᵀ A u − uᵀ b under G u + Σ λ = g, with A u = b + Gᵀ λ, by its dual W λ = g − G u_free.

    W = G A⁻¹ Gᵀ + Σ is small and dense. Rows are scaled so that its diagonal is one, for radians and metres alike. Rows
    that depend on others make it singular: then all rows get the compliance `softened`, and `redundant` lists the
    dependent ones. Rows that no rate moves are left out. [Thesis 3.8]
    """

    #: pivot of the rows scaled to a diagonal of ones, up to which others imply a row
    dependent = 1.0e-9
    softened = 1.0e-10  #: compliance relative to a row's own, where some rows are implied by others

    def __init__(self, rows: DenseRows, respond: Respond, response: Vec | None = None) -> None:
        """rows: equations. respond: A⁻¹. response: A⁻¹ Gᵀ, (m, r), where it is known; None: it is computed.

        Raises ValueError where a number is not finite or rows contradict each other.
        """
        G = rows.G
        self.rows, self.G, self.plain = rows, G, respond
        if response is None:
            response = np.ascontiguousarray(respond(np.ascontiguousarray(G.T)))
        self.Y: Vec = response  #: A⁻¹ Gᵀ, (m, r)
        r = len(G)
        self._L, self._scale, self._order = np.zeros((r, r)), np.empty(r), np.empty(r, dtype=np.int64)
        self._rank = int(factor_rows(G, response, rows.compliance, self.dependent, self.softened, self._L, self._scale,
                                     self._order))
        if self._rank == NOT_FINITE:
            raise ValueError("the rows are not finite")
        if self._rank == CONTRADICT:
            raise ValueError("the rows contradict one another")

    @property
    def redundant(self) -> Index:
        """Return indices of the rows that others imply or that no rate moves, ascending."""
        rows: Index = np.union1d(self._order[self._rank:], np.flatnonzero(self._scale == 0.0)).astype(np.int32)
        return rows

    def multipliers(self, missing: Vec) -> Vec:
        """Return λ = W⁻¹ missing, both (r,) or (r, c): impulses that change the rows' velocities by `missing`."""
        if not len(self.G):
            return missing
        columns = np.ascontiguousarray(missing.reshape(len(missing), -1))
        out = np.empty_like(columns)
        solve_rows(self._L, self._scale, self._order, columns, out)
        return out.reshape(missing.shape)

    def solve(self, free: Vec) -> tuple[Vec, Vec]:
        """Return u, (m,), and λ, (r,), from the rates without rows, (m,)."""
        multiplier = self.multipliers(self.rows.target - self.G @ free)
        return free + self.Y @ multiplier, multiplier

    def respond(self, impulses: Vec) -> Vec:
        """Return Δu by impulses on rates under the rows, both (m, c): A⁻¹ − Y W⁻¹ Yᵀ, which is symmetric."""
        free = self.plain(impulses)
        return free - self.Y @ self.multipliers(self.G @ free)
