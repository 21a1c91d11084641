"""Subsystems with soft bodies, whose step size is controlled by the integrator's error estimate."""

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
    """Subsystem of soft bodies that are stepped by an integrator, alone or with their carriers."""

    integrator: Integrator

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return the parts of the subsystem, with the soft bodies first."""

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of the step size for errors below a tolerance, relative to a body's size.

        largest: number of steps in a frame if all are of the largest size.
        """
        return Controller(tolerance, self.integrator.order, self.integrator.equal_steps, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the largest error of a soft node in a step of h seconds, relative to the size of its body."""
        soft = cast(NodesPart, self.parts[0])
        return soft.error_by(self.integrator, self.split_state(before)[0], self.split_state(after)[0], h)
