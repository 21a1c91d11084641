"""Forces of one stage: the forces of soft bodies, and additional forces that depend on the start of the stage."""

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
    """Cache of the forces at the last positions, which are used again with friction of other normal forces."""

    def __init__(self) -> None:
        self._at: tuple[Selection, float, Vec] | None = None
        self._forces: tuple[Vec, float]

    def at(self, soft: SoftBodies, x: Vec, time: float, selection: Selection) -> tuple[Vec, float]:
        """Return the result of `SoftBodies.evaluate`: forces, (n, 3) [N], as a copy for the caller, and energy [J].

        x: positions, (n, 3) [m]. time: [s].
        """
        known = self._at
        if known is None or known[:2] != (selection, time) or not np.array_equal(known[2], x):
            self._at, self._forces = (selection, time, x), soft.evaluate(x, time, (), selection)
        return self._forces[0].copy(), self._forces[1]


@dataclass
class StageForces:
    """Forces of soft bodies in one stage, with additional forces and friction of that stage."""

    soft: SoftBodies
    extra_forces: Sequence[StencilForce]
    selection: Selection = ALL  #: of forces and bodies
    ground_friction: GroundFriction | None = None  #: None where the stage is solved without friction on the ground
    last: LastForces = field(default_factory=LastForces)  #: cache of all but the additional forces, may be shared
    friction: FrictionLimits | None = None  #: None where the stage is solved without friction

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces, (n, 3) [N], and energy [J] at positions x, (n, 3) [m], and a time [s]."""
        force, energy = self.last.at(self.soft, x, time, self.selection)
        for law in self.extra_forces:
            table = law.measure(x, time)
            table.add_forces(force)
            energy += table.energy
        return force, energy if self.ground_friction is None else energy + self.ground_friction.add_force(x, force)

    def count_evaluations(self) -> npt.NDArray[np.int64]:
        """Return the number of evaluations of K of each body's tetrahedra, (b,), which shows whether K has changed."""
        return self.soft.count_evaluations(self.selection)

    def in_stretches(self) -> Stretched | None:
        """Return the forces with stretches as unknowns; None where unsupported or with friction on the ground."""
        return self.soft.in_stretches(self.extra_forces, self.selection) if self.ground_friction is None else None

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """Return f and K at positions and velocities.

        x, v: (n, 3) [m], [m/s]; v None: at rest. project: whether K is projected to negative semi-definite.
        """
        return self._with_ground_friction(x, self.soft.linearise_at(x, v, time, project, self.extra_forces,
                                                                    self.selection))

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """Return f and projected K, with the last K of all tetrahedra that are not in `strained`, (k,).

        x, v: (n, 3) [m], [m/s]. f lacks the forces of tetrahedra.
        """
        return self._with_ground_friction(x, self.soft.linearise_reusing_at(x, v, time, strained, self.extra_forces,
                                                                            self.selection))

    def _with_ground_friction(self, x: Vec, lin: Linearised) -> Linearised:
        if self.ground_friction is not None:
            self.ground_friction.add_force(x, lin.force)
            self.ground_friction.add_stiffness(x, lin.node_blocks)
        return lin
