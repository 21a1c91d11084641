"""Trial positions of a line search towards the equilibrium of quasistatic nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Vec


@dataclass(frozen=True)
class Balance:
    """Trial positions on the line towards equilibrium, with their residual force and merit."""

    x: Vec  #: (n, 3) [m]
    rest: Vec  #: residual force, (n, 3) [N]
    merit: float  #: W + M a · x [J]
    unbalanced: Vec  #: residual on the quasistatic rows, without constraint forces of patches, (3 q,) [N]

    @property
    def size(self) -> float:
        """Return the largest component of the residual on the quasistatic rows [N]."""
        return float(np.abs(self.unbalanced).max(initial=0.0))

    @property
    def norm(self) -> float:
        """Return the Euclidean norm of the residual on the quasistatic rows [N]."""
        return float(np.linalg.norm(self.unbalanced))
