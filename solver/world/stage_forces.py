"""Forces of one stage: those of soft bodies, and additional ones that depend on where the stage starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..assembly.linearised import Linearised
from ..contact.laws.lagged_ground_friction import LaggedGroundFriction
from ..contact.laws.static_friction import StaticFriction
from ..forces.stencils import StencilForce
from ..nonlinear.forces_protocol import FrictionLimits, Stretched
from ..state import Index, Vec
from .soft_bodies import ALL, Selection, SoftBodies

GroundFriction = StaticFriction | LaggedGroundFriction  #: on given normal forces, a force of positions


class LastForces:
    """Forces at the last positions, cached: friction with other normal forces needs them again."""

    def __init__(self) -> None:
        self._at: tuple[Selection, float, Vec] | None = None
        self._found: tuple[Vec, float]

    def at(self, soft: SoftBodies, x: Vec, time: float, selection: Selection) -> tuple[Vec, float]:
        """Return `SoftBodies.evaluate`, as a copy that the caller may add to."""
        known = self._at
        if known is None or known[:2] != (selection, time) or not np.array_equal(known[2], x):
            self._at, self._found = (selection, time, x), soft.evaluate(x, time, (), selection)
        return self._found[0].copy(), self._found[1]


@dataclass
class StageForces:
    """Forces of soft bodies with additional ones of one stage."""

    soft: SoftBodies
    extra_forces: Sequence[StencilForce]
    selection: Selection = ALL  #: of forces and bodies
    ground_friction: GroundFriction | None = None  #: where the stage is solved with it
    last: LastForces = field(default_factory=LastForces)  #: cache of all but the additional ones, may be shared
    friction: FrictionLimits | None = None  #: None where the stage is solved without friction

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces [N], (n, 3), and energy [J] at positions (n, 3)."""
        force, energy = self.last.at(self.soft, x, time, self.selection)
        for law in self.extra_forces:
            table = law.measure(x, time)
            table.add_forces(force)
            energy += table.energy
        return force, energy if self.ground_friction is None else energy + self.ground_friction.add_force(x, force)

    def filled(self) -> npt.NDArray[np.int64]:
        """Return how often K of each body's tetrahedra was evaluated, (b,)."""
        return self.soft.filled(self.selection)

    def in_stretches(self) -> Stretched | None:
        """Return the forces with stretches as unknowns; None where no elements support that, or where the ground has
        friction."""
        return self.soft.in_stretches(self.extra_forces, self.selection) if self.ground_friction is None else None

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """Return f and K at positions and velocities (n, 3)."""
        return self._with_ground_friction(x, self.soft.linearise_at(x, v, time, project, self.extra_forces,
                                                                    self.selection))

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """Return f and K, reusing the last K of all tetrahedra that are not in `strained`, (k,)."""
        return self._with_ground_friction(x, self.soft.linearise_reusing_at(x, v, time, strained, self.extra_forces,
                                                                            self.selection))

    def _with_ground_friction(self, x: Vec, lin: Linearised) -> Linearised:
        if self.ground_friction is not None:
            self.ground_friction.add_force(x, lin.force)
            self.ground_friction.add_stiffness(x, lin.node_blocks)
        return lin
