"""The world of jointed rigid bodies: the same face as the world of soft ones, its coordinates those of joints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..coordinates.tree import CENTRES, Tree
from ..errors import Diverged, StepFailed
from ..integrators.backward_euler import Struck
from ..integrators.interface import Integrator, P, System
from ..nonlinear.iterations import FASTEST, Rates
from ..nonlinear.limits import StopRule
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..parts.interface import BORNE
from ..parts.joints.flown import FLOWN, stepped
from ..parts.joints.jointed import Constraints, Jointed, LinearizationPoint, PosedTree, Unsettled
from ..parts.joints.leap_step import CentredStep, LeapStep
from ..parts.joints.leapfrog import led
from ..parts.joints.leaps import Leaps
from ..parts.joints.tree_step import TreeStep
from ..parts.stage import Momentum, Stage
from ..state import Index, State, Vec
from .interface import Part
from .mechanisms import MechanismInWorld, OwnFrames

PUSHING = "mechanism.pushing"  #: memory of which contacts and limits pushed in the last step, (k, 3)
EFFORT = "mechanism.effort"  #: memory of what drives did in the last step [N m, N], (m,)
REFLECTING = "mechanism.reflecting"  #: memory of what they do to reflect momentum where a step ends, half of it, (m,)
CONTACTS, BEARINGS = "contacts", "bearings"  #: frictions whose passes may run out
UNSETTLED = ((BEARINGS, "Friction inside joints", "raise Passes of the joint friction or lower the step"),
             (CONTACTS, "Contact and friction of what touches", "lower the step"))
GROUND = "what stands"  #: said of what touches a body and is none
CHART_ENDS = 6.0  #: [rad] from the centre of a chart of rotations, which is singular at 2π
FARTHEST = 0.45  #: [rad] a body and its path may turn by in a semi-implicit step
FIRST_LOOK = 15  #: linearised steps before the first of which it is measured what they take of the motion
LOOKS = 60  #: steps between two of these: one costs two steps of ten joints
TELLING = 0.01  #: of the energy of motion a second: what is told


@dataclass
class Joints(Part, System[PosedTree]):
    """All mechanisms of a scene in one tree. Steps are pure: they take a State and return a new one."""

    mechanisms_in_world: Sequence[MechanismInWorld]
    shown: OwnFrames
    tree: Tree
    condensation: Jointed
    integrator: Integrator
    limits: StopRule  #: of stages that are solved to their root
    q: Vec  #: where joints start, (m,)
    u: Vec  #: how fast, (m,)
    start_frame: int
    #: after every step: an integrator that takes its forces where the step starts sees no curved chart then, which
    #: would give energy to what tumbles; and the step was straight on the chart that it ends on, too
    recentres: bool = False
    #: whether momentum may be reflected: not under a friction that takes all bodies apart
    reflects: bool = True
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._postures = (self.tree.blank(), self.tree.blank())
        self._charted = np.concatenate([np.zeros(0, np.int32)] + [
            batch.entries[:, :3].ravel() for batch in self.tree.batches if batch.centres.shape[1]])
        self._owner = np.repeat(np.arange(self.tree.count), np.diff(self.tree.dof))
        self.iterations = 0  #: of all stages that were solved to their root
        self.steps, self.unsettled = 0, Counter[str]()  #: with constraints; of these, by what did not settle
        self._worst: tuple[Unsettled, float] | None = None  #: where and when [s] contacts settled least
        self._taken, self._brought = 0.0, 0.0  #: in steps that are looked at: energy of motion [J] that each took, was
        self._until_look = FIRST_LOOK  #: linearised steps: the first has not turned anything round
        self.impacts = 0  #: stages solved to their root in which something struck or came off

    @cached_property
    def _plain(self) -> TreeStep:
        """Semi-implicit Euler's step where nothing but forces acts."""
        return TreeStep(self.condensation)

    @cached_property
    def _leap(self) -> LeapStep:
        """The same by leapfrog."""
        return (CentredStep if self._centres else LeapStep)(self.condensation)

    @cached_property
    def _leaps(self) -> Leaps:
        """What leapfrog steps do beside posing stages."""
        return Leaps(self.condensation)

    @cached_property
    def _momentum(self) -> Momentum:
        """How bodies bring it to linearised steps; asked at each, which are short where joints are few."""
        asked = self.integrator.momentum
        # inertia that laws give to rates is no body's
        reflects = self.reflects and not self.condensation.on_rates.laws
        return Momentum.PROJECTED if asked is Momentum.REFLECTED and not reflects else asked

    @cached_property
    def _centres(self) -> bool:
        """Whether forces other than weight act, in steps whose momentum is reflected."""
        jointed = self.condensation
        return self._momentum is Momentum.REFLECTED and not jointed.rubs and not jointed.only_weight({})

    @cached_property
    def _in_one_kernel(self) -> bool:
        """Whether nothing but forces acts, and steps ask for no more than kernels know; short ones feel the asking."""
        fits = self.integrator.linear_euler and TreeStep.serves(self.condensation)
        return fits and self._momentum in (Momentum.PROJECTED, Momentum.REFLECTED)

    @property
    def constraints(self) -> Constraints | None:
        return self.condensation.constraints

    @property
    def unknowns(self) -> int:
        """Coordinates of all joints, and as many rates."""
        return self.tree.rates

    def owns(self, name: str) -> bool:
        """Whether a body of this name is in the tree."""
        return name in self.tree.bodies

    @property
    def summary(self) -> list[str]:
        """Sentences about the steps so far: how many had a friction that did not settle."""
        said = [f"{what} did not settle in {self.unsettled[key]} of {self.steps} steps{self._worst_of(key)}: {remedy}"
                for key, what, remedy in UNSETTLED if self.unsettled[key]]
        share = 1.0 - math.exp(-self._taken / self._brought) if self._brought > 0.0 else 0.0
        if share > TELLING:
            percent = float(f"{100.0 * share:.2g}")
            others = "" if self.integrator.momentum is Momentum.REFLECTED else "Semi-Implicit Leapfrog, "
            said.append(f"Linearised steps took {percent:g} % a second of the energy with which jointed bodies "
                        f"moved: shorter steps, {others}BDF2 or SDIRK2 take less")
        return said

    def _worst_of(self, key: str) -> str:
        """Where and when a friction settled least, in words."""
        if key != CONTACTS or self._worst is None:
            return ""
        worst, time = self._worst
        one, other = (f'"{self.tree.bodies[body]}"' if body >= 0 else GROUND for body in worst.bodies)
        place = ", ".join(f"{c:.4g}" for c in worst.place)
        return f", least where {one} touches {other} near ({place}) m at {time:.4g} s, by {worst.off:.2g} m/s"

    @property
    def mechanisms(self) -> list[dict[str, object]]:
        """What the manifest says of each."""
        told, first = [], 0
        for one in self.mechanisms_in_world:
            told.append(one.plain(first))
            first += len(one.bodies)
        return told

    @property
    def backend(self) -> str:
        return type(self.condensation.factor).__name__

    def initial_state(self) -> State:
        """The state at the start frame, moving as loops and drives let it."""
        state = self.tree.recentre(State(0.0, self.q.copy(), self.u.copy(), {}))
        if self.constraints is None:
            return state
        try:
            return self.constraints.started(state, self.condensation.by_inertia(self.linearise(state), 0.0))
        except StepFailed:
            return state  # the first step says of whom and why

    # what integrators ask

    @property
    def beta(self) -> float:
        """Of semi-implicit Euler, on K alone."""
        return self.condensation.beta

    def acceleration(self, state: State) -> Vec:
        """u̇ where nothing but forces acts, (m,) [rad/s², m/s²]."""
        return self.condensation.acceleration(self.linearise(state), state.time)

    def touching(self, state: State) -> Index:
        """Motors and drives that work from here on: where one lets go its force jumps, no history reaches across."""
        jointed = self.condensation
        working = [one for joints in jointed.joint_forces for one in joints.at_work(state.time)]
        working += [] if self.constraints is None else self.constraints.at_work(state.time)
        return np.flatnonzero(working).astype(np.int32)

    def pose(self, at: State, stage: Stage, time: float | None = None) -> PosedTree:
        """The stage linearised at a state and factored. Raises StepFailed."""
        if stage.momentum is not self._momentum:
            stage = replace(stage, momentum=self._momentum)
        return self.condensation.pose(self.linearise(at), stage)

    def land(self, posed: PosedTree, stage: Stage, start: State, is_last: bool = True) -> State:
        """The state at the end of a linearised stage. Raises StepFailed."""
        u = posed.solve()
        base = start.q if stage.base is None else stage.base
        flies_on = stage.base is None and self._momentum is Momentum.PROJECTED
        memory = stepped(start.memory, stage.h) if flies_on else start.memory
        return State(stage.time, base + stage.b * stage.h * (u + posed.correction(u)), u, memory)

    def linearise(self, state: State) -> LinearizationPoint:
        """Where the bodies are; written anew by the next call."""
        posture = self.tree.posture(state.q, state.u, state.memory, self._postures[0])
        return LinearizationPoint(posture, state.q, state.u, state.memory)

    def solve_stage(self, stage: Stage, start: State, held: PrescribedDirections | None = None) -> State:
        """The end of a stage, solved to its root. Raises StepFailed."""
        if stage.base is None:
            stage = replace(stage, base=start.q)

        def pose_at(q: Vec, u: Vec) -> PosedTree:
            return self.condensation.pose(self.linearise(State(start.time, q, u, start.memory)), stage)

        rates = Rates(pose_at, stage, start, self.limits, "the joints")
        after = rates.solve_stage()
        self.iterations += rates.count
        self.count_impact(start)
        return after

    # what the loop asks

    def begin(self, state: State, h: float) -> None:
        """In some steps, what being linearised takes of the motion."""
        self._until_look -= 1
        if self._until_look < 0 and self.recentres:
            self._look(state, h)

    def attempt(self, state: State, h: float) -> State:
        """The integrator's step with what must hold exactly held, in one kernel where nothing but forces acts."""
        if BORNE in state.memory or not (self._centres or self._in_one_kernel):
            return self.finish(self.integrated(self, state, h))
        if not self._in_one_kernel:
            return self.finish(self._leaps.step(self.linearise(state), state, h))
        if self._momentum is Momentum.REFLECTED:
            after, calm = self._leap.solve(state, h)
            if not calm:
                self._refuse_blow_up(after)
            return self._leap.finish(self.tree.home(after), h)
        after, calm = self._plain.step(state, h)
        return self.tree.home(after) if calm else self.finish(after)

    def _look(self, state: State, h: float) -> None:
        """Measure in a few of the steps what being linearised takes of the motion."""
        self._until_look = LOOKS
        if self._momentum is Momentum.PRINTED or not np.isfinite(state.u).all():
            return
        try:
            taken, brought = self._leaps.braked(self.linearise(state), h, self._momentum)
        except StepFailed:
            return  # the step itself says why
        self._taken, self._brought = self._taken + taken, self._brought + h * brought

    def finish(self, after: State, alone: bool = True) -> State:
        """The end of a step with what must hold exactly held, maybe on other charts. Raises StepFailed.

        It is that of the stage that was posed last. alone: without flesh, which flies on from where bodies stand.
        """
        self._refuse_blow_up(after)
        posed, constraints, solved = self.condensation.last, self.constraints, after.u
        if posed is not None and posed.held is not None and constraints is not None:
            self.steps += 1
            self.unsettled.update(posed.held.unsettled)
            worst = posed.held.worst
            if worst is not None and (self._worst is None or worst.off > self._worst[0].off):
                self._worst = worst, after.time
            memory = {**after.memory, **posed.held.memory}
            if not self.recentres:
                memory[PUSHING] = constraints.pushing.astype(float)
            after = replace(after, memory=memory)
            closed = constraints.close(after, posed)
            memory.pop(FLOWN, None)
            if posed.stage.base is None and alone and (closed is not after or posed.held.owed is not None):
                # what closes loops or parts what overlaps moves bodies, and is no part of the momentum that flies on
                memory[FLOWN] = posed.flown()
            after = replace(closed, memory=memory)
        after = self.tree.home(after) if self.recentres else self.tree.recentre(after)
        if posed is not None and posed.stage.momentum in (Momentum.REFLECTED, Momentum.CENTRED):
            after = self._leaps.finish(posed, solved, after)
        return after

    def count_impact(self, start: State) -> None:
        """Call where a stage is solved: whether other contacts and limits push in it than in the step before.

        Velocities jump where they come, and where one pushed by more than holds what rests it will be gone.
        """
        held = self.constraints
        pushed = start.memory.get(PUSHING, np.zeros((0, 3)))
        self.impacts += held is not None and not np.array_equal(held.pushing, pushed)

    def integrated(self, system: System[P], state: State, h: float, integrator: Integrator | None = None) -> State:
        """The integrator's step, its own or that of a system that it is in; backward Euler's where something struck in
        it, on which the past says nothing.

        Methods of order 2 carry a jump of the velocities on into their next stages, and what struck would bounce off.
        What struck may also turn far in the step, and there the same rates are more energy in one posture than another.
        """
        alone, impacts = integrator is None, self.impacts
        integrator = integrator or self.integrator
        begins = not self.recentres or self._momentum is Momentum.REFLECTED  # stages that have a base see one table
        if self.constraints is not None and alone and begins:
            self.constraints.begin(self.linearise(state), state.time, h)
        after = integrator.step(system, state, h)
        if self.impacts == impacts or integrator.order == 1:
            return after
        memory = {key: value for key, value in state.memory.items() if key not in integrator.remembers}
        return Struck({}).step(system, replace(state, memory=memory), h)

    def _refuse_blow_up(self, after: State) -> None:
        # sums of squares bound every entry and take a microsecond; where they do not, each is looked at
        turned = after.q[self._charted]
        if after.u @ after.u < FASTEST and after.q @ after.q < np.inf and turned @ turned < CHART_ENDS:
            return
        if not (np.isfinite(after.q).all() and np.isfinite(after.u).all()):
            bad = np.flatnonzero(~(np.isfinite(after.q) & np.isfinite(after.u)))[0]
            raise StepFailed("its motion is not a number", self._name_of_rate(bad))
        if not len(after.u):
            return
        fastest = int(np.argmax(np.abs(after.u)))
        if abs(after.u[fastest]) > FASTEST:
            raise StepFailed(f"its joint moves at {abs(after.u[fastest]):.1g} a second", self._name_of_rate(fastest))
        if len(self._charted):
            turned = np.linalg.norm(after.q[self._charted].reshape(-1, 3), axis=1)
            if turned.max() > CHART_ENDS:
                raise StepFailed("it turned nearly all around in one step",
                                 self._name_of_rate(self._charted[3 * int(np.argmax(turned))]))

    def _name_of_rate(self, rate: int) -> str:
        return self.tree.bodies[int(self._owner[rate])]

    def refuse_haste(self, after: State, h: float) -> None:
        """Raises StepFailed where a semi-implicit step of h seconds to `after` turned a body and its path too far.

        The forces of such a step do much more or less work than is right, and a long chain that whips gains energy. A
        wheel may turn as fast as it likes, its centre goes straight on.
        """
        u = led(after.u, after.memory, h)
        if not self.recentres or h * np.abs(u) @ self.tree.angular < FARTHEST:
            return
        end = self.tree.posture(after.q, u, after.memory, self._postures[0])
        start = self.tree.posture(after.q - h * u, u, after.memory, self._postures[1])
        straight = h * np.einsum("nab,nb->na", start.E[:, :3, :3], start.twist[:, 3:])
        beside = np.linalg.norm(end.E[:, :3, 3] - start.E[:, :3, 3] - straight, axis=1)
        # of an arc that turns by t, the end is t/2 of its length beside the straight way
        bent = 2.0 * beside / np.maximum(np.linalg.norm(straight, axis=1), np.finfo(float).tiny)
        turned = np.minimum(bent, h * np.linalg.norm(start.twist[:, :3], axis=1))
        if len(turned) and turned.max() > FARTHEST:
            body = int(np.argmax(turned))
            raise StepFailed(f"its path turned by {turned[body]:.1f} radians", self.tree.bodies[body])

    def hindered(self, state: State) -> str:
        """What stands in the way of any motion at a state, as a remedy; "" where nothing does."""
        if self.constraints is None:
            return ""
        stage = Stage(1.0e-3, 1.0, 1.0, state.time, None, state.u)
        try:
            name = self.constraints.taut(state, self.condensation.pose(self.linearise(state), stage))
        except (StepFailed, ValueError):
            return ""  # what failed says more
        return name and (f'The ring of joints that "{name}" closes is stretched straight or folded flat and cannot '
                         "move from there: leave it some slack at the first frame, as a bridge that sags a little")

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """The error for the artist: which body, at which frame, and what helps."""
        name = failure.object
        if name is None and len(state.u):
            name = self._name_of_rate(int(np.argmax(np.abs(state.u))))
        remedy = failure.remedy or (
            "Lower the step, raise the damping of its joint or give thin bodies more mass"
            if self.condensation.explicit is None else
            "Lower the step, or make explicit springs, joints and motors implicit")
        return Diverged(f"the motion could not be solved: {failure}", f"{remedy}; earlier frames are kept", name, frame)

    def poses(self, state: State) -> dict[str, Vec]:
        """What a frame shows: pose (b, 4, 4) of the bodies' own frames in world, rates (m,), effort (m,) of motors
        [N m, N], loops (l,), what each loop is off by [m]."""
        at = self.tree.posture(state.q, state.u, state.memory, self._postures[1])
        jointed, constraints = self.condensation, self.constraints
        effort = state.memory.get(EFFORT, np.zeros(len(state.u)))
        for joints in jointed.joint_forces:
            effort = effort + joints.efforts(at, state.q, state.u, state.memory.get(CENTRES, self.tree.fresh),
                                             state.time)
        loops = np.zeros(0) if constraints is None else constraints.open_by(at)
        return {"pose": self.shown.poses(at.E, state.time), "rates": state.u, "effort": effort, "loops": loops}

    def energy(self, state: State) -> float:
        """Of motion, height, springs and joint springs [J]; heights count from the world's origin."""
        at = self.tree.posture(state.q, state.u, state.memory, self._postures[1])
        jointed, mass = self.condensation, self.tree.inertia[:, 5, 5]
        centres = state.memory.get(CENTRES, self.tree.fresh)
        moving = 0.5 * float(np.einsum("na,nab,nb->", at.twist, self.tree.inertia, at.twist))
        height = -float(np.einsum("n,na,a->", mass, at.E[:, :3, 3], jointed.gravity))
        explicit = 0.0 if jointed.explicit is None else jointed.explicit.energy(at.E, state.q, centres)
        return (moving + height + jointed.springs.energy(at.E)
                + jointed.on_rates.energy(state.q, state.u, centres, state.time) + explicit)

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""
        self.condensation.last = None
