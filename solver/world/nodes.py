"""Soft bodies as a system for integrators: stages in the rates of their free nodes."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..contact.laws.static_friction import STUCK_NODES as STUCK_NODES
from ..errors import StepFailed
from ..integrators.control import Controller
from ..integrators.interface import Integrator
from ..integrators.semi_implicit import SemiImplicit
from ..integrators.spin import keep_spin
from ..linear.interface import LinearSolver, NotPositiveDefinite
from ..nonlinear.fallback_euler import FallbackEuler, StageNotConverged
from ..nonlinear.interface import StageSolver
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..parts.interface import EXTERNAL_FORCE, Condensation, PosedNodes
from ..parts.stage import NodeStage, Stage
from ..state import CarrierMotion, State, Vec
from . import in_contact
from .bodies import BodyInWorld
from .energy_gains import step_without_gain
from .following import Followers
from .free_turning import linearised
from .ground_friction import finish_linear_stage, remember, under, with_ground_friction, with_repeated_friction
from .half_life_damping import HalfLifeDampers
from .interface import Part
from .multipliers import recall, remembering
from .soft_bodies import SoftBodies
from .stage_methods import stage_method_of
from .start_in_equilibrium import start_in_equilibrium
from .step_counts import FALLBACK_STEPS, RESCUED, sentences

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent

PARTS = 4  #: parts of a step whose modal motion gains energy
SAME_TIME = 1.0e-9  #: relative to a step: a smaller remainder is rounding


@dataclass(kw_only=True)
class Nodes(SoftBodies, Part):
    """Bodies, forces and prescribed motion. Steps are pure: they take a State and return a new one."""

    condensation: Condensation
    integrator: Integrator
    stage_solver: StageSolver
    linear: LinearSolver
    project: bool = True  #: clamp element stiffness to negative semi-definite
    notes: list[str] = field(default_factory=list)  #: for the log; a step may add to them
    balanced: Sequence[BodyInWorld] = ()  #: bodies that start in equilibrium; others start in their rest shape
    losses: HalfLifeDampers | None = None  #: half-life damping between steps
    following: Followers | None = None  #: bodies that take part in the motion of objects

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stage_method = stage_method_of(self, self.condensation)
        self.impact_solver = self.stage_method.impact_solver
        self.turns_freely = self.integrator.turns_freely and self.condensation.whole is not None
        self.counts = Counter[str]()  #: of steps by other methods

    @property
    def unknowns(self) -> int:
        """Return the number of coordinates of the free nodes."""
        return 3 * len(self.coordinates.free)

    @property
    def factored(self) -> float:
        """Return the number of factorizations so far; those of some bodies count as their fraction of all nodes."""
        return self.linear.factored + self.island_factorizations

    @property
    def backend(self) -> str:
        return type(self.linear).__name__

    def initial_state(self, carrier_motion: CarrierMotion | None = None) -> State:
        """Return the state at the start frame, in the rest shape or in equilibrium. carrier_motion: of attached nodes.
        Raises Diverged."""
        x = self.coordinates.positions(self.rest[self.coordinates.free].ravel(), 0.0, carrier_motion)
        if self.balanced:
            x = start_in_equilibrium(self, x, self.balanced, self.condensation.floating.groups, type(self.linear)())
        q = x[self.coordinates.free].ravel()
        sleep = self.condensation.sleep
        return State(0.0, q, np.zeros_like(q), {} if sleep is None else sleep.at_rest(), carrier_motion)

    def linearise(self, state: State, time: float | None = None) -> Linearised:
        """Return f and K = ∂f/∂x at the state, D = ∂f/∂v at the predicted positions at `time`; overwritten by the next
        call.

        Without a time D is evaluated at the state too, which costs least and an order of accuracy.
        """
        x = self.coordinates.positions(state.q, state.time, state.carrier_motion)
        sleep = self.condensation.sleep
        if sleep is not None and sleep.rests_near(x, state.memory):
            # the last call's K belongs to the reused factor
            force, v = self.evaluate(x, state.time)[0], self.velocity(state)
            return Linearised(x, v, self.mass, force, self._elements.blocks, self._node_blocks, None, state.memory,
                              False, self.ground.find(x, state.time), others=self._elements.others)
        v = self.velocity(state)
        lin = (linearised(self, x, v, state.time) if self.turns_freely else
               self.linearise_at(x, v, state.time, self.project))
        lin = replace(lin, memory=state.memory)
        if self._damping is None:
            return lin
        # forces between bodies belong to no material, so they are not damped with its stiffness
        at_once = time is None and self.project and lin.others is None
        between = self._elements.damp(x, self.velocity(state), state.time) if at_once else None
        damped = self._damping.of_stiffness(lin.node_blocks, between) if at_once else None
        return replace(lin, damped=damped or self._damped(state, state.time if time is None else time))

    def tangent(self, state: State, time: float) -> Tangent:
        """Return the true K = ∂f/∂x of the free nodes at the state and D = ∂f/∂v at the predicted positions at `time`,
        for products. Only without condensation."""
        whole = self.condensation.whole
        if whole is None:
            raise TypeError("this integrator moves every node on its own, so the method has to be Vanilla FEM")
        lin = self.linearise_at(*self.nodes_at(state), state.time, project=False)
        lin = replace(lin, damped=self._damped(state, time))
        return whole.tangent(lin, self.coordinates.prescribed_rate(state.time, state.carrier_motion))

    @property
    def beta(self) -> float:
        """Return β of semi-implicit Euler, for K."""
        return self.condensation.beta

    def acceleration(self, state: State) -> Vec:
        """Return M⁻¹ (f + D v) of the free nodes, (3 f,) [m/s²]."""
        x, v = self.nodes_at(state)
        force, _ = self.evaluate(x, state.time)
        if (damped := self._damped(state, state.time)) is not None:
            force += damped.force(v)
        free = self.coordinates.free
        acceleration: Vec = (force[free] / self.mass[free, None]).ravel()
        return acceleration

    def pose(self, at: State, stage: Stage, time: float | None = None) -> PosedNodes:
        """Linearise and factor the stage at a state. time: of D. Raises StepFailed."""
        lin = self.linearise(at, time)
        if stage.base is None and len(lin.contacts):
            # contacts act on velocities by forces, and do not change the condensation
            lin = replace(lin, blocks_without_contact=self.blocks_without_contact(at.time))
        return self._posed(lin, NodeStage.of(stage, self.coordinates))

    def _posed(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        try:
            return self.condensation.pose(lin, stage)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

    def finish_linear_stage(self, posed: PosedNodes, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage with friction; quasistatic nodes are relaxed only at the
        step's end."""
        after = finish_linear_stage(self, posed, stage, start, is_last)
        if self.couples_methods or self.contacts and in_contact.touches(
                self, *(self.coordinates.positions(one.q, one.time) for one in (start, after))):
            # a barrier cannot be linearised: the stage is solved, which also bounds the motion
            return self.solve_stage(replace(stage, beta=1.0), start)
        if self.impact_solver is not None and self.hits_ground([start, after], stage.h):
            return self._solve_stage_by(self.impact_solver, replace(stage, beta=1.0), start)
        return after

    def impact(self, stage: Stage, start: State) -> State | None:
        """Return the end of a linearised stage, solved where nodes hit the ground at its start or on their ballistic
        path; None where they do not, or where it is linearised nevertheless. Raises StepFailed."""
        if self.impact_solver is None or self.couples_methods or self.contacts:
            return None
        flown = replace(start, time=stage.time, q=self.coordinates.advance(start.q, start.u, stage.time - start.time))
        if not self.hits_ground([start, flown], stage.h):
            return None
        return self._solve_stage_by(self.impact_solver, replace(stage, beta=1.0), start)

    def modal_step(self, state: State, h: float) -> State | None:
        """Return the end of a step by the condensed bodies' modes, in parts where it gains energy; None where nothing
        is condensed. Raises StepFailed, and StageNotConverged where the parts gain energy as well."""
        end, after = state.time + h, state
        for _ in range(PARTS):
            rest = end - after.time
            try:
                part = self._modal_step(after, rest)
            except StageNotConverged:
                part = self._modal_step(after, 0.5 * rest)
            if part is None or part.time >= end - SAME_TIME * h:
                return part if part is None else replace(part, time=end)
            after = part
        raise StageNotConverged("dynamic nodes swung too far")

    def _modal_step(self, state: State, h: float) -> State | None:
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u)
        damped, nodes = self.damped_through(stage, state), NodeStage.of(stage, self.coordinates)
        after = self.stage_method.modal_motion(nodes, state, damped)
        return None if after is None else self.with_spin(state, after, after.time - state.time, damped)

    def keep_spin(self, before: State, after: State, h: float, posed: PosedNodes) -> State:
        """Return the end of a step with the angular momentum that each unconstrained component without contact had
        before it."""
        return self.with_spin(before, after, h, posed.lin.damped)

    def with_spin(self, before: State, after: State, h: float, damped: Damped | None) -> State:
        """Return the end of a step with conserved angular momentum, less that of the step's damping."""
        return keep_spin(self, self.condensation.floating.flying, before, after, h, damped)

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: PrescribedDirections | None = None) -> State:
        """Return the state at the end of a stage, from the rates of `start`. Raises StepFailed.

        prescribed_directions: only without condensation, like the choice of a stage solver. [Ascher 5]
        """
        return self._solve_stage_by(self.stage_solver, stage, start, prescribed_directions)

    def _solve_stage_by(self, solver: StageSolver, stage: Stage, start: State,
                        prescribed_directions: PrescribedDirections | None = None) -> State:
        nodes, damped = NodeStage.of(stage, self.coordinates), self.damped_through(stage, start)
        after = self.stage_method.solve_stage(solver, nodes, start, damped, prescribed_directions)
        if not self.ground.has_friction_at(self.coordinates.positions(after.q, stage.time), stage.time):
            return remember(after, nodes, None)
        if STUCK_NODES in after.memory or self.stage_method.solves_friction:  # it was part of the equations
            return after
        with_friction = self._with_ground_friction(nodes, after, damped)
        if not stage.inertia or not in_contact.collides(self, *(self.coordinates.positions(one.q, stage.time)
                                                                for one in (after, with_friction))):
            return with_friction
        # linearised friction ignores the barrier: where it would cause intersections the stage is solved under its
        # impulses
        solved_again = self.stage_method.solve_stage(solver, under(nodes, with_friction, self.mass), start, damped,
                                                     prescribed_directions)
        return replace(solved_again, memory=with_friction.memory)

    def _with_ground_friction(self, stage: NodeStage, after: State, damped: Damped | None) -> State:
        """Add friction of the ground to the end of a stage that was solved without: evaluated again at the new
        positions where it bends a body beyond its linear response, which would gain energy. Raises StepFailed."""
        lin = self._linearised_end(stage, after, damped)
        posed = self.stage_method.posed_at_end(lin, stage) or self._posed(lin, stage)
        if self.condensation.whole is None:
            return with_ground_friction(self, posed, after)

        def posed_at(end: State) -> tuple[Linearised, PosedNodes]:
            lin = self._linearised_end(stage, end, damped)
            return lin, self._posed(lin, stage)

        return with_repeated_friction(self, stage, after, lin, posed, posed_at,
                                      lambda end: self._net_impulse(stage, end, damped))

    def _linearised_end(self, stage: NodeStage, after: State, damped: Damped | None) -> Linearised:
        at = self.coordinates.positions(after.q, stage.time), self.coordinates.spread(after.u, stage.w)
        return replace(self.linearise_at(*at, stage.time, self.project), damped=damped, memory=after.memory)

    def _net_impulse(self, stage: NodeStage, after: State, damped: Damped | None) -> Vec:
        x, v = self.coordinates.positions(after.q, stage.time), self.coordinates.spread(after.u, stage.w)
        return stage.net_impulse_of(self.mass, self.evaluate(x, stage.time)[0], v, damped)

    def damped_through(self, stage: Stage, start: State) -> Damped | None:
        """Return D of a whole stage, evaluated at the predicted positions: at those of its start it would cost an
        order."""
        return self._damped(start, stage.time) if stage.inertia else None

    def begin(self, state: State, h: float) -> None:
        """Prepare the contact laws for a step."""
        for law in self.contacts:
            law.begin(self.coordinates.positions(state.q, state.time, state.carrier_motion), state.time)

    def judge(self, before: State, after: State, h: float) -> tuple[State, bool]:
        """Return the state, or reject a step that awakens nodes: they are awake from its start."""
        self.refuse_blow_up(after)
        self.note_remarks(after)
        sleep = self.condensation.sleep
        if sleep is None:
            return after, True
        return sleep.judge(before, after, h, self.stretching, self.integrator.remembers)

    def attempt(self, state: State, h: float) -> State:
        """Return the end of a step under the external forces in the state's memory."""
        start, external_force = self.damped_start(state, h)
        recall(self.links, state)
        with self.with_external_force(external_force):
            after = self.with_loss_memory(self._attempted(start, h), state, h)
        if not self.links:
            return after
        return remembering(self.links, after, self.coordinates.positions(after.q, after.time, after.carrier_motion))

    def damped_start(self, state: State, h: float) -> tuple[State, Vec | None]:
        """Return the state at the start of a step of h seconds after half-life damping and what objects that bodies
        follow change, and the external force on nodes, (n, 3) [N]."""
        external_force, rates = state.memory.get(EXTERNAL_FORCE), self.integrator.remembered_rates
        if self._damping is not None:
            self._damping.begin(h, self.nodes_at_ground(state, h))
        if self.losses is not None:
            state, pushes = self.losses.apply(self, state, h, rates)
            forces = [force for force in (external_force, pushes) if force is not None]
            external_force = sum(forces[1:], forces[0]) if forces else None
        return self.following.apply(self, state, h, rates) if self.following else state, external_force

    def with_loss_memory(self, after: State, before: State, h: float) -> State:
        """Return the end of a step with the memory of half-life damping."""
        return after if self.losses is None else self.losses.with_touched(self, after, before.memory, h)

    def _attempted(self, state: State, h: float) -> State:
        """Return the integrator's step, or the fallback step of Euler after a stage that did not converge."""
        self.stage_method.start_step()
        try:
            after = step_without_gain(self, self, partial(self.integrator.step, self), state, h)
            return self.stage_method.end_step(state, after, h)
        except StageNotConverged:
            pass
        self.stage_method.start_step()
        after = self.stage_method.end_step(state, self._fallback_step(state, h), h)
        self.counts[FALLBACK_STEPS] += 1
        return self._without_past(after)

    def _fallback_step(self, state: State, h: float) -> State:
        """Return a dissipative step of Euler by a line search on the energy; bodies that may sleep are linearised
        nevertheless. Raises StepFailed."""
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=1.0)
        if self.condensation.sleep is not None:
            return self.finish_linear_stage(self.pose(state, stage), stage, state)
        # in contact it starts at rest, not at the ballistic velocities; and condensed velocities have no energy for a
        # search: that of positions at rest has
        if self.contacts or self.condensation.whole is None:
            state = replace(state, u=np.zeros_like(state.u))
        return self._solve_stage_by(FallbackEuler(), stage, state)

    def _without_past(self, after: State) -> State:
        """Discard the integrator's memory after a step that it did not take."""
        return replace(after, memory={key: value for key, value in after.memory.items()
                                      if key not in self.integrator.remembers})

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """Return a linearised step of Euler where a quasistatic stage has no solution nearby: a body that is pressed
        until it snaps into another equilibrium. Raises StepFailed where the step was linearised already, or where no
        node is quasistatic."""
        if self.condensation.whole is not None or self.integrator.linear_euler and self.impact_solver is None:
            raise failure
        linearised = copy.copy(self)
        linearised.integrator, linearised.impact_solver = SemiImplicit({}), None
        after = linearised.step(state, h)
        self.counts[RESCUED] += 1
        return self._without_past(after)

    @property
    def summary(self) -> list[str]:
        """Return sentences about fallback steps and compliant pins."""
        return [*(sentence for pull in self.pulls for sentence in pull.summary), *sentences(self.counts)]

    def note_remarks(self, after: State) -> None:
        """Add remarks of the linear solver and of pins after a step to the notes."""
        if self.pulls:
            x = self.coordinates.positions(after.q, after.time, after.carrier_motion)
            self.notes += filter(None, (pull.look(x, after.time) for pull in self.pulls))
        self.notes += self.linear.remarks
        self.linear.remarks.clear()

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of steps with errors below `tolerance`; largest: number of largest steps in a frame."""
        return Controller(tolerance, self.integrator.order, self.integrator.equal_steps, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the error of a step of h seconds at its worst node, relative to the size of its body."""
        of_free = self.integrator.error(self.damped_start(before, h)[0], after, h)
        wrong = np.linalg.norm(self.coordinates.spread(of_free, None), axis=1)
        return max(float(wrong[body.nodes].max()) / body.size for body in self.bodies_in_world)

    def liveliness(self, state: State) -> Vec | None:
        """Return body, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may
        sleep."""
        sleep = self.condensation.sleep
        if sleep is None:
            return None
        level, up = sleep.activity(state.memory)
        owner = np.searchsorted([body.nodes.stop for body in self.bodies_in_world], sleep.nodes, side="right")
        values: Vec = np.stack([owner.astype(float), level, up])
        return values

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        self.stage_solver.forget_past()
        self.stage_method.forget_past()
        self.condensation.forget_past()
