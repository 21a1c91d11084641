"""Compliant constraints in a symplectic step, without φ″: a reference for tests."""

from __future__ import annotations

import numpy as np

from ...rows.bilateral import Bilateral
from ...rows.tables import DenseRows
from ...state import Vec
from .interface import Enforced, RowSystem

MEAN = 4.0  #: φ̄ = (φ₊ + 2 φ + φ₋)/4, the mean of a step and its neighbours


class Symplectic:
    """Symplectic enforcement, J v₊ + (4/h²) α μ = −(4/h) φ + J v: of second order, with a bounded energy where α > 0. A
    is M."""

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return velocities and impulses under compliant rows. compliance: α, (r,) [m/N]. Raises ValueError where rows
        of α = 0 contradict each other. [Servin 2006]"""
        G, h = np.ascontiguousarray(system.jacobian.toarray()), system.seconds
        target = -MEAN / h * system.value + G @ system.velocity
        rows = Bilateral(DenseRows.equations(G, target, MEAN / h**2 * compliance), system.respond)
        v, impulse = rows.solve(system.respond(system.rhs.reshape(-1, 1))[:, 0])
        return Enforced(v, impulse, rows.redundant)
