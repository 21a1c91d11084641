"""Constraints as a differential-algebraic equation of accelerations: a reference for tests."""

from __future__ import annotations

import numpy as np

from ...rows.bilateral import Bilateral
from ...rows.tables import DenseRows
from ...state import Vec
from ..points.rows import PointRows


class Acceleration:
    """Constraints on accelerations: [M −Jᵀ; J 0] [a; λ] = [f; −J̇ v − 2 ω J v − ω² φ], (J̇ v)_i = vᵀ φ_i″ v.

    Without ω an error of φ grows linearly in time; with it φ goes to 0 as e^{−ωt} (1 + ω t) does (Baumgarte).
    """

    def __init__(self, rate: float = 0.0) -> None:
        """rate: ω [1/s]."""
        self._rate = rate

    def solve(self, mass: Vec, force: Vec, rows: PointRows, v: Vec) -> tuple[Vec, Vec]:
        """Return accelerations (n, 3) [m/s²] and multipliers λ (r,) [N]. mass: (n,) [kg]. force: (n, 3) [N]. v: (n, 3)
        [m/s]. Raises ValueError where rows contradict each other. [Notes, Hard Constraints]"""
        count = len(mass)
        G = np.ascontiguousarray(rows.jacobian(count).toarray())
        each = np.repeat(mass, 3)
        centripetal = np.empty(len(rows.value))
        y = np.einsum("mw,mwi->mi", rows.weights, v[rows.nodes])[rows.joint]
        along = np.einsum("ri,ri->r", y, rows.direction)
        centripetal = rows.bend * (np.einsum("ri,ri->r", y, y) - along**2)
        target = -centripetal - 2.0 * self._rate * (G @ v.ravel()) - self._rate**2 * rows.value
        solved = Bilateral(DenseRows.equations(G, target), lambda rhs: rhs / each[:, None])
        a, multiplier = solved.solve(force.ravel() / each)
        return a.reshape(-1, 3), multiplier
