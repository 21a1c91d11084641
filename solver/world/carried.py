"""Soft bodies that hang on bones: both worlds in one, their velocities solved at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..coordinates.attached import Bodies
from ..coordinates.tree import PAIRS, Tree
from ..errors import BadScene, StepFailed
from ..forces.stencils import StencilForce
from ..linear.interface import NotPositiveDefinite
from ..linear.woodbury import WoodburyUpdate
from ..nonlinear.approach import GIVE_WAY
from ..nonlinear.balanced import reach_balanced
from ..nonlinear.bounded import Surroundings, nearest, reach_bounded
from ..nonlinear.coupled import reach
from ..nonlinear.held import GivenDirections
from ..nonlinear.limits import StopRule
from ..parts.conjac.balanced_together import BalancedTogether, Standing
from ..parts.interface import Condensation, Momentum, NodeStage, OnRates, Reduced, Stage, Whole
from ..parts.joints.jointed import OnBodies, flown_since, stepped
from ..parts.nodes.full import Full
from ..parts.together import Together
from ..state import Index, Led, State, Vec
from .flying import FlyingBones
from .ground_friction import landed, remember, rubbed
from .in_contact import touches
from .joints import Joints
from .nodes import Nodes
from .world import World

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent

AIMS = 4  #: times that a step is solved whose end has something before it
JOINTS = "joints/"  #: what keys of the joints' memory begin with
HISTORIES = [key for pair in PAIRS for key in pair]  #: keys of the memory that have as many values as q


def rates_that_move(tree: Tree, bodies: Index) -> Index:
    """Rates of the joints on the way from the world to these bodies, ascending."""
    on_the_way: set[int] = set()
    for body in {*bodies.tolist()}:
        while body >= 0 and body not in on_the_way:
            on_the_way.add(body)
            body = int(tree.parent[body])
    return np.array([rate for body in sorted(on_the_way) for rate in range(tree.dof[body], tree.dof[body + 1])],
                    dtype=np.int32)


class Skeleton:
    """A mechanism as the soft bodies on it see it.

    What is condensed for them is one column for each rate that moves attached nodes. Friction inside joints has to know
    what they do to each body, not to rates alone: then it is six columns a body, and the rates come after.
    """

    def __init__(self, world: Joints, bodies: Index, by_body: bool) -> None:
        """bodies: those that carry nodes. From now on the world's steps have soft bodies in them."""
        self.world, tree = world, world.tree
        self._bodies, self._by_body = np.unique(bodies).astype(np.int32), by_body
        self._rates = rates = rates_that_move(tree, self._bodies)
        self._factor = WoodburyUpdate(world.condensation.factor)
        world.condensation.factor = self._factor
        self._unit = np.zeros((tree.rates, len(rates)))
        self._unit[rates, np.arange(len(rates))] = 1.0
        self._twists = np.zeros((tree.count, 6, 6 * len(self._bodies)))
        for k, body in enumerate(self._bodies):
            self._twists[body, :, 6 * k : 6 * k + 6] = np.eye(6)
        self._map = np.eye(len(rates))  #: columns' rates from those of the joints
        self._posture = tree.blank()

    def bodies(self, state: State) -> Bodies:
        """Where the bodies are; written anew by the next call."""
        tree = self.world.tree
        at = tree.posture(state.q, state.u, state.memory, self._posture)
        moved = tree.spread(at, self._unit)
        if self._by_body:
            self._map = moved[self._bodies].reshape(6 * len(self._bodies), -1)
            moved = self._twists
        return Bodies(at.E, moved, at.twist, at.drift)

    def earlier(self, state: State, h: float) -> Bodies:
        """Where their momentum flies on from, h seconds ago, with the velocities that it has there.

        Written anew by the next call of `bodies`.
        """
        at = self.world.tree.posture(state.q - h * state.u, state.u, state.memory, self._posture)
        return Bodies(at.E, self._twists, at.twist, at.drift)

    def carrying(self, u: Vec) -> Vec:
        """Rates that move attached nodes, (c,), of all rates (m,), where `bodies` was asked last."""
        out: Vec = self._map @ u[self._rates]
        return out

    def solve(self, state: State, stage: Stage, joined: OnRates) -> Vec:
        """Rates (m,) at the end of a stage linearised at a state, with G and g of the soft bodies in its equations.

        `bodies` was asked of that state last. Raises StepFailed. [Thesis 3.6]
        """
        lifted = self._factor.add(self._rates, self._map.T @ joined.matrix @ self._map)
        condensation = self.world.condensation
        if self._by_body:
            condensation.on_bodies = OnBodies(self._bodies, joined.matrix, joined.impulse)
        posed = condensation.pose(self.world.linearise(state), stage)
        if not self._by_body:
            posed.right[self._rates] += self._map.T @ joined.impulse
        # what makes G positive does nothing at the rates where all is linearised, so a stage keeps its root
        posed.right[self._rates] += lifted @ state.u[self._rates]
        return posed.solve()

    def respond(self, impulses: Vec) -> Vec:
        """What impulses on all rates change in them, both (m, c), soft bodies included."""
        return self._factor.solve(impulses)

    def onto(self, impulses: Vec) -> Vec:
        """Impulses on all rates, (m, c), of those on the rates that move attached nodes."""
        out: Vec = self._unit @ (self._map.T @ impulses)
        return out

    def correction(self, u: Vec) -> Vec:
        """What coordinates owe at the rates that the last `solve` found, as a rate, (m,)."""
        posed = self.world.condensation.last
        assert posed is not None
        return posed.correction(u)

    def give(self) -> Vec:
        """What impulses on the rates that move attached nodes change in them, (c, c), as `solve` found it last."""
        give: Vec = self._factor.solve(self._unit)[self._rates]
        return self._map @ give @ self._map.T


class _WhoBalance:
    """A method in which most nodes balance, those of all bodies at once; None for the others."""

    def in_full(self, whole: Whole) -> Reduced | None:
        return None

    def condensed(self, condensation: Condensation, at_once: Reduced | None) -> Reduced | None:
        return at_once


class FleshOnBones(World):
    """Soft bodies of which some hang on bones, and all mechanisms, in one system: a part of two parts.

    To an integrator it is one system whose coordinates are those of both, q̇ = u.
    """

    def __init__(self, soft: Nodes, jointed: Joints, by_body: bool = False) -> None:
        """by_body: whether the mechanisms have to know what soft bodies do to each body."""
        self.soft, self.jointed, self.by_body = soft, jointed, by_body
        self._flesh, attached = soft.coordinates, soft.coordinates.attached
        self._skeleton = Skeleton(jointed, attached.bodies, by_body)
        self._cut = 3 * len(self._flesh.free)
        self._reduced = soft.condensation.solved_by(_WhoBalance())
        self._whole: Full | None = None  #: all free nodes as unknowns, once bodies that balance touch something
        on = "ride on" if soft.mass[attached.nodes].all() else "or corners of rigid surfaces ride on"
        super().__init__([soft, jointed], notes=[
            f"{len(attached.nodes)} soft nodes {on} {len(np.unique(attached.bodies))} rigid bodies, "
            "and both are solved at once"])

    @property
    def unknowns(self) -> int:
        """Coordinates of the free nodes and of all joints, and as many rates."""
        return self.soft.unknowns + self.jointed.unknowns

    def owns(self, name: str) -> bool:
        """Whether a body of this name is among them."""
        return self.soft.owns(name) or self.jointed.owns(name)

    def initial_state(self) -> State:
        """The state at the start frame, joints as they are told and soft bodies on them. Raises Diverged."""
        joints = self.jointed.initial_state()
        return self.joined([self.soft.initial_state(self._led(joints)), joints])

    def _led(self, joints: State) -> Led:
        """What a state of the joints has attached nodes do."""
        return self._flesh.attached.led(self._skeleton.bodies(joints))

    def parted(self, state: State) -> list[State]:
        """The soft bodies' state, attached nodes where the joints have them, and the joints'."""
        soft, joints = self._apart(state)
        flesh, bones = dict(soft.memory), dict(joints.memory)
        for key in HISTORIES:
            if key in flesh:
                bones[key], flesh[key] = flesh[key][self._cut :], flesh[key][: self._cut]
        joints = replace(joints, memory=bones)
        return [replace(soft, memory=flesh, led=self._led(joints)), joints]

    def _apart(self, state: State) -> tuple[State, State]:
        """The same with histories left whole: what an integrator remembers of both stands among the soft bodies'."""
        flesh = {key: value for key, value in state.memory.items() if not key.startswith(JOINTS)}
        bones = {key.removeprefix(JOINTS): value for key, value in state.memory.items() if key.startswith(JOINTS)}
        return (State(state.time, state.q[: self._cut], state.u[: self._cut], flesh),
                State(state.time, state.q[self._cut :], state.u[self._cut :], bones))

    def joined(self, states: Sequence[State], before: State | None = None) -> State:
        """One state of both, and one history."""
        soft, jointed = states
        flesh, bones = dict(soft.memory), dict(jointed.memory)
        for key in HISTORIES:
            if key in bones:
                flesh[key] = np.concatenate([flesh[key], bones.pop(key)])
        memory = flesh | {JOINTS + key: value for key, value in bones.items()}
        return State(soft.time, np.concatenate([soft.q, jointed.q]), np.concatenate([soft.u, jointed.u]), memory)

    def step(self, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        for law in self.soft.contacts:
            law.begin(self.positions(state), state.time)
        soft, joints = self._finished(state, h)
        self.soft.refuse_blow_up(soft)
        self.soft.note_remarks(soft)
        self._gather_notes()
        return self.joined([soft, joints])

    def _finished(self, state: State, h: float) -> tuple[State, State]:
        """Both states at the end of a step, what must hold exactly held. Raises StepFailed.

        Rates that a drive tells lead past where it wants its body at the end, by half of what they change in the step
        or so, and that is mended once the step is solved. Where something is before that bit of way the step is solved
        anew with rates that lead there, so that what is soft gives way.
        """
        constraints, ahead = self.jointed.constraints, np.zeros(self.jointed.unknowns)
        for _ in range(AIMS):
            soft, joints = self._integrated(state, h, ahead)
            posed = self.jointed.condensation.last
            behind = np.zeros_like(ahead) if constraints is None or posed is None else constraints.behind(joints, posed)
            solved = self._flesh.place(soft.q, soft.time, soft.led)
            joints = self.jointed.finish(joints, alone=False)
            soft = replace(soft, led=self._led(joints))
            finished = self._flesh.place(soft.q, soft.time, soft.led)
            if self.soft.largest_step(solved, finished) == 1.0:
                return soft, joints
            if not behind.any():
                break
            ahead += behind / h
        by = float(np.abs(finished - solved).max())
        raise StepFailed(f"what joints bring to its place by {by:.3g} m at the end of a step has something before "
                         f"it{nearest(self.soft.touched_at(solved))}", None, GIVE_WAY)

    def _integrated(self, state: State, h: float, ahead: Vec) -> tuple[State, State]:
        """Both states as the integrator leaves them. ahead: how much faster than told drives go, (m,)."""
        constraints = self.jointed.constraints
        try:
            if constraints is not None:
                constraints.hasten(ahead if ahead.any() else None)
            soft, joints = self.parted(self.jointed.integrated(self, state, h, self.soft.integrator))
        except np.linalg.LinAlgError as failure:
            raise StepFailed("the step's system of equations is singular") from failure
        finally:
            if constraints is not None:
                constraints.hasten(None)
        return soft, joints

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """There is no other way."""
        raise failure

    # what integrators ask

    @property
    def beta(self) -> float:
        """Of semi-implicit Euler, on K alone."""
        return self.soft.beta

    def acceleration(self, state: State) -> Vec:
        """Raises BadScene."""
        raise BadScene("flesh that hangs on bones has its weight on them, so neither accelerates by itself: only a "
                       "stage of both knows how", "Use an integrator that begins with no accelerations, such as SDIRK2")

    def tangent(self, state: State, time: float) -> Tangent:
        """There is none, as the mechanisms have none."""
        return self.jointed.tangent(state, time)

    def keep_spin(self, before: State, after: State, h: float, posed: Together) -> State:
        """The end of a step with the angular momentum that what flies freely had before it, with bones or without."""
        damped = posed.lin.damped
        start, end = self.parted(before), self.parted(after)
        soft, joints = self._flying.keep(start, end, h, damped)
        return self.joined([self.soft.with_spin(start[0], replace(soft, led=self._led(joints)), h, damped), joints])

    @cached_property
    def _flying(self) -> FlyingBones:
        return FlyingBones(self.soft, self.jointed)

    def pose(self, at: State, stage: Stage, time: float | None = None) -> Together:
        """The stage of both linearised at a state and factored; time: where D is taken. Raises StepFailed."""
        soft, joints = self._apart(at)
        kept: Vec | None = None
        if stage.base is None:
            # in a linearised step bones keep the momentum of where the last one was solved, and so does what they carry
            earlier = self._skeleton.earlier(joints, flown_since(joints.memory, stage.h))
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
            after = self.reach(replace(stage, base=start.q, beta=1.0), start)
            return replace(after, memory=stepped(after.memory, 0.0, JOINTS))
        return after if stage.base is not None else replace(after, memory=stepped(after.memory, stage.h, JOINTS))

    def goes_on(self, state: State, before: Index, h: float) -> bool:
        """Never: joints feel what their flesh touches at once."""
        return False

    def touching(self, state: State) -> Index:
        """Nodes that touch the ground, and what the mechanisms say."""
        soft, joints = self.parted(state)
        return np.concatenate([self.soft.touching(soft), len(self.soft.rest) + self.jointed.touching(joints)])

    def reach(self, stage: Stage, start: State, held: GivenDirections | None = None) -> State:
        """The end of a stage of both at once: M (u − û) = a h f(q, u), q = base + b h u. Raises StepFailed.

        With ConJac the quasistatic nodes balance there, as they do without bones. [ConJac MUSCLE]
        """
        cut, flesh = self._cut, self._flesh
        of_flesh, of_joints = self._stages(stage)
        soft, joints = self.parted(start)

        # damping is that of where both will be by then
        ahead = joints.q + (stage.time - start.time) * joints.u
        damped = self.soft.damped_through(stage, replace(soft, led=self._led(replace(joints, q=ahead))))

        kept: Vec | None = None
        if stage.momentum is Momentum.STRAIGHT:
            # what hangs on bones keeps its momentum as they do
            stood = self._skeleton.bodies(joints)
            kept = flesh.attached.velocities(stood.E, stood.twist)

        rubs: list[StencilForce] = []  # of surfaces, with the loads that they have now

        def pose_at(q: Vec, u: Vec, project: bool = True) -> Together:
            where = State(stage.time, q[cut:], u[cut:], joints.memory)
            at = self._skeleton.bodies(where)
            x, v = flesh.place(q[:cut], stage.time, flesh.attached.led(at)), flesh.spread(u[:cut], of_flesh.w)
            lin = replace(self.soft.linearise_at(x, v, stage.time, project, rubs), damped=damped, memory=soft.memory)
            return Together(self.soft, self._skeleton, at, lin, of_flesh, where, of_joints, kept)

        def apart() -> State:
            return reach(pose_at, self.soft.evaluate, stage, start, self.soft.stage_solver.limits, self.soft.extent,
                         "flesh and bones")

        if not self.soft.contacts:
            after = apart()
        elif self._reduced is not None:
            after = self._balanced(self._reduced, apart, stage, start, damped)
        else:
            after = reach_bounded(pose_at, self._surroundings(stage, start, rubs), stage, start,
                                  self.positions(start), *self._sizes)
        self.jointed.count_impact(joints)
        if self.soft.friction is None or not len(self.soft.touching(self.parted(after)[0])):
            return remember(after, of_flesh, None)
        return rubbed(self.soft, pose_at(after.q, after.u, self.soft.project), after)

    def _surroundings(self, stage: Stage, start: State, rubs: list[StencilForce]) -> Surroundings:
        """What surfaces ask of a stage. rubs: is given their friction."""
        reached = stage.b * stage.h
        base = self.positions(replace(start, time=stage.time, q=start.q if stage.base is None else stage.base))

        def loads(x: Vec) -> None:
            rubs[:] = [one for law in self.soft.contacts if (one := law.sliding(x, base, reached)) is not None]

        def place(q: Vec) -> Vec:
            return self.positions(replace(start, time=stage.time, q=q))

        return Surroundings(place, self.soft.largest_step, loads, self.soft.touched_at)

    @property
    def _sizes(self) -> tuple[StopRule, float, float]:
        """When a stage is done, how large the largest body is, and a mean edge of the surfaces [m]."""
        return self.soft.stage_solver.limits, self.soft.extent, min(law.edge for law in self.soft.contacts)

    def _balanced(self, reduced: Reduced, apart: Callable[[], State], stage: Stage, start: State,
                  damped: Damped | None) -> State:
        """The end of a stage where most nodes follow others: as if nothing touched where nothing does, else by
        positions of all nodes. Raises StepFailed."""
        of_flesh, of_joints = self._stages(stage)
        (soft, joints), begun = self.parted(start), self.positions(start)
        if not touches(self.soft, begun, begun):
            try:
                after = apart()
            except StepFailed:
                pass  # it may have met something
            else:
                if not touches(self.soft, begun, self.positions(after)):
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
            where = State(stage.time, q[cut:], u[cut:], joints.memory)
            at = self._skeleton.bodies(where)
            x, y = flesh.place(q[:cut], stage.time, flesh.attached.led(at)), flesh.spread(u[:cut], of_flesh.w)
            force = self.soft.evaluate(x, y, stage.time, rubs)[0]
            return Standing(where, at, self._skeleton.carrying(u[cut:]), y, force), x

        def pose_at(q: Vec, u: Vec, project: bool) -> BalancedTogether:
            here, x = stand(q, u)

            def lin_at(project: bool) -> Linearised:
                return replace(self.soft.linearise_at(x, here.positions, stage.time, project, rubs), damped=damped)

            return BalancedTogether(whole, inertia, self._skeleton, here, lin_at, project, of_flesh, of_joints)

        def slope_at(posed: BalancedTogether, q: Vec, u: Vec) -> float:
            return posed.slope(stand(q, u)[0])

        after = reach_balanced(pose_at, slope_at, self._surroundings(stage, start, rubs), stage, start, begun,
                               *self._sizes)
        u = after.u.copy()
        there = stand(after.q, after.u)[0]
        u[:cut] = inertia.velocities(there.positions, there.rates)[flesh.free].ravel()
        return replace(after, u=u)

    def positions(self, state: State) -> Vec:
        """Of all nodes, (n, 3) [m]."""
        soft = self.parted(state)[0]
        return self._flesh.place(soft.q, soft.time, soft.led)

    def deformation(self, before: State, after: State) -> float:
        """What a step's velocities change an edge by at most, as a share of its length."""
        return self.soft.deformation(self.parted(before)[0], self.parted(after)[0])
