"""Results of a step of sliding cloth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...rows.sparse.minimum import Minimum
from ...sheet.sheet_mesh import SheetMesh
from ...state import Vec
from .cone import Cone
from .interface_inertia import InterfaceInertia


@dataclass(frozen=True)
class StepResult:
    """Solution of a step, on the mesh that it began with."""

    mesh: SheetMesh
    on_features: Cone
    solution: Minimum
    deepest: float  #: largest depth of the cloth in an obstacle at its end [m]
    obstacle_impulses: Vec  #: impulses on smooth obstacles, (o, 3) [N s]; (0, 3) where they are not needed
    obstacle_rates: Vec  #: δ of their movers, (c, 3)
    pin_impulses: Vec  #: impulses on pins, of all vertices that have one, (p, 3) [N s]
    pressing: Vec  #: as in `Cloth`


@dataclass(frozen=True)
class InterfaceReaction:
    """Impulses of a step on bodies of other parts, and the deviation of these from their prediction."""

    impulses: Vec  #: on smooth obstacles and then on pins, (o + p, 3) [N s]; (0, 3) where they are not needed
    off: Vec  #: deviation of smooth obstacles from their predicted positions at its end, (o, 3) [m]


@dataclass(frozen=True)
class RemainingStep:
    """Deviation of smooth obstacles from their predicted motion so far in a step."""

    interface: InterfaceInertia | None  #: inertia of the obstacles; None: their motion is prescribed
    off: Vec  #: (o, 3) [m]
    rates: Vec  #: mean of δ, (c, 3)
    done: float = 0.0  #: elapsed part of the step [s]

    @classmethod
    def start_of(cls, interface: InterfaceInertia | None) -> RemainingStep:
        """Return the start of a step. interface: inertia of smooth obstacles; None: their motion is prescribed."""
        nothing = np.zeros((0, 3))
        return cls(interface, nothing, nothing) if interface is None else cls(
            interface, np.zeros_like(interface.arms), interface.free_rates)

    @property
    def free_rates(self) -> Vec:
        """Return rates of obstacles without contact, (c, 3)."""
        return np.zeros((0, 3)) if self.interface is None else self.interface.free_rates

    def after(self, h: float, obstacle_rates: Vec) -> RemainingStep:
        """Return the deviation after h more seconds with rates δ of the movers, (c, 3)."""
        if self.interface is None:
            return self
        return RemainingStep(self.interface, self.off + h * self.interface.velocities(obstacle_rates),
                             (self.done * self.rates + h * obstacle_rates) / (self.done + h), self.done + h)
