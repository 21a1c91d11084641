"""A stage of mostly quasistatic positions: they are in equilibrium, and velocities follow from the dynamic ones."""

from __future__ import annotations

import numpy as np

from ..assembly.edges import Edges
from ..assembly.linearised import Linearised
from ..parts.interface import PositionInertia, Whole
from ..parts.stage import NodeStage
from ..state import Index, Vec
from .forces_protocol import Physics
from .inertia_updated_factor import InertiaUpdatedFactor
from .problem import Evaluation, StageProblem
from .quasistatic_factors import QuasistaticFactors
from .stage_matrix import StageMatrix


class QuasistaticProblem(StageProblem):
    """The equations of one stage of mostly quasistatic positions, Σ gradient of inertia − a h f(base + b h v) = 0, for
    the rates v of all free positions."""

    def __init__(self, physics: Physics, whole: Whole, stage: NodeStage, base: Vec, prescribed: Index,
                 inertia: PositionInertia, edges: Edges) -> None:
        """whole: matrix and factor of all free nodes. base: positions of all nodes at v = 0, (n, 3) [m]. prescribed:
        nodes. inertia: exact inertia of positions. edges: for step lengths."""
        self._regularisation_mass = inertia.regularisation_mass
        linear = InertiaUpdatedFactor(whole.linear, inertia, self._regularisation_mass, whole.pattern.order)
        super().__init__(physics, StageMatrix(whole.pattern, whole.matrix, linear, edges), stage, base, prescribed)
        self.factors = QuasistaticFactors(linear)
        self._position_inertia = inertia

    def evaluate(self, unknowns: Vec) -> Evaluation:
        """Return residual and merit at unknowns, (3 p,) [m/s]: rates of positions whose inertia is that of dynamic
        nodes."""
        v, x = self.motion_at(unknowns)
        force, energy = self.forces.evaluate(x, self.stage.time)
        slope, value = self._position_inertia.energy(v)
        residual: Vec = (slope - self.stage.a * self.stage.h * force)[self.order].ravel()
        merit = np.inf if energy is None else value + self.stage.a / self.stage.b * energy
        self._last = Evaluation(unknowns, residual, merit if np.isfinite(merit) else np.inf)
        return self._last

    def fill(self, unknowns: Vec, project: bool = True, step_fraction: float = 1.0) -> Linearised:
        """Write −a b h² K and the regularisation mass, at this fraction of the step to `unknowns`, (3 p,) [m/s], into
        the pattern's matrix; return the linearisation."""
        v = self.velocities(unknowns)
        lin = self.forces.linearise_at(self.positions(step_fraction * v), v, self.stage.time, project)
        self.system.pattern.gather(lin.blocks, lin.node_blocks, -self.stage.stiffness_factor,
                                   self._regularisation_mass, lin.others)
        return lin
