"""How active a muscle is over time."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import Motion
from ..state import Vec


class Activation:
    """A number in [0, 1] at every time, through equally spaced samples."""

    def __init__(self, samples: Vec, interval: float) -> None:
        """samples: (T,) at 0, interval, 2 interval, … [s]."""
        self._motion = Motion(np.asarray(samples, dtype=np.float64).reshape(-1, 1), interval)

    def at(self, time: float) -> float:
        """The activation at `time` [s]; where the curve overshoots between samples, its nearest end."""
        return float(min(max(self._motion.at(time)[0], 0.0), 1.0))
