"""Solution of stages with condensed unknowns: velocities of dynamic nodes, which quasistatic nodes follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..contact.laws.static_friction import StaticFriction, with_anchors
from ..errors import StepFailed
from ..integrators.spin import keep_spin
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.condensed_stage import solve_condensed
from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.fixed_point_stage import FixedPointStage
from ..nonlinear.ground_newton import GroundImpactEuler
from ..nonlinear.interface import StageSolver
from ..nonlinear.modal_step import ModalStep
from ..nonlinear.momentum import with_exact_momentum
from ..nonlinear.newton import NewtonDirect
from ..nonlinear.quasistatic_problem import QuasistaticProblem
from ..parts.interface import Balancing, Condensation, PosedNodes
from ..parts.nodes.full import Full
from ..parts.stage import NodeStage
from ..rows.eliminated import EliminatedRows
from ..state import Mask, State, Vec
from . import in_contact
from .condensed_equations import CondensedEquations, SweptEquations
from .free_flight import LARGEST_ROTATION, free_bodies_at, restore_centres
from .soft_bodies import SoftBodies
from .stage_method import StageMethod


class CondensedStage(StageMethod):
    """Stage method that solves for condensed velocities by Newton iterations with a factor each.

    It has no modal step, as each body would need its own modes, and no factor at the stage's end, as velocities and
    positions have different matrices.
    """

    def __init__(self, soft: SoftBodies, condensation: Condensation) -> None:
        self._soft, self._condensation = soft, condensation
        # quasistatic velocities ignore contact, so a single linear solve would accelerate bodies; bodies that may sleep
        # are linearised nevertheless
        self.impact_solver = GroundImpactEuler() if condensation.solves_impacts and condensation.sleep is None else None

    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the stage's end, with quasistatic nodes in equilibrium. Raises StepFailed.

        prescribed_directions: not supported for condensed velocities.
        """
        coordinates, equations = self._soft.coordinates, CondensedEquations(self._soft, stage, start, damped)

        def pose_at(q: Vec, u: Vec, project: bool) -> PosedNodes:
            lin = equations.linearise_at(coordinates.positions(q, stage.time), coordinates.spread(u, stage.w), project)
            return self._condensation.pose(lin, stage)

        return solve_condensed(pose_at, self._soft.evaluate, stage, start, solver.limits, self._soft.extent)


class MonolithicCondensedStage(CondensedStage):
    """Stage method for condensed velocities of all bodies as one system.

    It solves by sweeps on a reused factor, and in contact by minimising an incremental potential of positions; where
    sweeps do not converge, by Newton iterations with a factor each.
    """

    def __init__(self, soft: SoftBodies, reduced: Balancing) -> None:
        super().__init__(soft, reduced)
        self._reduced, self._sweeps = reduced, reduced.sweeps
        self.fixed_point = FixedPointStage()
        self._free_parts = reduced.floating.unconstrained  #: nodes of each unconstrained component
        self._acted_on: Mask | None = None  #: nodes with external forces in a stage of this step, (n,)
        self._modal = ModalStep(soft.evaluate, soft.mass, soft.coordinates, soft.edges)

    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the stage's end, by the first method that converges. Raises StepFailed.

        Static friction on the ground is part of the equations, with its anchors in the memory of the state.
        """
        after = self._solve(solver, stage, start, damped)
        if stage.inertia:
            if self._acted_on is None:
                self._acted_on = np.zeros(len(self._soft.mass), dtype=bool)
            self._acted_on[self._soft.touching(after)] = True
            if damped is not None:
                self._acted_on |= damped.drag > 0.0
        return after

    def start_step(self) -> None:
        """Forget which nodes had external forces in the stages of the last step."""
        self._acted_on = None

    def end_step(self, before: State, after: State, h: float) -> State:
        """Return the end of a step of h seconds with conserved angular momentum of components without external forces.

        Relaxation to equilibrium displaces nodes by c beyond their velocities, which adds a moment m v × c.
        """
        if self._acted_on is None:
            return after
        unforced = [part for part in self._free_parts if not self._acted_on[part].any()]
        return keep_spin(self._soft, unforced, before, after, h, None)

    def _solve(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """Return the state at the stage's end, with static friction where nodes touch the ground."""
        if not self._has_static_friction or not stage.inertia:
            return self._without_ground_friction(solver, stage, start, damped)
        if not solver.limits.minimises_energy and not self._touches_ground(start, stage):
            after = self._without_ground_friction(solver, stage, start, damped)
            x = self._soft.coordinates.positions(after.q, stage.time)
            if not len(self._soft.ground.find(x, stage.time)):
                return after
        return self._by_energy(solver, stage, start, damped)

    @property
    def _has_static_friction(self) -> bool:
        """Whether friction on the ground is a force that depends on positions."""
        return self._soft.ground.has_static_friction and self._condensation.sleep is None

    def _without_ground_friction(self, solver: StageSolver, stage: NodeStage, start: State,
                                 damped: Damped | None) -> State:
        """Return the state at the stage's end without static friction on the ground."""
        if solver.limits.minimises_energy and stage.inertia:
            return self._by_energy(solver, stage, start, damped)
        if (self._soft.contacts or self._soft.couples_methods) and stage.inertia:
            return self._in_contact(solver, stage, start, damped)
        try:
            return self._without_contact(solver, stage, start, damped)
        except StageNotConverged:
            # velocities that ignore contact move nodes deep into the ground, from where sweeps do not converge
            if self._condensation.sleep is not None or not self._touches_ground(start, stage):
                raise
            return self._by_energy(solver, stage, start, damped)

    def modal_motion(self, stage: NodeStage, start: State, damped: Damped | None) -> State | None:
        """Return the end of a modal step, or of its first part where the whole step gains energy.

        None where bodies may sleep, no node is quasistatic, or there is contact. Raises StepFailed where the matrix is
        not positive definite.
        """
        soft, sweeps_on = self._soft, self._sweeps
        follows = len(self._reduced.mesh.dynamic) < len(soft.coordinates.free) and self._condensation.sleep is None
        if sweeps_on is None or not follows or soft.couples_methods or self._touches(start, stage, start):
            return None

        equations = SweptEquations(soft, stage, start, damped, sweeps_on)
        try:
            after = self._modal.solve_stage(equations.modal_sweeps_at, equations.products_at, stage, start)
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            raise StepFailed("the system matrix is not positive definite") from failure
        linearise_at = replace(stage, h=after.time - start.time, time=after.time)
        # free bodies move with the mean of their velocities
        mean = replace(linearise_at, base=start.q + 0.5 * linearise_at.h * (start.u - after.u))
        after = restore_centres(soft, self._free_parts, after, mean, start)[0]
        return None if self._touches(start, linearise_at, after) else after

    def _touches(self, start: State, stage: NodeStage, after: State) -> bool:
        """Return whether nodes touch the ground or each other in a step."""
        soft = self._soft
        if self._touches_ground(after, stage):
            return True
        return bool(soft.contacts) and bool(in_contact.touches(
            soft, *(soft.coordinates.positions(state.q, state.time) for state in (start, after))))

    def _touches_ground(self, start: State, stage: NodeStage) -> bool:
        """Return whether a node touches the ground at the start or at the end of its ballistic path."""
        soft = self._soft
        step_start = soft.coordinates.positions(start.q, start.time)
        ballistic = step_start + stage.b * stage.h * soft.velocity(start)
        return any(len(soft.ground.find(x, stage.time)) for x in (step_start, ballistic))

    def _in_contact(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """Return the stage's end from sweeps without contact where these converge, else by incremental potential."""
        coordinates, after = self._soft.coordinates, None
        if self._sweeps is not None:
            def solve() -> tuple[State, Vec]:
                end = self._without_contact(solver, stage, start, damped)
                return end, coordinates.positions(end.q, stage.time)

            after = in_contact.solve_without_contact(self._soft, coordinates.positions(start.q, start.time), solve)
        return self._by_energy(solver, stage, start, damped) if after is None else after

    def _by_energy(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """Return the stage's end at the minimum of an incremental potential of all positions, by Newton's method."""
        soft, coordinates = self._soft, self._soft.coordinates
        step_start = coordinates.positions(start.q, start.time)
        lin = replace(soft.linearise_without_contact(step_start, soft.velocity(start), stage.time), damped=damped,
                      memory=start.memory)
        inertia = self._reduced.inertia(lin, stage, bool(soft.between))
        base = coordinates.positions(start.q if stage.base is None else stage.base, stage.time)
        if stage.w is not None:
            base[coordinates.prescribed] -= stage.b * stage.h * stage.w
        free = QuasistaticProblem(soft, self._whole, stage, base, coordinates.prescribed, inertia, soft.edges)
        guess = coordinates.spread(start.u, None)[free.order].ravel()
        newton = NewtonDirect({}).under(solver.limits)
        static_friction = self._build_static_friction(stage, start, step_start)
        problem, unknowns = in_contact.solve_in_contact_stage(soft, free.of, step_start, guess, newton,
                                                              reuses_factors=False,
                                                              ground_friction=static_friction)
        if solver.limits.minimises_energy:
            unknowns = with_exact_momentum(problem, unknowns, free_bodies_at(soft, self._free_parts, problem, unknowns))
        moved = problem.velocities(unknowns)
        x, v = problem.positions(moved), inertia.velocities(moved)
        memory = start.memory
        if static_friction is not None:
            memory = with_anchors(memory, static_friction(x), x)
        return State(stage.time, x[coordinates.free].ravel(), v[coordinates.free].ravel(), memory)

    def _build_static_friction(self, stage: NodeStage, start: State,
                               step_start: Vec) -> Callable[[Vec], StaticFriction | None] | None:
        """Return static friction on the ground as a function of the positions at which normal forces act, (n, 3) [m].

        None where friction does not depend on positions. step_start: (n, 3) [m], anchors of nodes without one.
        """
        if not self._has_static_friction:
            return None
        law = self._soft.ground
        anchors = law.anchors(start.memory, step_start, start.time)
        return lambda x: law.build_static_friction(x, stage.time, anchors)

    @cached_property
    def _whole(self) -> Full:
        """Return the method with all free nodes as unknowns."""
        return Full(self._reduced.mesh, type(self._reduced.linear)(), {"beta": 1.0})

    def _without_contact(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """Return the state at the stage's end without contact between surfaces."""
        soft, limits = self._soft, solver.limits
        if stage.inertia and self._sweeps is not None:
            equations = SweptEquations(soft, stage, start, damped, self._sweeps)
            base = start.q if stage.base is None else stage.base
            after = self.fixed_point.solve_stage(equations.sweeps_at, equations.products_at, stage, start, base,
                                                 soft.coordinates, limits, soft.extent)
            if after is not None:
                after, rotation = restore_centres(soft, self._free_parts, after, stage, start)
                if rotation <= LARGEST_ROTATION or not limits.strain_left:
                    return after
                # it snapped into another shape; an incremental potential of positions preserves its centre and rotation
                return self._by_energy(solver, stage, start, damped)
            if limits.strain_left:
                raise StageNotConverged("passes on one factor did not converge")
        after = super().solve_stage(solver, stage, start, damped)
        return restore_centres(soft, self._free_parts, after, stage, start)[0] if stage.inertia else after

    def forget_past(self) -> None:
        """Discard the factors and the ordering of all nodes."""
        self._acted_on = None
        self.fixed_point.forget()
        self._modal.forget()
        if "_whole" in vars(self):
            self._whole.forget_past()
