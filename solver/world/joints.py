"""Jointed rigid bodies as a part of the world, in the coordinates of their joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..coordinates.tree import CENTRES, Tree
from ..errors import Diverged, StepFailed
from ..integrators.backward_euler import ImpactEuler
from ..integrators.interface import Integrator, P, System
from ..nonlinear.iterations import Rates
from ..nonlinear.limits import StopRule
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..parts.joints.interface import LinearizationPoint, Unsettled
from ..parts.joints.jointed import Constraints, Jointed, PosedTree
from ..parts.joints.last_twist import LAST_TWIST, stepped
from ..parts.joints.leap_step import CentredStep, LeapStep
from ..parts.joints.leapfrog_steps import LeapfrogSteps
from ..parts.joints.tree_step import TreeStep
from ..parts.joints.tumbling import Tumbling
from ..parts.stage import Momentum, Stage
from ..state import Index, State, Vec
from .dissipation import Dissipation
from .interface import Part, StepInputs
from .joint_bounds import JointBounds
from .mechanisms import MechanismInWorld, OwnFrames

ACTIVE_CONTACTS = "mechanism.pushing"  #: memory of the active contacts and limits of the last step, (k, 3)
EFFORT = "mechanism.effort"  #: memory of the drives' efforts in the last step [N m, N], (m,)
REFLECTING = "mechanism.reflecting"  #: memory of half of their efforts that reflect momentum at a step's end, (m,)
CONTACTS, BEARINGS = "contacts", "bearings"  #: kinds of friction whose iterations may not converge
UNSETTLED = ((BEARINGS, "Friction inside joints", "raise Passes of the joint friction or lower the step"),
             (CONTACTS, "Contact and friction of what touches", "lower the step"))
GROUND = "what stands"  #: name of an obstacle in messages


@dataclass
class Joints(Part, System[PosedTree]):
    """All mechanisms of a scene as one tree. Steps are pure: they take a State and return a new one."""

    mechanisms_in_world: Sequence[MechanismInWorld]
    shown: OwnFrames
    tree: Tree
    condensation: Jointed
    integrator: Integrator
    limits: StopRule  #: of stages that are solved iteratively
    q: Vec  #: initial coordinates, (m,)
    u: Vec  #: initial rates, (m,)
    start_frame: int
    #: whether charts are recentred after every step: an integrator that evaluates forces at the step's start then sees
    #: no curved chart, which would add energy to tumbling bodies, and the step was straight on its final chart, too
    recentres: bool = False
    #: whether momentum may be reflected: not with a friction law that separates all bodies
    reflects: bool = True
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._postures = (self.tree.blank(), self.tree.blank())
        self._external_force: Vec | None = None  #: of the present step
        self._drive_lead: Vec | None = None  #: of the present try of the step
        self._bounds = JointBounds(self.tree)
        self.iterations = 0  #: of all stages that were solved iteratively
        #: steps with constraints, and by kind those whose friction did not converge
        self.steps, self.unsettled = 0, Counter[str]()
        self._worst: tuple[Unsettled, float] | None = None  #: largest error of contacts and its time [s]
        self._dissipation = Dissipation()
        self.impacts = 0  #: iterative stages in which contacts or limits closed or opened

    @cached_property
    def _tree_step(self) -> TreeStep:
        """Return semi-implicit Euler's step without constraints."""
        return TreeStep(self.condensation)

    @cached_property
    def _leapfrog_step(self) -> LeapStep:
        """Return leapfrog's step without constraints."""
        return (CentredStep if self._centred else LeapStep)(self.condensation)

    @cached_property
    def _leapfrog(self) -> LeapfrogSteps:
        """Return the operations of leapfrog beyond posing stages."""
        return LeapfrogSteps(self.condensation)

    @cached_property
    def _tumbling(self) -> Tumbling:
        """Return the bodies that may turn freely."""
        return Tumbling(self.tree)

    @cached_property
    def _momentum(self) -> Momentum:
        """Return how momentum enters linearised steps; cached, as steps of few joints are short."""
        requested = self.integrator.momentum
        # inertia of the rates themselves belongs to no body
        reflects = self.reflects and not self.condensation.on_rates.laws
        return Momentum.PROJECTED if requested is Momentum.REFLECTED and not reflects else requested

    @cached_property
    def _centred(self) -> bool:
        """Whether forces other than weight act in steps with reflected momentum."""
        jointed = self.condensation
        return self._momentum is Momentum.REFLECTED and not jointed.has_friction and not jointed.only_weight()

    @cached_property
    def _fits_kernel(self) -> bool:
        """Whether there are no constraints and no options beyond those of the kernels; cached, as steps are short."""
        fits = self.integrator.linear_euler and TreeStep.serves(self.condensation)
        return fits and self._momentum in (Momentum.PROJECTED, Momentum.REFLECTED)

    @property
    def constraints(self) -> Constraints | None:
        return self.condensation.constraints

    @property
    def unknowns(self) -> int:
        """Return the number of coordinates of all joints."""
        return self.tree.rates

    def owns(self, name: str) -> bool:
        """Whether a body of this name is in the tree."""
        return name in self.tree.bodies

    @property
    def summary(self) -> list[str]:
        """Return sentences about the steps so far: friction that did not converge, and dissipation."""
        sentences = [f"{what} did not settle in {self.unsettled[key]} of {self.steps} steps"
                     f"{self._worst_of(key)}: {remedy}" for key, what, remedy in UNSETTLED if self.unsettled[key]]
        if self._dissipation.sentence:
            others = "" if self.integrator.momentum is Momentum.REFLECTED else "Semi-Implicit Leapfrog, "
            sentences.append(f"{self._dissipation.sentence}: shorter steps, {others}BDF2 or SDIRK2 take less")
        return sentences

    def _worst_of(self, key: str) -> str:
        """Return a text that locates the largest error of a friction."""
        if key != CONTACTS or self._worst is None:
            return ""
        worst, time = self._worst
        one, other = (f'"{self.tree.bodies[body]}"' if body >= 0 else GROUND for body in worst.bodies)
        where = ", ".join(f"{c:.4g}" for c in worst.place)
        return f", least where {one} touches {other} near ({where}) m at {time:.4g} s, by {worst.off:.2g} m/s"

    @property
    def mechanisms(self) -> list[dict[str, object]]:
        """Return the entries of the manifest."""
        entries, first = [], 0
        for one in self.mechanisms_in_world:
            entries.append(one.plain(first))
            first += len(one.bodies)
        return entries

    @property
    def backend(self) -> str:
        return type(self.condensation.factor).__name__

    def initial_state(self) -> State:
        """Return the state at the start frame, with rates that satisfy loops and drives."""
        state = self.tree.recentre(State(0.0, self.q.copy(), self.u.copy(), {}))
        if self.constraints is None:
            return state
        try:
            return self.constraints.started(state, self.condensation.by_inertia(self.linearise(state), 0.0))
        except StepFailed:
            return state  # the first step reports the cause

    # the integrators' protocol

    @property
    def beta(self) -> float:
        """Return β of semi-implicit Euler, for K."""
        return self.condensation.beta

    def acceleration(self, state: State) -> Vec:
        """Return u̇ without constraints, (m,) [rad/s², m/s²]."""
        return self.condensation.acceleration(self.linearise(state), state.time)

    def touching(self, state: State) -> Index:
        """Return motors and drives that are active from here on: their forces jump as they end, so no history is valid
        across."""
        jointed = self.condensation
        working = [one for joints in jointed.joint_forces for one in joints.at_work(state.time)]
        working += [] if self.constraints is None else self.constraints.at_work(state.time)
        return np.flatnonzero(working).astype(np.int32)

    def pose(self, at: State, stage: Stage, time: float | None = None) -> PosedTree:
        """Linearise and factor the stage at a state. Raises StepFailed."""
        if stage.momentum is not self._momentum:
            stage = replace(stage, momentum=self._momentum)
        return self.condensation.pose(self.linearise(at), stage)

    def finish_linear_stage(self, posed: PosedTree, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage. Raises StepFailed."""
        u = posed.solve()
        base = start.q if stage.base is None else stage.base
        flies_on = stage.base is None and self._momentum is Momentum.PROJECTED
        memory = stepped(start.memory, stage.h) if flies_on else start.memory
        return State(stage.time, base + stage.b * stage.h * (u + posed.correction(u)), u, memory, tree_stage=posed)

    def linearise(self, state: State) -> LinearizationPoint:
        """Return the posture at a state; overwritten by the next call."""
        posture = self.tree.posture(state.q, state.u, state.memory, self._postures[0])
        return LinearizationPoint(posture, state.q, state.u, state.memory, self._external_force, self._drive_lead)

    @contextmanager
    def acted_on(self, external_force: Vec | None, drive_lead: Vec | None = None) -> Iterator[None]:
        """Linearise all stages within a context under an external force, (k, 7), and with rates of drives in excess of
        their targets, (m,); see `StepInputs`."""
        self._external_force, self._drive_lead = external_force, drive_lead
        try:
            yield
        finally:
            self._external_force = self._drive_lead = None

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: PrescribedDirections | None = None) -> State:
        """Return the end of a stage that is solved iteratively. Raises StepFailed."""
        if stage.base is None:
            stage = replace(stage, base=start.q)

        def pose_at(q: Vec, u: Vec) -> PosedTree:
            return self.condensation.pose(self.linearise(State(start.time, q, u, start.memory)), stage)

        rates = Rates(pose_at, stage, start, self.limits, "the joints")
        after = rates.solve_stage()
        self.iterations += rates.count
        self.count_impact(start)
        return after

    # the loop's protocol

    def begin(self, state: State, h: float) -> None:
        """Measure in some steps the dissipation by linearisation."""
        if self._dissipation.due and self.recentres:
            self._dissipation.measure(self._leapfrog, self.linearise(state), h, self._momentum)

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the integrator's step with exact constraints projected, in one kernel where there are none."""
        external_force = inputs.external_forces.get(0)
        if external_force is not None or not (self._centred or self._fits_kernel):
            with self.acted_on(external_force):
                solved = self.integrated(self, state, h)
            after = self.finish(solved)
            if self.recentres or not len(self._tumbling) or not self.condensation.only_weight(external_force):
                return after
            return self._kept(state, after, solved.tree_stage)
        if not self._fits_kernel:
            return self.finish(self._leapfrog.step(self.linearise(state), state, h))
        if self._momentum is Momentum.REFLECTED:
            after, is_regular = self._leapfrog_step.solve(state, h)
            if not is_regular:
                self._bounds.check_motion(after)
            return self._leapfrog_step.finish(self.tree.home(after), h)
        after, is_regular = self._tree_step.step(state, h)
        return self.tree.home(after) if is_regular else self.finish(after)

    def _kept(self, before: State, after: State, posed: PosedTree | None) -> State:
        """Return the end of a solved step in which bodies that nothing acts on keep their energy and spin. posed: its
        last stage."""
        if len(self.touching(before)):
            return after
        return self._tumbling.kept(before, after, None if posed is None else posed.constraint_solution)

    def finish(self, after: State, isolated: bool = True) -> State:
        """Return the end of a step with exact constraints projected and charts recentred, from the stage that solved
        it. Raises StepFailed.

        isolated: without attached soft bodies, whose momentum is that of the bodies' new positions.
        """
        self._bounds.check_motion(after)
        posed: PosedTree | None = after.tree_stage
        constraints, solved = self.constraints, after.u
        solution = None if posed is None else posed.constraint_solution
        if posed is not None and solution is not None and constraints is not None:
            self.steps += 1
            self.unsettled.update(solution.unsettled)
            worst = solution.worst
            if worst is not None and (self._worst is None or worst.off > self._worst[0].off):
                self._worst = worst, after.time
            memory = {**after.memory, **solution.memory}
            if not self.recentres:
                memory[ACTIVE_CONTACTS] = constraints.active.astype(float)
            after = replace(after, memory=memory)
            closed = constraints.close(after, posed)
            memory.pop(LAST_TWIST, None)
            if posed.stage.base is None and isolated and (closed is not after
                                                          or solution.position_correction is not None):
                # projection and separation of overlaps move bodies without changing their momentum
                memory[LAST_TWIST] = posed.flown()
            after = replace(closed, memory=memory)
        after = self.tree.home(after) if self.recentres else self.tree.recentre(after)
        if posed is not None and posed.stage.momentum in (Momentum.REFLECTED, Momentum.CENTRED):
            after = self._leapfrog.finish(posed, solved, after)
        return replace(after, tree_stage=None)

    def count_impact(self, start: State) -> None:
        """Count a solved stage whose active contacts and limits differ from those of the step before.

        Velocities jump where contacts close, and where one had a larger force than support needs it will open.
        """
        constraints = self.constraints
        active_before = start.memory.get(ACTIVE_CONTACTS, np.zeros((0, 3)))
        self.impacts += constraints is not None and not np.array_equal(constraints.active, active_before)

    def integrated(self, system: System[P], state: State, h: float, integrator: Integrator | None = None) -> State:
        """Return the step of its own or another system's integrator; backward Euler's after an impact, before which no
        history is valid.

        Methods of second order carry a jump of the velocities on into later stages, so bodies would rebound. After an
        impact a body may also rotate far in the step, where equal rates have different energy in different postures.
        """
        isolated, impacts = integrator is None, self.impacts
        integrator = integrator or self.integrator
        # stages with a base use one table of contacts
        begins = not self.recentres or self._momentum is Momentum.REFLECTED
        if self.constraints is not None and isolated and begins:
            self.constraints.begin(self.linearise(state), state.time, h)
        after = integrator.step(system, state, h)
        if self.impacts == impacts or integrator.order == 1:
            return after
        memory = {key: value for key, value in state.memory.items() if key not in integrator.remembers}
        return ImpactEuler({}).step(system, replace(state, memory=memory), h)

    def check_step_size(self, after: State, h: float) -> None:
        """Raise StepFailed where a semi-implicit step of h seconds to `after` rotated a body and its path too far."""
        if self.recentres:
            self._bounds.check_rotation(after, h)

    def blocked_by(self, state: State) -> str:
        """Return a remedy if a loop in a singular posture blocks all motion at a state; "" otherwise."""
        if self.constraints is None:
            return ""
        stage = Stage(1.0e-3, 1.0, 1.0, state.time, None, state.u)
        try:
            name = self.constraints.singular_loop(state, self.condensation.pose(self.linearise(state), stage))
        except (StepFailed, ValueError):
            return ""  # the failure itself is more specific
        return name and (f'The ring of joints that "{name}" closes is stretched straight or folded flat and cannot '
                         "move from there: leave it some slack at the first frame, as a bridge that sags a little")

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist: which body, at which frame, and what helps."""
        name = failure.object
        if name is None and len(state.u):
            name = self._bounds.body_of(int(np.argmax(np.abs(state.u))))
        remedy = failure.remedy or (
            "Lower the step, raise the damping of its joint or give thin bodies more mass"
            if self.condensation.explicit is None else
            "Lower the step, or make explicit springs, joints and motors implicit")
        return Diverged(f"the motion could not be solved: {failure}", f"{remedy}; earlier frames are kept", name, frame)

    def poses(self, state: State) -> dict[str, Vec]:
        """Return the output of a frame: poses (b, 4, 4) of the bodies' own frames in world, rates (m,), effort (m,) of
        motors [N m, N], gaps of loops (l,) [m]."""
        at = self.tree.posture(state.q, state.u, state.memory, self._postures[1])
        jointed, constraints = self.condensation, self.constraints
        effort = state.memory.get(EFFORT, np.zeros(len(state.u)))
        for joints in jointed.joint_forces:
            effort = effort + joints.efforts(at, state.q, state.u, state.memory.get(CENTRES, self.tree.fresh),
                                             state.time)
        loops = np.zeros(0) if constraints is None else constraints.loop_gaps(at)
        return {"pose": self.shown.poses(at.E, state.time), "rates": state.u, "effort": effort, "loops": loops}

    def energy(self, state: State) -> float:
        """Return kinetic energy and that of height, springs and joint springs [J]; heights are relative to the world's
        origin."""
        at = self.tree.posture(state.q, state.u, state.memory, self._postures[1])
        jointed, mass = self.condensation, self.tree.inertia[:, 5, 5]
        centres = state.memory.get(CENTRES, self.tree.fresh)
        moving = 0.5 * float(np.einsum("na,nab,nb->", at.twist, self.tree.inertia, at.twist))
        height = -float(np.einsum("n,na,a->", mass, at.E[:, :3, 3], jointed.gravity))
        explicit = 0.0 if jointed.explicit is None else jointed.explicit.energy(at.E, state.q, centres)
        return (moving + height + jointed.springs.energy(at.E)
                + jointed.on_rates.energy(state.q, state.u, centres, state.time) + explicit)

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        return  # all of it is
