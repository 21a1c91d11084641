"""Results of a step of sliding cloth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...rows.sparse.rows import Minimum
from ...sheet.sheet_mesh import SheetMesh
from ...state import Vec
from .cone import Cone
from .interface_inertia import InterfaceInertia


@dataclass(frozen=True)
class StepResult:
    """A step's answer on the mesh that it began with."""

    mesh: SheetMesh
    on_features: Cone
    answer: Minimum
    deepest: float  #: how deep in a thing it leaves cloth [m]
    pushed: Vec  #: impulses on what is round, (o, 3) [N s]; (0, 3) where nobody asks
    gave: Vec  #: δ of what moves that, (c, 3)
    pulled: Vec  #: impulses on pins, of all vertices that have one, (p, 3) [N s]
    pressing: Vec  #: as `Cloth` has it


@dataclass(frozen=True)
class InterfaceReaction:
    """Impulses of a step on others."""

    impulses: Vec  #: on what is round and then on pins, (o + p, 3) [N s]; (0, 3) where nobody asks
    off: Vec  #: how far off the way that it was thought to go what is round ended it, (o, 3) [m]


@dataclass(frozen=True)
class RemainingStep:
    """How what is round has left its way so far in a step."""

    gives: InterfaceInertia | None  #: how it gives way; None: its motion is prescribed
    off: Vec  #: (o, 3) [m]
    rates: Vec  #: the mean of δ, (c, 3)
    done: float = 0.0  #: how much of it is over [s]

    @classmethod
    def begun(cls, gives: InterfaceInertia | None) -> RemainingStep:
        """Start of a step."""
        nothing = np.zeros((0, 3))
        return cls(gives, nothing, nothing) if gives is None else cls(gives, np.zeros_like(gives.arms), gives.still)

    @property
    def still(self) -> Vec:
        """Rates of what gives way where nothing pushes it, (c, 3)."""
        return np.zeros((0, 3)) if self.gives is None else self.gives.still

    def after(self, h: float, gave: Vec) -> RemainingStep:
        """After h seconds more with such rates, (c, 3)."""
        if self.gives is None:
            return self
        return RemainingStep(self.gives, self.off + h * self.gives.velocities(gave),
                             (self.done * self.rates + h * gave) / (self.done + h), self.done + h)
