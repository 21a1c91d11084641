"""Compliant pins: springs as stiff as a step can follow, so that obstacles can stop pinned nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec
from .pulls import Pull
from .stencils import Stencils


class CompliantPins(Pull):
    """Compliant pins of one body. The log reports when they first give way and where they gave way most."""

    _what = "The pins"

    def __init__(self, name: str, nodes: Index, stiffness: Vec, targets: OverTime, reported_from: float,
                 frame_at: Callable[[float], float]) -> None:
        """name: the body's. nodes: (k,). stiffness: of each spring [N/m], (k,). targets: of the nodes, (k, 3) [m]
        at a time. reported_from: least distance that is reported [m]. frame_at: the frame of a time [s]."""
        super().__init__(nodes, stiffness, targets)
        self._name, self._reported_from, self._frame_at = name, reported_from, frame_at
        self._worst, self._where = 0.0, ""

    def look(self, x: Vec, time: float) -> str:
        """Return a sentence for the log where the pins give way for the first time, at positions x (n, 3) [m]; else
        ""."""
        off = np.linalg.norm(x[self.nodes] - self._goals(x, time), axis=1)
        furthest = int(off.argmax())
        if off[furthest] <= max(self._worst, self._reported_from):
            return ""
        first, self._worst = not self._worst, float(off[furthest])
        position = ", ".join(f"{c:.4g}" for c in x[self.nodes[furthest]])
        self._where = f"at frame {self._frame_at(time):.4g} near ({position}) m"
        return f'{self._what} of "{self._name}" begin to give way to an obstacle {self._where}' if first else ""

    def _goals(self, x: Vec, time: float) -> Vec:
        """Return the targets of the nodes, (k, 3) [m]."""
        targets: Vec = self.targets.at(time)
        return targets

    @property
    def summary(self) -> list[str]:
        """Return a sentence with the largest distance by which the pins gave way; none where they did not."""
        if not self._worst:
            return []
        return [f'{self._what} of "{self._name}" gave way by up to {self._worst:.3g} m, {self._where}']


class CompliantAttachment(CompliantPins):
    """Springs from nodes of soft tissue to points of its bones, with reactions.

    The force is between nodes; as a pull, the attachment only reports when it gives way.
    """

    _what = "What bones hold"

    def __init__(self, name: str, nodes: Index, anchors: Index, stiffness: Vec, targets: OverTime, reported_from: float,
                 frame_at: Callable[[float], float]) -> None:
        """name: the body's. nodes: (k,). anchors: the attached nodes on bones, (k,). stiffness: of each spring [N/m],
        (k,). targets: of the anchors at the start, (k, 3) [m] at a time. reported_from: least distance that is reported
        [m]. frame_at: the frame of a time [s]."""
        super().__init__(name, nodes, stiffness, targets, reported_from, frame_at)
        self._pairs = np.column_stack([nodes, anchors]).astype(np.int32)
        self._spring = stiffness

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return the forces ∓k (x_i − x_a) and their energy at positions x (n, 3) [m], without blocks."""
        return self._stencils(x, np.zeros((0, 1, 9)))

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return the forces, their energy and blocks at positions x (n, 3) [m]."""
        return self._stencils(x, self._spring[:, None, None] * np.eye(3).ravel())

    def damp(self, x: Vec, v: Vec, time: float) -> None:
        """Return None: the springs have no damping."""

    def _stencils(self, x: Vec, blocks: Vec) -> Stencils:
        """Return forces and energy of springs between nodes and anchors at positions x (n, 3) [m]. blocks: of K, (k, 1,
        9) [N/m]."""
        away = x[self._pairs[:, 0]] - x[self._pairs[:, 1]]
        force = self._spring[:, None] * away
        return Stencils(self._pairs, np.stack([-force, force], axis=1), blocks, 0.5 * float(np.vdot(force, away)))

    def _goals(self, x: Vec, time: float) -> Vec:
        """Return the positions of the anchors, (k, 3) [m]."""
        targets: Vec = x[self._pairs[:, 1]]
        return targets

    def at_work(self, time: float) -> bool:
        """Return False: the attachment does not act as a pull."""
        return False

    def add_force(self, x: Vec, time: float, force: Vec) -> float:
        """Return 0 and add nothing: the forces are those of `measure` and `fill`."""
        return 0.0

    def add_stiffness(self, time: float, blocks: Vec) -> None:
        """Add nothing: the stiffness is that of `fill`."""
