"""Subsystems with soft bodies: the size of their steps by what their integrator knows of its error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

from ..integrators.control import Controller
from ..integrators.interface import Integrator
from ..state import State
from .interface import Part, Subsystem
from .nodes_part import NodesPart


class SteppedSoft(Subsystem):
    """Soft bodies that are stepped by an integrator, alone or with their carriers."""

    integrator: Integrator

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return its parts, the soft bodies first."""

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of steps with errors below `tolerance`; largest: number of largest steps in a frame."""
        return Controller(tolerance, self.integrator.order, self.integrator.equal_steps, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the error of a step of h seconds at the worst soft node, relative to the size of its body."""
        soft = cast(NodesPart, self.parts[0])
        return soft.error_by(self.integrator, self.parted(before)[0], self.parted(after)[0], h)
