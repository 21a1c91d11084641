"""Activation of a muscle or of a pull over time."""

from __future__ import annotations

from ..coordinates.prescribed import OverTime


class Activation:
    """Activation in [0, 1] as a function of time."""

    def __init__(self, curve: OverTime) -> None:
        """curve: (1,) at a time [s]."""
        self._curve = curve

    def at(self, time: float) -> float:
        """Return the activation at `time` [s], clipped to [0, 1] where the curve overshoots between samples."""
        return float(min(max(self._curve.at(time)[0], 0.0), 1.0))
