"""Soft bodies as a system for integrators, with stages in the rates of their free nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..contact.laws.static_friction import STUCK_NODES
from ..errors import StepFailed
from ..integrators.spin import keep_spin
from ..linear.interface import LinearSolver, NotPositiveDefinite
from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.interface import StageSolver
from ..nonlinear.limits import INSIGNIFICANT
from ..parts.interface import Condensation, PosedNodes
from ..parts.stage import NodeStage, Stage
from ..rows.eliminated import EliminatedRows
from ..state import State, Vec
from . import in_contact
from .free_turning import linearise_without_rotation
from .ground_friction import finish_linear_stage, remember, under
from .soft_bodies import SoftBodies
from .solved_end import SolvedEnd
from .stage_methods import stage_method_of

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent


@dataclass(kw_only=True)
class SoftSystem(SoftBodies):
    """System of soft bodies, whose stages are linearised or solved iteratively."""

    modal_parts = 4  #: number of parts into which a step is split if its modal motion gains energy
    condensation: Condensation
    stage_solver: StageSolver
    linear: LinearSolver
    project: bool = True  #: whether element stiffness is projected to negative semi-definite
    turns_freely: bool = False  #: whether linearised stages have no stiffness against rotation

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stage_method = stage_method_of(self, self.condensation)
        self.impact_solver = self.stage_method.impact_solver

    @property
    def unknowns(self) -> int:
        """Return the number of coordinates of the free nodes, 3 f."""
        return 3 * len(self.coordinates.free)

    @property
    def factored(self) -> float:
        """Return the number of factorizations up to now; those of some bodies count by their fraction of all nodes."""
        return self.linear.factored + self.stage_method.island_factorizations

    @property
    def backend(self) -> str:
        """Return the name of the linear solver, for the log."""
        return type(self.linear).__name__

    def linearise(self, state: State, time: float | None = None) -> Linearised:
        """Return f and K = ∂f/∂x at a state, D = ∂f/∂v at predicted positions; overwritten by the next call.

        time: for which positions are predicted [s]; None: D is evaluated at the state, which is cheapest and reduces
        the order of accuracy by one.
        """
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        sleep = self.condensation.sleep
        if sleep is not None and sleep.rests_near(x, state.memory):
            # the last call's K belongs to the reused factor
            force, v = self.evaluate(x, state.time)[0], self.velocity(state)
            return Linearised(x, v, self.mass, force, self._elements.blocks, self._node_blocks, None, state.memory,
                              False, self.ground.find(x, state.time), others=self._elements.others)
        v = self.velocity(state)
        lin = (linearise_without_rotation(self, x, v, state.time) if self.turns_freely else
               self.linearise_at(x, v, state.time, self.project))
        lin = replace(lin, memory=state.memory)
        if self._damping is None:
            return lin
        # forces between bodies belong to no material, so they are not damped with its stiffness
        in_one_pass = time is None and self.project and lin.others is None
        between = self._elements.damp(x, self.velocity(state), state.time) if in_one_pass else None
        damped = self._damping.of_stiffness(lin.node_blocks, between) if in_one_pass else None
        return replace(lin, damped=damped or self._evaluate_damping(state, state.time if time is None else time))

    def tangent(self, state: State, time: float) -> Tangent:
        """Return the true K = ∂f/∂x of the free nodes at a state, and D = ∂f/∂v at predicted positions, for products.

        time: for which positions are predicted [s]. Raises TypeError where velocities are condensed.
        """
        whole = self.condensation.whole
        if whole is None:
            raise TypeError("this integrator moves every node on its own, so the method has to be Vanilla FEM")
        lin = self.linearise_at(*self.nodes_at(state), state.time, project=False)
        lin = replace(lin, damped=self._evaluate_damping(state, time))
        return whole.tangent(lin, self.coordinates.compute_prescribed_rate(state.time, state.carrier_motion))

    @property
    def beta(self) -> float:
        """Return β of semi-implicit Euler, the factor of K."""
        return self.condensation.beta

    def acceleration(self, state: State) -> Vec:
        """Return the acceleration M⁻¹ (f + D v) of the free nodes at a state, (3 f,) [m/s²]."""
        x, v = self.nodes_at(state)
        force, _ = self.evaluate(x, state.time)
        if (damped := self._evaluate_damping(state, state.time)) is not None:
            force += damped.force(v)
        free = self.coordinates.free
        acceleration: Vec = (force[free] / self.mass[free, None]).ravel()
        return acceleration

    def pose(self, at: State, stage: Stage, time: float | None = None) -> PosedNodes:
        """Return a stage linearised and factored at a state. time: at which D is evaluated [s]. Raises StepFailed."""
        lin = self.linearise(at, time)
        if stage.base is None and len(lin.contacts):
            # contacts act on velocities by forces, and do not change the condensation
            lin = replace(lin, contact_free_blocks=self.contact_free_blocks(at.time))
        return self._pose(lin, NodeStage.of(stage, self.coordinates))

    def _pose(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        try:
            return self.condensation.pose(lin, stage)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

    def finish_linear_stage(self, posed: PosedNodes, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage with friction. Raises StepFailed.

        A stage in contact is solved instead. is_last: whether the stage ends the step, where quasistatic nodes are
        relaxed.
        """
        after = finish_linear_stage(self, posed, stage, start, is_last)
        if self.couples_methods or self.contacts and in_contact.touches(
                self, *(self.coordinates.positions(state.q, state.time) for state in (start, after))):
            # a barrier cannot be linearised: the stage is solved, which also bounds the motion
            return self.solve_stage(replace(stage, beta=1.0), start)
        if self.impact_solver is not None and self.collides_with_ground([start, after], stage.h):
            return self._solve_stage_by(self.impact_solver, replace(stage, beta=1.0), start)
        return after

    def impact(self, stage: Stage, start: State) -> State | None:
        """Return the state at the end of a stage with an impact on the ground, solved instead of linearised.

        None where no node hits the ground at the start or at the end of its ballistic path, or where such stages are
        linearised, too. Raises StepFailed.
        """
        if self.impact_solver is None or self.couples_methods or self.contacts:
            return None
        ballistic = replace(start, time=stage.time,
                            q=self.coordinates.advance(start.q, start.u, stage.time - start.time))
        if not self.collides_with_ground([start, ballistic], stage.h):
            return None
        return self._solve_stage_by(self.impact_solver, replace(stage, beta=1.0), start)

    def modal_step(self, state: State, h: float) -> State | None:
        """Return the state after a modal step of h seconds, which is divided into parts where it gains energy.

        None where the stage method has no modal step. Raises StepFailed, and StageNotConverged where the parts gain
        energy as well.
        """
        end, after = state.time + h, state
        for _ in range(self.modal_parts):
            rest = end - after.time
            try:
                part = self._modal_step(after, rest)
            except StageNotConverged:
                part = self._modal_step(after, 0.5 * rest)
            if part is None or part.time >= end - INSIGNIFICANT * h:
                return part if part is None else replace(part, time=end)
            after = part
        raise StageNotConverged("dynamic nodes moved too far")

    def _modal_step(self, state: State, h: float) -> State | None:
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u)
        damped, nodes = self.evaluate_stage_damping(stage, state), NodeStage.of(stage, self.coordinates)
        after = self.stage_method.modal_motion(nodes, state, damped)
        return None if after is None else self.with_spin(state, after, after.time - state.time, damped)

    def keep_spin(self, before: State, after: State, h: float, posed: PosedNodes) -> State:
        """Return the end of a step with conserved angular momentum of unconstrained components without contact.

        posed: stage of the step, whose damping may change angular momentum.
        """
        return self.with_spin(before, after, h, posed.lin.damped)

    def with_spin(self, before: State, after: State, h: float, damped: Damped | None) -> State:
        """Return the end of a step with the earlier angular momentum of unconstrained components, less that of damping.

        damped: D of the step, None without damping.
        """
        return keep_spin(self, self.condensation.floating.unconstrained, before, after, h, damped)

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the end of a stage, solved from the rates of `start`. Raises StepFailed.

        prescribed_directions: of velocities, supported only without condensation. [Ascher 5]
        """
        return self._solve_stage_by(self.stage_solver, stage, start, prescribed_directions)

    def _solve_stage_by(self, solver: StageSolver, stage: Stage, start: State,
                        prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the end of a stage by this stage solver, from the rates of `start`, with friction on the ground.

        Where linearised friction would cause intersections, the stage is solved again under its impulses.
        """
        nodes, damped = NodeStage.of(stage, self.coordinates), self.evaluate_stage_damping(stage, start)
        after = self.stage_method.solve_stage(solver, nodes, start, damped, prescribed_directions)
        if not self.ground.has_friction_at(self.coordinates.positions(after.q, stage.time), stage.time):
            return remember(after, nodes, None)
        if STUCK_NODES in after.memory or self.stage_method.solves_friction:  # it was part of the equations
            return after
        end = SolvedEnd(self, self._pose, self.project, nodes, damped)
        with_friction = end.with_friction(after, self.stage_method.pose_at_end, self.condensation.whole is not None)
        if not stage.inertia or not in_contact.collides(self, *(self.coordinates.positions(state.q, stage.time)
                                                                for state in (after, with_friction))):
            return with_friction
        # linearised friction ignores the barrier: where it would cause intersections the stage is solved under its
        # impulses
        solved_again = self.stage_method.solve_stage(solver, under(nodes, with_friction, self.mass), start, damped,
                                                     prescribed_directions)
        return replace(solved_again, memory=with_friction.memory)

    def evaluate_stage_damping(self, stage: Stage, start: State) -> Damped | None:
        """Return D of a whole stage at its predicted positions; None without damping or inertia.

        D at the positions of the start would reduce the order of accuracy by one.
        """
        return self._evaluate_damping(start, stage.time) if stage.inertia else None
