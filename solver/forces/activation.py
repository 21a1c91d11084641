"""How active something is over time: a muscle, a pull."""

from __future__ import annotations

from ..coordinates.prescribed import OverTime


class Activation:
    """A number in [0, 1] at every time."""

    def __init__(self, curve: OverTime) -> None:
        """curve: (1,) at a time."""
        self._curve = curve

    def at(self, time: float) -> float:
        """The activation at `time` [s]; where the curve overshoots between samples, its nearest end."""
        return float(min(max(self._curve.at(time)[0], 0.0), 1.0))
