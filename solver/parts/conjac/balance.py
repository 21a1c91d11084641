"""Positions on the way to the equilibrium of quasistatic nodes, as a line search compares them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Vec


@dataclass(frozen=True)
class Balance:
    """Positions on the way to balance."""

    x: Vec  #: (n, 3) [m]
    rest: Vec  #: force that nothing balances, (n, 3) [N]
    merit: float  #: W + M a · x [J]
    unbalanced: Vec  #: the same on quasistatic rows, without what holds patches

    @property
    def size(self) -> float:
        """Its largest component [N]."""
        return float(np.abs(self.unbalanced).max(initial=0.0))

    @property
    def norm(self) -> float:
        """[N]"""
        return float(np.linalg.norm(self.unbalanced))
