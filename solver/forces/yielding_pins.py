"""Pins that give way: springs as stiff as a step can follow, so that what is pressed against something stays there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec
from .pulls import Pull


class YieldingPins(Pull):
    """Of one body. It tells when they first give way, and where they did most."""

    def __init__(self, name: str, nodes: Index, stiffness: Vec, places: OverTime, told_from: float,
                 frame_at: Callable[[float], float]) -> None:
        """name: the body's. nodes, stiffness, places: as of a pull. told_from: how far off they are when that is told
        [m]. frame_at: the frame that a time [s] belongs to."""
        super().__init__(nodes, stiffness, places)
        self._name, self._told_from, self._frame_at = name, told_from, frame_at
        self._worst, self._where = 0.0, ""

    def look(self, x: Vec, time: float) -> str:
        """A sentence for the log where they gave way for the first time at positions (n, 3) [m]."""
        off = np.linalg.norm(x[self.nodes] - self.places.at(time), axis=1)
        furthest = int(off.argmax())
        if off[furthest] <= max(self._worst, self._told_from):
            return ""
        first, self._worst = not self._worst, float(off[furthest])
        place = ", ".join(f"{c:.4g}" for c in x[self.nodes[furthest]])
        self._where = f"at frame {self._frame_at(time):.4g} near ({place}) m"
        return f'The pins of "{self._name}" begin to give way to what is before them {self._where}' if first else ""

    @property
    def summary(self) -> list[str]:
        """How far they gave way at most."""
        if not self._worst:
            return []
        return [f'The pins of "{self._name}" gave way by up to {self._worst:.3g} m, {self._where}']
