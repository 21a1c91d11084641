"""Soft bodies as a system that integrators step: stages in the rates of their free nodes."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..contact.laws.static_friction import STUCK_NODES as STUCK_NODES
from ..errors import Diverged, StepFailed
from ..integrators.control import Controller
from ..integrators.interface import Integrator
from ..integrators.semi_implicit import SemiImplicit
from ..integrators.spin import keep_spin
from ..linear.interface import LinearSolver, NotPositiveDefinite
from ..nonlinear.equilibrium import equilibrium
from ..nonlinear.fallback_euler import FallbackEuler, StageNotConverged
from ..nonlinear.interface import StageSolver
from ..nonlinear.limits import WORK_LEFT
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..parts.interface import BORNE, Condensation, PosedNodes
from ..parts.stage import NodeStage, Stage
from ..state import Index, Led, State, Vec
from . import in_contact
from .bodies import BodyInWorld
from .ground_friction import friction_force, landed, remember, rubbed, under
from .interface import Part
from .roots import root_of
from .soft_bodies import SoftBodies
from .wobble_loss import WobbleLosses

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent

CALMED, RESCUED = "calmed", "rescued"
BRAKINGS = 4  #: times that friction of the ground is asked anew in a stage
PARTS = 4  #: of a step in which dynamic nodes swing too far
SAME_TIME = 1.0e-9  #: of a step: what is left of it then is rounding


@dataclass(kw_only=True)
class Nodes(SoftBodies, Part):
    """Bodies, forces and prescribed motion. Steps are pure: they take a State and return a new one."""

    condensation: Condensation
    integrator: Integrator
    stage_solver: StageSolver
    linear: LinearSolver
    project: bool = True  #: clamp element stiffness to negative semi-definite
    notes: list[str] = field(default_factory=list)  #: for the log; a step may add to them
    balanced: Sequence[BodyInWorld] = ()  #: who begins in balance, where others begin in their rest shape
    losses: WobbleLosses | None = None  #: what a half-life takes of the motion between steps

    def __post_init__(self) -> None:
        super().__post_init__()
        self.root = root_of(self, self.condensation)
        self.of_hits = self.root.of_hits
        self.counts = Counter[str]()  #: of steps that were taken in another way

    @property
    def unknowns(self) -> int:
        """Coordinates of the free nodes, and as many rates."""
        return 3 * len(self.coordinates.free)

    @property
    def factored(self) -> float:
        """Factors so far, those of some bodies as their share of all nodes."""
        return self.linear.factored + self.factored_apart

    @property
    def backend(self) -> str:
        return type(self.linear).__name__

    def initial_state(self, led: Led | None = None) -> State:
        """The state at the start frame: at rest, in its rest shape or in balance. Raises Diverged.

        led: what carries some nodes does there.
        """
        x = self.coordinates.place(self.rest[self.coordinates.free].ravel(), 0.0, led)
        if self.balanced:
            held = self._held_by_pins()
            try:
                x = equilibrium(self, x, 0.0, held, self.tets, type(self.linear)())
            except StepFailed as failure:
                raise Diverged(f"the start has no balance: {failure}",
                               "Switch off Start at Rest or raise the stiffness",
                               self.balanced[0].name if len(self.balanced) == 1 else None,
                               self.start_frame) from failure
        q = x[self.coordinates.free].ravel()
        sleep = self.condensation.sleep
        return State(0.0, q, np.zeros_like(q), {} if sleep is None else sleep.at_rest(), led)

    def _held_by_pins(self) -> Index:
        """Free nodes of parts that pins and kinematic nodes hold, of bodies that begin in balance; what nothing holds
        starts in its rest shape."""
        held = np.zeros(len(self.rest), dtype=bool)
        for body in self.balanced:
            held[body.nodes] = self.coordinates.is_free[body.nodes]
        for group in self.condensation.floating.groups:
            for part in group.parts:
                held[part] = False
        return np.flatnonzero(held).astype(np.int32)

    def linearise(self, state: State, time: float | None = None) -> Linearised:
        """f and K = ∂f/∂x at the state, D = ∂f/∂v where the body will be at `time`; written anew by the next call.

        Without a time D is taken at the state too, which costs least and an order of accuracy.
        """
        x = self.coordinates.place(state.q, state.time, state.led)
        sleep = self.condensation.sleep
        if sleep is not None and sleep.rests_near(x, state.memory):
            # the last call's K goes with the factor that is kept
            force, v = self.evaluate(x, state.time)[0], self.velocity(state)
            return Linearised(x, v, self.mass, force, self._elements.blocks, self._node_blocks, None, state.memory,
                              False, self.ground.find(x, state.time), others=self._elements.others)
        lin = replace(self.linearise_at(x, self.velocity(state), state.time, self.project), memory=state.memory)
        if self._damping is None:
            return lin
        # forces between bodies are no material's, so they are not damped with its stiffness
        at_once = time is None and self.project and lin.others is None
        between = self._elements.damp(x, self.velocity(state), state.time) if at_once else None
        damped = self._damping.of_stiffness(lin.node_blocks, between) if at_once else None
        return replace(lin, damped=damped or self._damped(state, state.time if time is None else time))

    def tangent(self, state: State, time: float) -> Tangent:
        """The true K = ∂f/∂x of the free nodes at the state and D = ∂f/∂v where they will be at `time`, for products.

        Full space alone.
        """
        whole = self.condensation.whole
        if whole is None:
            raise TypeError("this integrator moves every node on its own, so the method has to be Vanilla FEM")
        x = self.coordinates.place(state.q, state.time, state.led)
        lin = self.linearise_at(x, self.velocity(state), state.time, project=False)
        lin = replace(lin, damped=self._damped(state, time))
        return whole.tangent(lin, self.coordinates.prescribed_rate(state.time, state.led))

    @property
    def beta(self) -> float:
        """Of semi-implicit Euler, on K alone."""
        return self.condensation.beta

    def acceleration(self, state: State) -> Vec:
        """M⁻¹ (f + D v) of the free nodes, (3 f,) [m/s²]."""
        x, v = self.coordinates.place(state.q, state.time, state.led), self.velocity(state)
        force, _ = self.evaluate(x, state.time)
        damped = self._damped(state, state.time)
        if damped is not None:
            force += damped.force(v)
        free = self.coordinates.free
        acceleration: Vec = (force[free] / self.mass[free, None]).ravel()
        return acceleration

    def pose(self, at: State, stage: Stage, time: float | None = None) -> PosedNodes:
        """The stage linearised at a state and factored; time: where D is taken. Raises StepFailed."""
        lin = self.linearise(at, time)
        if stage.base is None and len(lin.contacts):
            # what lands is slowed down by forces, and not by what follows dynamic nodes in another way than before
            lin = replace(lin, untouched=self.untouched(at.time))
        return self._posed(lin, NodeStage.of(stage, self.coordinates))

    def _posed(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        try:
            return self.condensation.pose(lin, stage)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

    def land(self, posed: PosedNodes, stage: Stage, start: State, is_last: bool = True) -> State:
        """The state at the end of a linearised stage, friction included; only the last one of a step is settled."""
        after = landed(self, posed, stage, start, is_last)
        if self.joins_apart or self.contacts and in_contact.touches(
                self, *(self.coordinates.place(one.q, one.time) for one in (start, after))):
            # a barrier is no straight line: the stage is solved, which also bounds how far it goes
            return self.solve_stage(replace(stage, beta=1.0), start)
        if self.of_hits is not None and self.hits([start, after], stage.h):
            return self._reach_by(self.of_hits, replace(stage, beta=1.0), start)
        return after

    def struck(self, stage: Stage, start: State) -> State | None:
        """The end of a linearised stage, solved where nodes hit the ground as it begins, or would flying on; None where
        they do not, or it is linearised all the same. Raises StepFailed."""
        seconds = stage.time - start.time
        if self.of_hits is None or self.joins_apart or self.contacts:
            return None
        flown = replace(start, time=stage.time, q=self.coordinates.advance(start.q, start.u, seconds))
        if not self.hits([start, flown], stage.h):
            return None
        return self._reach_by(self.of_hits, replace(stage, beta=1.0), start)

    def swing(self, state: State, h: float) -> State | None:
        """The end of a step in which what is condensed swings by its own modes, in parts where it gains energy however
        it is taken; None where nothing does. Raises StepFailed, and StageNotConverged where it goes on gaining."""
        end, after = state.time + h, state
        for _ in range(PARTS):
            rest = end - after.time
            try:
                part = self._swung(after, rest)
            except StageNotConverged:
                part = self._swung(after, 0.5 * rest)
            if part is None or part.time >= end - SAME_TIME * h:
                return part if part is None else replace(part, time=end)
            after = part
        raise StageNotConverged("dynamic nodes swung too far")

    def _swung(self, state: State, h: float) -> State | None:
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u)
        damped = self.damped_through(stage, state)
        after = self.root.modal_motion(NodeStage.of(stage, self.coordinates), state, damped)
        return None if after is None else self.with_spin(state, after, after.time - state.time, damped)

    def keep_spin(self, before: State, after: State, h: float, posed: PosedNodes) -> State:
        """The end of a step with the angular momentum that each part had before it that nothing holds or touches."""
        return self.with_spin(before, after, h, posed.lin.damped)

    def with_spin(self, before: State, after: State, h: float, damped: Damped | None) -> State:
        """The same with the damping of the step."""
        return keep_spin(self, self.condensation.floating.flying, before, after, h, damped)

    def solve_stage(self, stage: Stage, start: State, held: PrescribedDirections | None = None) -> State:
        """The state at the end of a stage, from the rates of `start` on. Raises StepFailed. [Ascher 5]

        held: directions in which velocities are given; full space alone, as is what a stage solver chooses.
        """
        return self._reach_by(self.stage_solver, stage, start, held)

    def _reach_by(self, solver: StageSolver, stage: Stage, start: State,
                  held: PrescribedDirections | None = None) -> State:
        nodes, damped = NodeStage.of(stage, self.coordinates), self.damped_through(stage, start)
        after = self.root.solve_stage(solver, nodes, start, damped, held)
        if not self.ground.has_friction_at(self.coordinates.place(after.q, stage.time), stage.time):
            return remember(after, nodes, None)
        if STUCK_NODES in after.memory:  # it was part of the root
            return after
        ended = self._braked(nodes, after, damped)
        if not stage.inertia or not in_contact.meets(self, *(self.coordinates.place(one.q, stage.time)
                                                             for one in (after, ended))):
            return ended
        # friction to first order knows no barrier: what it would bring through something is solved under its impulses
        pushed = self.root.solve_stage(solver, under(nodes, ended, self.mass), start, damped, held)
        return replace(pushed, memory=ended.memory)

    def _braked(self, stage: NodeStage, after: State, damped: Damped | None) -> State:
        """The end of a stage that was solved without friction of the ground, with it. Raises StepFailed.

        Much friction bends a body farther than its linear answer knows, which would be energy from nothing: there it is
        asked anew where that led.
        """
        free, whole = self.coordinates.free, self.condensation.whole
        lin = self._linearised_end(stage, after, damped)
        posed = self.root.posed_at_end(lin, stage) or self._posed(lin, stage)
        if whole is None:
            return rubbed(self, posed, after)
        goal = WORK_LEFT * stage.energy_at_stake(self.mass, free)
        for count in range(BRAKINGS):
            rest = posed.respond(stage.net_impulse(lin)[free].reshape(-1, 1))[:, 0]
            after = rubbed(self, posed, after, rest)
            if count == BRAKINGS - 1:
                break
            left = self._net_impulse(stage, after, damped) + stage.a * stage.h * friction_force(self, after.memory)
            rest = posed.respond(left[free].reshape(-1, 1))[:, 0]
            if abs(stage.work(self.mass, free, rest)) <= goal:
                break
            lin = self._linearised_end(stage, after, damped)
            posed = self._posed(lin, stage)
        return after

    def _linearised_end(self, stage: NodeStage, after: State, damped: Damped | None) -> Linearised:
        x, v = self.coordinates.place(after.q, stage.time), self.coordinates.spread(after.u, stage.w)
        return replace(self.linearise_at(x, v, stage.time, self.project), damped=damped, memory=after.memory)

    def _net_impulse(self, stage: NodeStage, after: State, damped: Damped | None) -> Vec:
        x, v = self.coordinates.place(after.q, stage.time), self.coordinates.spread(after.u, stage.w)
        return stage.net_impulse_of(self.mass, self.evaluate(x, stage.time)[0], v, damped)

    def damped_through(self, stage: Stage, start: State) -> Damped | None:
        """D through a whole stage, held fixed where the start will be by then: where that is would cost an order."""
        return self._damped(start, stage.time) if stage.inertia else None

    def begin(self, state: State, h: float) -> None:
        """What touches may be told once a step where it stands."""
        for law in self.contacts:
            law.begin(self.coordinates.place(state.q, state.time, state.led), state.time)

    def judge(self, before: State, after: State, h: float) -> tuple[State, bool]:
        """Nodes that a step awakens are awake from its start, so it is taken anew from there."""
        self.refuse_blow_up(after)
        self.note_remarks(after)
        sleep = self.condensation.sleep
        if sleep is None:
            return after, True
        return sleep.judge(before, after, h, self.stretching, self.integrator.remembers)

    def attempt(self, state: State, h: float) -> State:
        """What follows under the forces that its state says something else has on it."""
        start, borne = self.faded(state, h)
        with self.bearing(borne):
            return self.outlasting(self._attempted(start, h), state, h)

    def faded(self, state: State, h: float) -> tuple[State, Vec | None]:
        """The state that a step of h seconds starts from, less what half-lives take of its motion; and what acts on
        nodes through it besides forces, (n, 3) [N]."""
        borne = state.memory.get(BORNE)
        if self._damping is not None:
            self._damping.begin(h)
        if self.losses is None:
            return state, borne
        start, pushes = self.losses.taken(self, state, h, self.integrator.remembered_rates)
        return start, borne if pushes is None else pushes if borne is None else borne + pushes

    def outlasting(self, after: State, before: State, h: float) -> State:
        """The end of a step with what half-lives remember of it."""
        return after if self.losses is None else self.losses.with_touched(self, after, before.memory, h)

    def _attempted(self, state: State, h: float) -> State:
        """The integrator's step, or a linearised one of Euler where stages may be given up and one was."""
        self.root.begin_step()
        try:
            return self.root.end_step(state, self.integrator.step(self, state, h), h)
        except StageNotConverged:
            pass
        self.root.begin_step()
        after = self.root.end_step(state, self._calmer(state, h), h)
        self.counts[CALMED] += 1
        return self._without_past(after)

    def _calmer(self, state: State, h: float) -> State:
        """A linearised step of Euler that gains nothing, by a line search that lets no energy in; who may sleep is
        linearised all the same. Raises StepFailed."""
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=1.0)
        if self.condensation.sleep is not None:
            return self.land(self.pose(state, stage), stage, state)
        # where surfaces touch it begins where they stand and not where they would fly; and velocities that others
        # follow have no energy that a search could lower: that of positions where the body stands has
        if self.contacts or self.condensation.whole is None:
            state = replace(state, u=np.zeros_like(state.u))
        return self._reach_by(FallbackEuler(), stage, state)

    def _without_past(self, after: State) -> State:
        """What is remembered of the steps before is no guide past a step that the integrator did not take."""
        return replace(after, memory={key: value for key, value in after.memory.items()
                                      if key not in self.integrator.remembers})

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """A linearised step of Euler where a stage that balances has no solution nearby: a body that is pressed until
        it snaps into another balance. Raises StepFailed where the step was linearised already, or no node balances: a
        line search has looked for one then."""
        if self.condensation.whole is not None or self.integrator.linear_euler and self.of_hits is None:
            raise failure
        linearised = copy.copy(self)
        linearised.integrator, linearised.of_hits = SemiImplicit({}), None
        after = linearised.step(state, h)
        self.counts[RESCUED] += 1
        return self._without_past(after)

    @property
    def summary(self) -> list[str]:
        """How many steps had to be linearised, and which pins gave way."""
        said = [sentence for pull in self.pulls for sentence in pull.summary]
        calmed, rescued = self.counts[CALMED], self.counts[RESCUED]
        if calmed:
            steps, were, them = ("step", "was", "it") if calmed == 1 else ("steps", "were", "them")
            said.append(f"{calmed} {steps} {were} too violent to be solved quickly and {were} linearised, which calms "
                        f"{them}: smaller steps or more Tries keep more of the motion")
        if rescued:
            said.append(f"{rescued} of the shortest steps {'was' if rescued == 1 else 'were'} linearised: what "
                        "balances snapped from one shape to another, and no step between them could be solved")
        return said

    def note_remarks(self, after: State) -> None:
        """What the linear solver and the pins had to say after a step goes to the notes."""
        if self.pulls:
            x = self.coordinates.place(after.q, after.time, after.led)
            self.notes += filter(None, (pull.look(x, after.time) for pull in self.pulls))
        self.notes += self.linear.remarks
        self.linear.remarks.clear()

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Chooses steps of which none errs by more than `tolerance`; largest: number of largest steps in a frame."""
        return Controller(tolerance, self.integrator.order, self.integrator.equal_steps, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """What a step of h seconds got wrong at its worst node, as a share of the size of that node's body."""
        error = self.integrator.error(self.faded(before, h)[0], after, h)
        wrong = np.linalg.norm(self.coordinates.spread(error, None), axis=1)
        return max(float(wrong[body.nodes].max()) / body.size for body in self.bodies_in_world)

    def liveliness(self, state: State) -> Vec | None:
        """Body, liveliness [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may sleep."""
        sleep = self.condensation.sleep
        if sleep is None:
            return None
        level, up = sleep.told(state.memory)
        owner = np.searchsorted([body.nodes.stop for body in self.bodies_in_world], sleep.nodes, side="right")
        told: Vec = np.stack([owner.astype(float), level, up])
        return told

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""
        self.stage_solver.forget_past()
        self.root.forget_past()
        self.condensation.forget_past()
