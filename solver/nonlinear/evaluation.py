"""A trial point of a stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Vec


@dataclass(frozen=True)
class Evaluation:
    """A trial point of a stage, with its residual and merit."""

    unknowns: Vec  #: velocities of the unknown nodes [m/s], (3 p,)
    residual: Vec  #: M (v − v̂) − a h f, (3 p,) [N s]
    merit: float | None  #: ½ |v − v̂|²_M + (a/b) W, whose gradient is the residual [J]; None without an energy W

    @property
    def size(self) -> float:
        """Return the largest absolute entry of the residual [N s]."""
        return float(np.abs(self.residual).max(initial=0.0))

    @property
    def norm(self) -> float:
        """Return the Euclidean norm of the residual [N s]."""
        return float(np.linalg.norm(self.residual))
