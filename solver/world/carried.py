"""Soft bodies that hang on bones: a ride of one part on another, their rates solved at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..coordinates.attached import Bodies
from ..coordinates.tree import PAIRS
from ..errors import BadScene, StepFailed
from ..forces.stencils import StencilForce
from ..integrators.interface import System
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.anderson import DEPTH, Anderson
from ..nonlinear.bounded import Bounded, BoundedQuasistatic, Surroundings, nearest
from ..nonlinear.intersection_free import BLOCKED_REMEDY
from ..nonlinear.iterations import Coupled, CoupledOnReusedFactor
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..parts.conjac.balanced_together import BalancedTogether, Standing
from ..parts.interface import Balancing
from ..parts.joints.flown import flown_since, stepped
from ..parts.joints.jointed import AHEAD
from ..parts.nodes.full import Full
from ..parts.stage import Momentum, NodeStage, Stage
from ..parts.together import MovedOn, Together
from ..state import Index, Led, State, Vec
from .flying import FlyingBones
from .ground_friction import landed, remember, rubbed
from .in_contact import touches, untouched
from .interface import Ride
from .joints import Joints
from .layout import of_another_version
from .nodes import Nodes
from .skeleton import Skeleton

WHO = "flesh and bones"
AIMS = 4  #: times that a step is tried whose end has something before it
JOINTS = "joints/"  #: what keys of the joints' memory begin with within a step
HISTORIES = [key for pair in PAIRS for key in pair]  #: keys of the memory that have as many values as q


class FleshOnBones(Ride, System[Together]):
    """Soft bodies of which some hang on bones, and all mechanisms: two parts, stepped as one system.

    To an integrator it is one system whose coordinates are those of both, q̇ = u. Its state is theirs joined: within a
    step what the integrator remembers stands there whole, beside the memory of the flesh, and the joints' has a prefix.
    """

    def __init__(self, soft: Nodes, jointed: Joints, by_body: bool = False) -> None:
        """by_body: whether the mechanisms have to know what soft bodies do to each body."""
        self.soft, self.jointed, self.by_body = soft, jointed, by_body
        self._flesh, attached = soft.coordinates, soft.coordinates.attached
        self._skeleton = Skeleton(jointed, attached.bodies, by_body)
        self._cut = soft.unknowns
        self._made: Together | None = None  #: on the factor that stands there, for stages of the same matrix
        self._changes = Anderson(DEPTH)  #: of iterations on it
        self._whole: Full | None = None  #: all free nodes as unknowns, once bodies that balance touch something
        on = "ride on" if soft.mass[attached.nodes].all() else "or corners of rigid surfaces ride on"
        self.notes = [f"{len(attached.nodes)} soft nodes {on} {len(np.unique(attached.bodies))} rigid bodies, and "
                      "both are solved at once"]

    @property
    def rider(self) -> Nodes:
        return self.soft

    @property
    def carrier(self) -> Joints:
        return self.jointed

    def initial_state(self) -> State:
        """Of both. Raises Diverged."""
        joints = self.jointed.initial_state()
        return self.merged([self.soft.initial_state(self.led(joints)), joints])

    def led(self, carrier: State) -> Led:
        """What a state of the joints has attached nodes do."""
        return self._flesh.attached.led(self._skeleton.bodies(carrier))

    def parted(self, state: State) -> list[State]:
        """The soft bodies' state, attached nodes where the joints have them, and the joints'."""
        soft, joints = self._apart(state)
        flesh, bones = dict(soft.memory), dict(joints.memory)
        for key in HISTORIES:
            if key in flesh:
                bones[key], flesh[key] = flesh[key][self._cut :], flesh[key][: self._cut]
        joints = replace(joints, memory=bones)
        return [replace(soft, memory=flesh, led=self.led(joints)), joints]

    def _apart(self, state: State) -> tuple[State, State]:
        """The same with histories left whole: what an integrator remembers of both stands among the soft bodies'."""
        flesh = {key: value for key, value in state.memory.items() if not key.startswith(JOINTS)}
        bones = {key.removeprefix(JOINTS): value for key, value in state.memory.items() if key.startswith(JOINTS)}
        return (State(state.time, state.q[: self._cut], state.u[: self._cut], flesh),
                State(state.time, state.q[self._cut :], state.u[self._cut :], bones))

    def merged(self, states: Sequence[State]) -> State:
        """One state of both, and one history. Raises BadInput where one lacks its own."""
        soft, jointed = states
        flesh, bones = dict(soft.memory), dict(jointed.memory)
        for key in HISTORIES:
            if key in flesh or key in bones:
                if key not in bones or len(flesh[key]) != len(soft.q):
                    raise of_another_version()
                flesh[key] = np.concatenate([flesh[key], bones.pop(key)])
        memory = flesh | {JOINTS + key: value for key, value in bones.items()}
        return State(soft.time, np.concatenate([soft.q, jointed.q]), np.concatenate([soft.u, jointed.u]), memory)

    def begin(self, state: State, h: float) -> None:
        """What touches may be told once a step where it stands."""
        for law in self.soft.contacts:
            law.begin(self.positions(state), state.time)

    def attempt(self, state: State, h: float) -> State:
        """Both states as the integrator leaves them, joints not yet closed."""
        soft, joints = self.parted(state)
        start, borne = self.soft.faded(soft, h)
        with self.soft.bearing(borne):
            after = self.jointed.integrated(self, self.merged([start, joints]), h, self.soft.integrator)
        flesh, bones = self.parted(after)
        return self.merged([self.soft.outlasting(flesh, soft, h), bones])

    def judge(self, before: State, after: State, h: float) -> tuple[State, bool]:
        """Both with what must hold exactly held.

        Rates that a drive tells lead past where it wants its body at the end, by half of what they change in the step
        or so, and that is mended here. Where something is before that bit of way the step is tried anew with rates that
        lead there, so that what is soft gives way.
        """
        soft, joints = self.parted(after)
        constraints, posed = self.jointed.constraints, self.jointed.condensation.last
        behind = np.zeros(0) if constraints is None or posed is None else constraints.behind(joints, posed)
        solved = self._flesh.place(soft.q, soft.time, soft.led)
        joints = self.jointed.finish(joints, alone=False)
        soft = replace(soft, led=self.led(joints))
        finished = self._flesh.place(soft.q, soft.time, soft.led)
        if self.soft.largest_step(solved, finished) < 1.0:
            tried = before.memory.get(JOINTS + AHEAD, np.zeros((0, self.jointed.unknowns)))
            if behind.any() and len(tried) + 1 < AIMS:
                ahead = np.concatenate([tried, tried[-1:].sum(axis=0, keepdims=True) + behind / h])
                return replace(before, memory={**before.memory, JOINTS + AHEAD: ahead}), False
            by = float(np.abs(finished - solved).max())
            raise StepFailed(f"what joints bring to its place by {by:.3g} m at the end of a step has something before "
                             f"it{nearest(self.soft.touched_at(solved))}", None, BLOCKED_REMEDY)
        self.soft.refuse_blow_up(soft)
        self.soft.note_remarks(soft)
        memory = {key: value for key, value in joints.memory.items() if key != AHEAD}
        return self.merged([soft, replace(joints, memory=memory)]), True

    # what integrators ask

    @property
    def beta(self) -> float:
        """Of semi-implicit Euler, on K alone."""
        return self.soft.beta

    def acceleration(self, state: State) -> Vec:
        """Raises BadScene."""
        raise BadScene("flesh that hangs on bones has its weight on them, so neither accelerates by itself: only a "
                       "stage of both knows how", "Use an integrator that begins with no accelerations, such as SDIRK2")

    def keep_spin(self, before: State, after: State, h: float, posed: Together) -> State:
        """The end of a step with the angular momentum that what flies freely had before it, with bones or without."""
        damped = posed.lin.damped
        start, end = self.parted(before), self.parted(after)
        soft, joints = self._flying.keep(start, end, h, damped)
        return self.merged([self.soft.with_spin(start[0], replace(soft, led=self.led(joints)), h, damped), joints])

    @cached_property
    def _flying(self) -> FlyingBones:
        return FlyingBones(self.soft, self.jointed)

    def pose(self, at: State, stage: Stage, time: float | None = None) -> Together:
        """The stage of both linearised at a state and factored; time: where D is taken. Raises StepFailed."""
        soft, joints = self._apart(at)
        kept: Vec | None = None
        if stage.base is None:
            # in a linearised step bones keep the momentum of where the last one was solved, and so does what they carry
            earlier = self._skeleton.bodies(joints, flown_since(joints.memory, stage.h))
            kept = self._flesh.attached.velocities(earlier.E, earlier.twist)
        bodies = self._skeleton.bodies(joints)
        lin = self.soft.linearise(replace(soft, led=self._flesh.attached.led(bodies)), time)
        of_flesh, of_joints = self._stages(stage)
        try:
            return Together(self.soft, self._skeleton, bodies, lin, of_flesh, joints, of_joints, kept)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

    def _stages(self, stage: Stage) -> tuple[NodeStage, Stage]:
        """What it asks of the flesh and of the joints.

        Flesh and bones bring the momentum that flew on: turned round, that of bones alone would part from the flesh's.
        """
        cut = self._cut
        if stage.momentum is not Momentum.STRAIGHT:
            stage = replace(stage, momentum=Momentum.PROJECTED)
        return (NodeStage.of(stage.part(slice(cut), slice(cut)), self._flesh),
                stage.part(slice(cut, None), slice(cut, None)))

    def land(self, posed: Together, stage: Stage, start: State, is_last: bool = True) -> State:
        """The state at the end of a linearised stage, friction included; only the last one of a step is settled.

        Raises StepFailed.
        """
        after = landed(self.soft, posed, stage, start, is_last)
        if self.soft.contacts and touches(self.soft, self.positions(start), self.positions(after)):
            # a barrier is no straight line: the step is solved, and momentum is that of where it ended
            after = self.solve_stage(replace(stage, base=start.q, beta=1.0), start)
            return replace(after, memory=stepped(after.memory, 0.0, JOINTS))
        return after if stage.base is not None else replace(after, memory=stepped(after.memory, stage.h, JOINTS))

    def touching(self, state: State) -> Index:
        """Nodes that touch the ground, and what the mechanisms say."""
        soft, joints = self.parted(state)
        return np.concatenate([self.soft.touching(soft), len(self.soft.rest) + self.jointed.touching(joints)])

    def solve_stage(self, stage: Stage, start: State, held: PrescribedDirections | None = None) -> State:
        """The end of a stage of both at once: M (u − û) = a h f(q, u), q = base + b h u. Raises StepFailed.

        With ConJac the quasistatic nodes balance there, as they do without bones. [ConJac MUSCLE]
        """
        flesh = self._flesh
        of_flesh, of_joints = self._stages(stage)
        soft, joints = self.parted(start)

        # damping is that of where both will be by then
        ahead = joints.q + (stage.time - start.time) * joints.u
        damped = self.soft.damped_through(stage, replace(soft, led=self.led(replace(joints, q=ahead))))

        kept: Vec | None = None
        if stage.momentum is Momentum.STRAIGHT:
            # what hangs on bones keeps its momentum as they do
            stood = self._skeleton.bodies(joints)
            kept = flesh.attached.velocities(stood.E, stood.twist)

        rubs: list[StencilForce] = []  # of surfaces, with the loads that they have now

        def pose_at(q: Vec, u: Vec, project: bool = True) -> Together:
            where, at, _, x, v = self._stand(q, u, of_flesh, joints)
            lin = replace(self.soft.linearise_at(x, v, stage.time, project, rubs), damped=damped, memory=soft.memory)
            self._made = made = Together(self.soft, self._skeleton, at, lin, of_flesh, where, of_joints, kept)
            self._factored = self.soft.linear.factored
            return made

        def moved_on(q: Vec, u: Vec) -> MovedOn | None:
            made = self._made
            if made is None or self.soft.linear.factored != self._factored or not made.stage.shares(of_flesh):
                return None
            where, at, led, x, v = self._stand(q, u, of_flesh, joints)
            force = self.soft.evaluate(x, stage.time)[0]
            v[flesh.attached.nodes] = led.velocities
            force = force if damped is None else force + damped.force(v)
            return made.moved_on(at, v, force, of_flesh, where, of_joints, kept)

        def apart() -> State:
            limits = self.soft.stage_solver.limits
            asked = self.soft.evaluate, stage, start, limits, self.soft.extent, WHO
            if self.soft.condensation.whole is not None and limits.patience:
                try:
                    return CoupledOnReusedFactor(pose_at, moved_on, self._changes, *asked).solve_stage()
                except StepFailed:
                    self._made = None
            return Coupled(pose_at, *asked).solve_stage()

        if not self.soft.contacts:
            after = apart()
        elif (reduced := self.soft.condensation.at_once) is not None:
            after = self._balanced(reduced, apart, stage, start, damped)
        else:
            after = Bounded(pose_at, self._surroundings(stage, start, rubs), stage, start,
                            self.soft.stage_solver.limits).solve_stage()
        self.jointed.count_impact(joints)
        ended_in = self.parted(after)[0]
        if not self.soft.ground.has_friction_at(flesh.place(ended_in.q, ended_in.time, ended_in.led), ended_in.time):
            return remember(after, of_flesh, None)
        ended = rubbed(self.soft, pose_at(after.q, after.u, self.soft.project), after)
        share = self.soft.largest_step(self.positions(after), self.positions(ended)) if self.soft.contacts else 1.0
        if share == 1.0:
            return ended
        # friction to first order knows no barrier: it acts as far as nothing meets
        return replace(ended, q=after.q + share * (ended.q - after.q), u=after.u + share * (ended.u - after.u))

    def _stand(self, q: Vec, u: Vec, stage: NodeStage, joints: State) -> tuple[State, Bodies, Led, Vec, Vec]:
        """At coordinates and rates of both where a stage ends: the joints, with their memory, their bodies, what
        attached nodes do, positions and velocities of all nodes, (n, 3); of attached ones no velocities."""
        cut, flesh = self._cut, self._flesh
        where = State(stage.time, q[cut:], u[cut:], joints.memory)
        at = self._skeleton.bodies(where)
        led = flesh.attached.led(at)
        return where, at, led, flesh.place(q[:cut], stage.time, led), flesh.spread(u[:cut], stage.w)

    def _surroundings(self, stage: Stage, start: State, rubs: list[StencilForce]) -> Surroundings:
        """What surfaces ask of a stage. rubs: is given their friction."""
        seconds = stage.b * stage.h
        base = self.positions(replace(start, time=stage.time, q=start.q if stage.base is None else stage.base))

        def loads(x: Vec) -> None:
            rubs[:] = [one for law in self.soft.contacts if (one := law.lagged_friction(x, base, seconds)) is not None]

        def place(q: Vec) -> Vec:
            return self.positions(replace(start, time=stage.time, q=q))

        return Surroundings(place, self.soft.largest_step, loads, self.soft.touched_at, self.positions(start),
                            self.soft.extent, min(law.edge for law in self.soft.contacts), self.soft.body_of)

    def _balanced(self, reduced: Balancing, apart: Callable[[], State], stage: Stage, start: State,
                  damped: Damped | None) -> State:
        """The end of a stage where most nodes follow others: as if nothing touched where nothing does, else by
        positions of all nodes. Raises StepFailed."""
        of_flesh, of_joints = self._stages(stage)
        (soft, joints), begun = self.parted(start), self.positions(start)
        after = untouched(self.soft, begun, apart, self.positions)
        if after is not None:
            return after
        at, flesh, cut = self._skeleton.bodies(joints), self._flesh, self._cut
        if self._whole is None:
            self._whole = Full(reduced.mesh, type(reduced.linear)(), {"beta": 1.0})
        whole = self._whole
        carried = flesh.carried(flesh.attached.columns(at.E, at.twists))
        lin = replace(self.soft.linearise_alone(begun, self.soft.velocity(soft), stage.time), damped=damped,
                      memory=soft.memory)
        inertia = reduced.inertia(lin, of_flesh, bool(self.soft.between), carried)
        rubs: list[StencilForce] = []

        def stand(q: Vec, u: Vec) -> tuple[Standing, Vec]:
            where, at, _, x, y = self._stand(q, u, of_flesh, joints)
            force = self.soft.evaluate(x, stage.time, rubs)[0]
            return Standing(where, at, at.carrying(where.u), y, force), x

        def pose_at(q: Vec, u: Vec, project: bool) -> BalancedTogether:
            here, x = stand(q, u)

            def lin_at(project: bool) -> Linearised:
                return replace(self.soft.linearise_at(x, here.positions, stage.time, project, rubs), damped=damped)

            return BalancedTogether(whole, inertia, self._skeleton, here, lin_at, project, of_flesh, of_joints)

        def slope_at(posed: BalancedTogether, q: Vec, u: Vec) -> float:
            return posed.slope(stand(q, u)[0])

        after = BoundedQuasistatic(pose_at, slope_at, self._surroundings(stage, start, rubs), stage, start,
                                   self.soft.stage_solver.limits).solve_stage()
        u = after.u.copy()
        there = stand(after.q, after.u)[0]
        u[:cut] = inertia.velocities(there.positions, there.rates)[flesh.free].ravel()
        return replace(after, u=u)

    def forget_past(self) -> None:
        """The factor of the last stage; the rest is the parts' matter."""
        self._made = None
        self._changes.clear()

    def positions(self, state: State) -> Vec:
        """Of all nodes, (n, 3) [m]."""
        soft = self.parted(state)[0]
        return self._flesh.place(soft.q, soft.time, soft.led)
