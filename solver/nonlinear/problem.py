"""One stage of an integrator as equations: residual, merit and matrix, in the order of elimination."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..errors import StepFailed
from ..parts.stage import STANDARD_GRAVITY, NodeStage
from ..rows.eliminated import EliminatedRows
from ..state import Index, Mask, Vec
from ..threads import parallel_for
from .bounded_search import ROUNDING
from .evaluation import Evaluation as Evaluation
from .forces_protocol import Forces, Physics
from .last_drag import LastDrag
from .problem_kernels import PIECES, leave_residual, move_nodes, set_positions, widest
from .residual_report import ResidualReport
from .stage_factors import StageFactors
from .stage_matrix import StageMatrix

NEGLIGIBLE_STEP = 1.0e-12  #: relative to the body's extent: a shorter step is below the resolution of doubles
ALL: Mask = np.zeros(0, dtype=bool)  #: unknown nodes move


class StageProblem:
    """The equations of one stage, M (v − v̂) = a h (f(base + b h v) + D v), for the velocities of the nodes in the
    pattern; others are prescribed.

    The merit is the incremental potential [Ascher 14, 15]; the matrix is M − a h D − a b h² K, K = ∂f/∂x negative
    semi-definite when projected.
    """

    #: admissible remaining energy, relative to that of the weight and to that of the stage's velocities
    weight_energy_left, kinetic_energy_left = 0.01, 0.05
    is_violent = False  #: whether the ballistic guess would wreck elements of a body without contact
    touches_ground = False  #: whether nodes touch the ground at the stage's start, or would at the ballistic guess
    factors = StageFactors()  #: by which stage solvers factor its matrix

    def __init__(self, physics: Physics, system: StageMatrix, stage: NodeStage, base: Vec, prescribed: Index,
                 damped: Damped | None = None, prescribed_directions: EliminatedRows | None = None) -> None:
        """base: positions of all nodes at v = 0, (n, 3) [m]; those of prescribed nodes less b h w. prescribed: nodes.
        damped: D through the whole stage, without the part of K; None where nothing is damped. prescribed_directions:
        in the pattern's order."""
        self.prescribed_directions = prescribed_directions
        self.physics, self.system, self.stage, self.damped = physics, system, stage, damped
        self.forces: Forces = physics
        self._drag = None if damped is None else LastDrag(damped)
        self.order, self.mass = system.pattern.order, physics.mass
        self._base = np.ascontiguousarray(base)
        #: positions at the stage's start, (n, 3) [m]: not `base` where prescribed nodes move unevenly
        self.step_start = base
        self.tets = system.pattern.tets
        self._last: Evaluation | None = None
        self._prescribed_velocities = np.zeros_like(base)
        if stage.w is not None:
            self._prescribed_velocities[prescribed] = stage.w
        self._moving = ALL  #: which of the unknown nodes move, (p,); empty: all
        self._inertia = stage.inertia * physics.mass[self.order, None]
        self._predicted_velocities = stage.v_hat[self.order]
        # the weight of the heaviest node, the scale of a residual where nothing else sets one
        self.floor = stage.a * stage.h * STANDARD_GRAVITY * float(physics.mass.max())
        extent = float(widest(self._base, physics.mass))  # obstacles have no mass
        self._negligible_step = NEGLIGIBLE_STEP * extent
        # the energy of lifting the body by its own size: terms of the merit that cancel may be as large
        self.energy_noise = ROUNDING * stage.a / stage.b * STANDARD_GRAVITY * float(physics.mass.sum()) * extent

    def velocities(self, unknowns: Vec) -> Vec:
        """Return velocities of all nodes, (n, 3) [m/s], from unknowns (3 p,) [m/s]."""
        return self.motion_at(unknowns)[0]

    def motion_at(self, unknowns: Vec) -> tuple[Vec, Vec]:
        """Return velocities [m/s] and positions [m] of all nodes, (n, 3) each, from unknowns (3 p,) [m/s]."""
        v, x = np.empty_like(self._base), np.empty_like(self._base)
        parallel_for(set_positions, PIECES, self.system.pattern.position, self._moving, unknowns.reshape(-1, 3),
                     self._prescribed_velocities, self._base, self.stage.b * self.stage.h, v, x)
        return v, x

    def positions_at(self, unknowns: Vec) -> Vec:
        """Return positions of all nodes, (n, 3) [m], from unknowns (3 p,) [m/s]."""
        return self.motion_at(unknowns)[1]

    def positions(self, v: Vec) -> Vec:
        """Return positions of all nodes, (n, 3) [m], at velocities v, (n, 3) [m/s]."""
        x: Vec = self._base + self.stage.b * self.stage.h * v
        return x

    def positions_at_fraction(self, v: Vec, step_fraction: float) -> Vec:
        """Return positions of all nodes, (n, 3) [m], after this fraction of the step with velocities v, (n, 3) [m/s].
        """
        end = self.positions(v)
        if step_fraction == 1.0:
            return end
        x: Vec = self.step_start + step_fraction * (end - self.step_start)
        return x

    def unknowns_at(self, x: Vec) -> Vec:
        """Return the unknowns (3 p,) [m/s] that lead to positions (n, 3) [m]; those of prescribed nodes are ignored."""
        rates: Vec = (x - self._base)[self.order] / (self.stage.b * self.stage.h)
        return rates.ravel()

    def of(self, forces: Forces) -> StageProblem:
        """Return a copy of the problem with other forces on the same masses."""
        other = copy.copy(self)
        other.forces = forces
        return other

    def restrict_to(self, forces: Forces, v: Vec, system: StageMatrix | None = None,
                      moving: Mask | None = None) -> StageProblem:
        """Return a copy of the problem with fewer unknown nodes and other forces, while the other nodes have velocities
        v (n, 3) [m/s].

        system: matrix of the unknown nodes. moving: without it, a mask of the unknown nodes among those of the present
        system, (p,).
        """
        other = self.of(forces)
        other._prescribed_velocities, other._moving, other._last = v, ALL if moving is None else moving, None
        if system is not None:
            other.system, other.order = system, system.pattern.order
            other._inertia = self.stage.inertia * self.mass[other.order, None]
            other._predicted_velocities = self.stage.v_hat[other.order]
        return other

    def about_rest_shape(self) -> StageProblem:
        """Return a copy of the problem in which zero velocities leave all nodes in the rest shape."""
        other = copy.copy(self)
        other._base, other._prescribed_velocities = self.physics.rest, np.zeros_like(self._prescribed_velocities)
        return other

    def starting_at(self, step_start: Vec) -> StageProblem:
        """Return a copy of the problem with these positions at the stage's start, (n, 3) [m]."""
        other = copy.copy(self)
        other.step_start = step_start
        return other

    def with_ballistic_guess(self, touches_ground: bool, is_violent: bool) -> StageProblem:
        """Return a copy of the problem that knows of its ballistic guess whether it touches the ground, there or at the
        stage's start, and whether it would wreck elements of a body without contact."""
        other = copy.copy(self)
        other.touches_ground, other.is_violent = touches_ground, is_violent
        return other

    def displace_by(self, moved: Vec) -> StageProblem:
        """Return a copy of the problem whose nodes are displaced by `moved`, (n, 3) [m], at equal velocities."""
        other = copy.copy(self)
        other._base, other.step_start = self._base + moved, self.step_start + moved
        return other

    def evaluate_once(self, unknowns: Vec) -> Evaluation:
        """Return the last evaluation if it was at these unknowns (the array itself), else a new one."""
        last = self._last
        return last if last is not None and last.unknowns is unknowns else self.evaluate(unknowns)

    def evaluate(self, unknowns: Vec) -> Evaluation:
        """Return residual and merit at unknowns (3 p,) [m/s]; the merit is infinite where the energy is undefined, None
        where there is none."""
        v, x = self.motion_at(unknowns)
        force, energy = self.forces.evaluate(x, self.stage.time)
        drag = None if self._drag is None else self._drag.at(v)
        if drag is not None:
            force = force + drag
        left, kinetic_energy = np.empty_like(self._predicted_velocities), np.empty(PIECES)
        parallel_for(leave_residual, PIECES, self.order, self._moving, self._inertia, self._predicted_velocities, v,
                     force, self.stage.a * self.stage.h, left, kinetic_energy)
        residual: Vec = left.ravel()
        if self.prescribed_directions is not None:
            residual = self.prescribed_directions.residual_across(residual)
        if energy is None:
            self._last = Evaluation(unknowns, residual, None)
            return self._last
        merit = 0.5 * float(kinetic_energy.sum()) + self.stage.a / self.stage.b * energy
        if drag is not None:
            merit -= 0.5 * self.stage.a * self.stage.h * float(np.vdot(v, drag))
        self._last = Evaluation(unknowns, residual, merit if np.isfinite(merit) else np.inf)
        return self._last

    def fill(self, unknowns: Vec, project: bool = True, step_fraction: float = 1.0) -> Linearised:
        """Write M − a h D − a b h² K at this fraction of the step to `unknowns`, (3 p,) [m/s], into the pattern's
        matrix; return the linearisation."""
        v = self.velocities(unknowns)
        lin = self.forces.linearise_at(self.positions_at_fraction(v, step_fraction), v, self.stage.time, project)
        self.stage.fill(self.system.pattern, lin if self.damped is None else replace(lin, damped=self.damped))
        return lin

    def displacement(self, direction: Vec) -> Vec:
        """Return the displacement of all nodes, (n, 3) [m], by a change of the unknowns, (3 p,) [m/s]."""
        moved = np.empty_like(self._base)
        parallel_for(move_nodes, PIECES, self.system.pattern.position, self._moving, direction.reshape(-1, 3),
                     self.stage.b * self.stage.h, moved)
        return moved

    def strain(self, direction: Vec) -> float:
        """Return the largest relative change of an edge by a change of the unknowns, (3 p,) [m/s], rotation included.
        """
        return self.system.edges.largest_change(self.displacement(direction))

    def inertia_of(self, direction: Vec) -> float:
        """Return |Δv|²_M of a change of the unknowns, (3 p,) [m/s]: the curvature of the merit along it without forces
        [J]."""
        change = direction.reshape(-1, 3)
        return float(np.vdot(change, self._inertia * change))

    def moves(self, direction: Vec) -> bool:
        """Whether a change of the unknowns, (3 p,) [m/s], moves any node by more than the resolution of doubles."""
        farthest = float(np.abs(self.displacement(direction)).max(initial=0.0))
        return farthest > self._negligible_step

    def relative_energy_left(self, at: Evaluation, direction: Vec) -> float:
        """Return the remaining decrease of energy along a direction, (3 p,) [m/s], relative to a negligible one.

        Stiff contacts change no edge, but a step that ended too near to a surface has far too large contact forces.
        """
        change = at.unknowns.reshape(-1, 3) - self._predicted_velocities
        kinetic_energy = 0.5 * float(np.vdot(change, self._inertia * change))
        fall = 0.5 * float(self._inertia.sum()) * (self.stage.a * self.stage.h * STANDARD_GRAVITY) ** 2
        left = abs(float(np.vdot(at.residual, direction)))
        negligible = self.weight_energy_left * fall + self.kinetic_energy_left * kinetic_energy
        return left / negligible if negligible > 0.0 else np.inf if left > 0.0 else 0.0

    def report_failure(self, what: str, at: Evaluation) -> StepFailed:
        """Return the error of a stage: its cause `what`, the location of the largest residual, the body there and the
        time."""
        return ResidualReport(self).failure(what, at)
