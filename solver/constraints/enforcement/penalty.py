"""Constraints as potentials ½ k φ² in the stage's own matrix."""

from __future__ import annotations

import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ...state import Vec
from .interface import Enforced, RowSystem


class Penalty:
    """Penalty enforcement, f = −Jᵀ φ/α and K = −Jᵀ J/α + Σ λ φ″: exact as α → 0, except for the condition of the
    matrix."""

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return velocities v with (A + a b h² Jᵀ J/α) v = b − a h Jᵀ φ/α, and impulses of the rows. Raises ValueError
        where an α is 0.

        [Notes, Penalty Forces]
        """
        if not (compliance > 0.0).all():
            raise ValueError("a penalty needs a compliance above 0")
        J, k = system.jacobian, 1.0 / compliance
        matrix = system.matrix + system.impulse * system.seconds * (J.T @ sp.diags_array(k) @ J)
        if system.geometric is not None:
            matrix = matrix - system.impulse * system.seconds * system.geometric
        v = splu(sp.csc_array(matrix)).solve(system.rhs - system.impulse * (J.T @ (k * system.value)))
        return Enforced(v, -system.impulse * k * (system.value + system.seconds * (J @ v)))
