"""Bodies of compliant constraints that step by themselves, with the interface of `ProjectiveBody`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import BadInput, NoFreeNode, StepFailed
from ...state import Index, Vec
from ..projective.body import DEFAULT, NOTHING, ProjectiveState, StepSettings, TargetRows, Touching
from .kernels import solve_points
from .tables import CompliantTable

SUBSTEPS, SWEEPS = 10, 1


@dataclass
class CompliantBody:
    """Nodes with mass and compliant constraints, solved by Gauss-Seidel sweeps in short steps. Raises BadInput,
    NoFreeNode. [Macklin 2016]"""

    rest: Vec  #: [m], (n, 3)
    mass: Vec  #: [kg], (n,)
    constraints: Sequence[CompliantTable]
    prescribed: Index = field(default_factory=lambda: np.zeros(0, np.int32))  #: nodes, (p,)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  #: [m/s²]
    mass_damping: float = 0.0  #: [1/s]
    stiffness_damping: float = 0.0  #: time constant τ of the damping of rows [s]
    substeps: int = SUBSTEPS  #: number in a step
    iterations: int = SWEEPS  #: sweeps over all constraints in each substep

    def __post_init__(self) -> None:
        free = np.setdiff1d(np.arange(len(self.rest)), self.prescribed)
        if not len(free):
            raise NoFreeNode("every node is pinned, so nothing can move", "Leave a part of it free")
        if not (np.isfinite(self.mass).all() and (self.mass[free] > 0.0).all()):
            raise BadInput("a node has no mass", "Give every element a density above zero")
        self._inverse_mass = np.zeros(len(self.rest))
        self._inverse_mass[free] = 1.0 / self.mass[free]

    def initial_state(self) -> ProjectiveState:
        """Return the state at rest in the rest shape."""
        return ProjectiveState(self.rest.copy(), np.zeros_like(self.rest))

    def diagonal(self, h: float) -> Vec:
        """Return m/h² of the substeps of a step of h seconds, (n,) [N/m]: a scale for the weights of contacts."""
        scale: Vec = self.mass * (self.substeps / h) ** 2
        return scale

    def step(self, state: ProjectiveState, h: float, force: Vec | None = None, points: TargetRows | None = None,
             positions: Vec | None = None, touching: Touching | None = None, settings: StepSettings = DEFAULT
             ) -> ProjectiveState:
        """Return the state after h seconds. Arguments are those of `ProjectiveBody.step`. Raises StepFailed where a
        position is not finite; the given state is not modified."""
        short = h / self.substeps
        gravity = np.asarray(self.gravity if settings.gravity is None else settings.gravity)
        pull = gravity + (0.0 if force is None else force * self._inverse_mass[:, None])
        remaining = np.exp(-self.mass_damping * short)
        x, v, at_start = state.x, state.v, state.x[self.prescribed]
        for k in range(self.substeps):
            end = at_start if positions is None else at_start + (k + 1) / self.substeps * (positions - at_start)
            now = None if points is None else points.before(h - (k + 1) * short)
            x, v = self._short_step(x, remaining * v + short * pull, short, end, now, touching,
                                    self.iterations if settings.iterations is None else settings.iterations)
        if not np.isfinite(x).all():
            raise StepFailed("a position is not a number")
        return ProjectiveState(x, v, state.time + h)

    def _short_step(self, x_start: Vec, v: Vec, h: float, positions: Vec, points: TargetRows | None,
                    touching: Touching | None, iterations: int) -> tuple[Vec, Vec]:
        """Return positions [m] and velocities [m/s] after a substep of h seconds, (n, 3) each. x_start: positions at
        its start. v: velocities under external forces. positions: of prescribed nodes at its end, (p, 3) [m]."""
        x = x_start + h * v
        x[self.prescribed] = positions
        rows = [NOTHING if points is None else points]
        if touching is not None:
            rows.append(touching(x, x_start))
        joined = TargetRows.join(rows)
        compliance, multipliers = 1.0 / np.maximum(joined.weights, 1.0e-300), np.zeros((len(joined.nodes), 3))
        for constraint in self.constraints:
            constraint.restart()
        for _ in range(iterations):
            for constraint in self.constraints:
                constraint.sweep(x, x_start, self._inverse_mass, h, self.stiffness_damping)
            solve_points(x, x_start, self._inverse_mass, joined.nodes, compliance, joined.targets, joined.normals,
                         h * joined.velocities, joined.friction, multipliers, 1.0 / h**2)
        return x, (x - x_start) / h
