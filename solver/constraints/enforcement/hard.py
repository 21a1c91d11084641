"""Constraints that are satisfied exactly: rows of the Karush-Kuhn-Tucker system, by the posed stage's response."""

from __future__ import annotations

import numpy as np

from ...state import Vec
from .compliant import Compliant
from .interface import Enforced, RowSystem


class Hard(Compliant):
    """Hard enforcement, J v = −φ/s: the Schur complement J A⁻¹ Jᵀ μ = −φ/s − J A⁻¹ b, with tension's stiffness in A."""

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return velocities and impulses under hard rows; `compliance` is not used. Raises ValueError where rows
        contradict each other.

        [Notes, Hard Constraints]
        """
        return super().solve(system, np.zeros_like(compliance))
