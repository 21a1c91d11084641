"""Damping forces in one stage."""

from __future__ import annotations

import numpy as np

from ..assembly.damping import Damped
from ..state import Vec


class LastDrag:
    """Damping forces D v of a stage, cached for the last velocities, at which other forces are evaluated, too."""

    def __init__(self, damped: Damped) -> None:
        self._damped, self._v = damped, np.zeros((0, 3))
        self._force: Vec = self._v

    def at(self, v: Vec) -> Vec:
        """Return the damping forces D v, (n, 3) [N], at velocities (n, 3) [m/s]."""
        if not np.array_equal(v, self._v):
            self._v, self._force = v, self._damped.force(v)
        return self._force
