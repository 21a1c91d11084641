"""Pins that give way: springs as stiff as a step can follow, so that what is pressed against something stays there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec
from .pulls import Pull
from .stencils import Stencils


class YieldingPins(Pull):
    """Of one body. It tells when they first give way, and where they did most."""

    _what = "The pins"

    def __init__(self, name: str, nodes: Index, stiffness: Vec, places: OverTime, told_from: float,
                 frame_at: Callable[[float], float]) -> None:
        """name: the body's. nodes, stiffness, places: as of a pull. told_from: how far off they are when that is told
        [m]. frame_at: the frame that a time [s] belongs to."""
        super().__init__(nodes, stiffness, places)
        self._name, self._told_from, self._frame_at = name, told_from, frame_at
        self._worst, self._where = 0.0, ""

    def look(self, x: Vec, time: float) -> str:
        """A sentence for the log where they gave way for the first time at positions (n, 3) [m]."""
        off = np.linalg.norm(x[self.nodes] - self._goals(x, time), axis=1)
        furthest = int(off.argmax())
        if off[furthest] <= max(self._worst, self._told_from):
            return ""
        first, self._worst = not self._worst, float(off[furthest])
        place = ", ".join(f"{c:.4g}" for c in x[self.nodes[furthest]])
        self._where = f"at frame {self._frame_at(time):.4g} near ({place}) m"
        return f'{self._what} of "{self._name}" begin to give way to what is before them {self._where}' if first else ""

    def _goals(self, x: Vec, time: float) -> Vec:
        """Where they are to be, (k, 3) [m]."""
        places: Vec = self.places.at(time)
        return places

    @property
    def summary(self) -> list[str]:
        """How far they gave way at most."""
        if not self._worst:
            return []
        return [f'{self._what} of "{self._name}" gave way by up to {self._worst:.3g} m, {self._where}']


class YieldingGrip(YieldingPins):
    """Springs from nodes of flesh to points that ride on its bones, which feel them. Its force is one between nodes: as
    a pull it only tells when it gives way."""

    _what = "What bones hold"

    def __init__(self, name: str, nodes: Index, anchors: Index, stiffness: Vec, places: OverTime, told_from: float,
                 frame_at: Callable[[float], float]) -> None:
        """anchors: the nodes that ride, (k,). The rest as of yielding pins; places: at the start."""
        super().__init__(name, nodes, stiffness, places, told_from, frame_at)
        self._pairs = np.column_stack([nodes, anchors]).astype(np.int32)
        self._grip = stiffness

    def measure(self, x: Vec, time: float) -> Stencils:
        """f = ∓k (x_i − x_a) at positions (n, 3) [m], without blocks."""
        return self._told(x, np.zeros((0, 1, 9)))

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """The same with blocks."""
        return self._told(x, self._grip[:, None, None] * np.eye(3).ravel())

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """It does not."""

    def _told(self, x: Vec, blocks: Vec) -> Stencils:
        away = x[self._pairs[:, 0]] - x[self._pairs[:, 1]]
        force = self._grip[:, None] * away
        return Stencils(self._pairs, np.stack([-force, force], axis=1), blocks, 0.5 * float(np.vdot(force, away)))

    def _goals(self, x: Vec, time: float) -> Vec:
        """Where the bones are."""
        places: Vec = x[self._pairs[:, 1]]
        return places

    def at_work(self, time: float) -> bool:
        """Not as a pull."""
        return False

    def add_force(self, x: Vec, time: float, force: Vec) -> float:
        """Nothing: what it does is between nodes."""
        return 0.0

    def add_stiffness(self, time: float, blocks: Vec) -> None:
        """Nothing."""
