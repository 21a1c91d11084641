"""Constraints with multipliers of their own, α λ = −φ: hard at α = 0, equal to the penalty at α = 1/k."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import splu

from ...rows.bilateral import Bilateral
from ...rows.tables import DenseRows
from ...state import Vec
from .interface import Enforced, RowSystem


class Compliant:
    """Compliant enforcement: J v + Σ μ = −φ/s with Σ = α/(a h s) by the Schur complement J A⁻¹ Jᵀ + Σ."""

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return velocities and impulses under compliant rows. compliance: α, (r,) [m/N]. Raises ValueError where rows
        of α = 0 contradict each other.

        [Notes, Compliant Constraints]
        """
        respond = system.respond
        if system.geometric is not None:
            respond = splu(system.matrix - system.impulse * system.seconds * system.geometric).solve
        G = np.ascontiguousarray(system.jacobian.toarray())
        target = -system.value / system.seconds
        rows = Bilateral(DenseRows.equations(G, target, compliance / (system.impulse * system.seconds)), respond)
        v, impulse = rows.solve(respond(system.rhs.reshape(-1, 1))[:, 0])
        refuse_contradiction(rows, G @ v + compliance / (system.impulse * system.seconds) * impulse - target, target, G,
                             v)
        return Enforced(v, impulse, rows.redundant)


LEFT = 1.0e-6  #: of the rows' own velocities: redundant rows that are farther from their targets contradict the others


def refuse_contradiction(rows: Bilateral, left: Vec, target: Vec, G: Vec, v: Vec) -> None:
    """Raise ValueError where redundant rows are violated by the solution of the others. left: errors of all rows [m/s],
    (r,). target: (r,) [m/s]. G: (r, m). v: velocities, (m,) [m/s]."""
    size = max(float(np.abs(target).max(initial=0.0)), float((np.abs(G) @ np.abs(v)).max(initial=0.0)), 1e-300)
    if len(rows.redundant) and float(np.abs(left).max()) > LEFT * size:
        worst = int(np.abs(left).argmax())
        raise ValueError(f"row {worst} contradicts others: all of them together leave {abs(left[worst]):.3g} m/s of it")
