"""Soft bodies that hang on bones: both worlds in one, their velocities solved at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..coordinates.attached import Bodies, RidingNodes
from ..coordinates.tree import PAIRS, Tree
from ..errors import StepFailed
from ..integrators.friction import friction_impulses, remember
from ..integrators.interface import System
from ..integrators.joined import JoinedSemiImplicit
from ..linear.woodbury import WoodburyUpdate
from ..nonlinear.coupled import SETTLE, reach
from ..parts.interface import Eliminated, Posed, Stage
from ..parts.joints.jointed import OnBodies
from ..parts.together import Together
from ..state import Index, State, Vec
from .beside import Beside
from .mechanism import MechanismWorld, Rates

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

    def __init__(self, world: MechanismWorld, bodies: Index, by_body: bool) -> None:
        """bodies: those that carry nodes. From now on the world's steps have soft bodies in them."""
        self.world, tree = world, world.tree
        self._bodies, self._by_body = np.unique(bodies).astype(np.int32), by_body
        self._rates = rates = rates_that_move(tree, self._bodies)
        self._factor = WoodburyUpdate(world.condensation.factor)
        world.condensation.factor = cast(Any, self._factor)
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
        """As `MovedBones` says; written anew by the next call of `bodies`."""
        at = self.world.tree.posture(state.q - h * state.u, state.u, state.memory, self._posture)
        return Bodies(at.E, self._twists, at.twist, at.drift)

    def carrying(self, u: Vec) -> Vec:
        """As `Bones` says."""
        out: Vec = self._map @ u[self._rates]
        return out

    def solve(self, state: State, stage: Stage, joined: Eliminated) -> Vec:
        """As `Bones` says. [Thesis 3.6]"""
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

    def advance(self, state: State, u: Vec, h: float) -> State:
        """As `MovedBones` says."""
        posed = self.world.condensation.last
        assert posed is not None
        q = self.world.coordinates.advance(state.q, u + posed.correction(u), h)
        return self.world.land(State(state.time + h, q, u, state.memory))

    def give(self) -> Vec:
        """As `Bones` says."""
        give: Vec = self._factor.solve(self._unit)[self._rates]
        return self._map @ give @ self._map.T


@dataclass
class JoinedWorld(Beside):
    """Soft bodies of which some hang on bones, and all mechanisms, in one system.

    To an integrator that solves its stages to their root it is one system whose coordinates are those of both, q̇ = u.
    """

    by_body: bool = False  #: whether the mechanisms have to know what soft bodies do to each body
    iterates: bool = False  #: whether the integrator solves its stages to their root

    def __post_init__(self) -> None:
        self.coordinates = Rates()
        self._flesh = cast(RidingNodes, self.soft.coordinates)
        self._skeleton = Skeleton(self.jointed, self._flesh.attached.bodies, self.by_body)
        self._cut = 3 * len(self._flesh.free)

    @property
    def notes(self) -> list[str]:
        riding = self._flesh.attached
        return [*self.soft.notes, *self.jointed.notes,
                f"{len(riding.nodes)} soft nodes ride on {len(np.unique(riding.bodies))} rigid bodies, and both are "
                "solved at once"]

    def initial_state(self) -> State:
        """The state at the start frame, joints as they are told and soft bodies on them. Raises Diverged."""
        joints = self.jointed.initial_state()
        self._flesh.ride_on(self._skeleton.bodies(joints))
        return self.joined(self.soft.initial_state(), joints)

    def parted(self, state: State) -> tuple[State, State]:
        """The soft bodies' state and the joints'; attached nodes are where the latter has them from now on."""
        soft, joints = super().parted(state)
        flesh, bones = dict(soft.memory), dict(joints.memory)
        for key in HISTORIES:
            if key in flesh:
                bones[key], flesh[key] = flesh[key][self._cut :], flesh[key][: self._cut]
        soft, joints = replace(soft, memory=flesh), replace(joints, memory=bones)
        self._flesh.ride_on(self._skeleton.bodies(joints))
        return soft, joints

    def joined(self, soft: State, jointed: State) -> State:
        """One state of both, and one history."""
        flesh, bones = dict(soft.memory), dict(jointed.memory)
        for key in HISTORIES:
            if key in bones:
                flesh[key] = np.concatenate([flesh[key], bones.pop(key)])
        return super().joined(replace(soft, memory=flesh), replace(jointed, memory=bones))

    def step(self, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        try:
            if self.iterates:
                # the protocol of integrators speaks of nodes; those for jointed bodies ask only what all worlds have
                soft, joints = self.parted(self.jointed.integrated(cast(System, self), state, h))
                joints = self.jointed.land(joints)
            else:
                soft, joints = JoinedSemiImplicit().step(self.soft, self._skeleton, *self.parted(state), h)
        except np.linalg.LinAlgError as failure:
            raise StepFailed("the step's system of equations is singular") from failure
        self.soft.refuse_blow_up(soft)
        self.soft.note_remarks()
        return self.joined(soft, joints)

    # what integrators ask

    def velocity(self, state: State) -> Vec:
        """Of the free nodes, (3 f,) [m/s], and the joints' rates, (m,)."""
        return state.u

    def touching(self, state: State) -> Index:
        """Nodes that touch the ground, and what the mechanisms say."""
        soft, joints = self.parted(state)
        return np.concatenate([self.soft.touching(soft), len(self.soft.rest) + self.jointed.touching(joints)])

    def reach(self, stage: Stage, start: State, held: None = None) -> State:
        """The end of a stage of both at once: M (u − û) = a h f(q, u), q = base + b h u. Raises StepFailed.

        With ConJac the quasistatic nodes balance there, as they do without bones. [ConJac MUSCLE]
        """
        cut, flesh = self._cut, self._flesh
        base = start.q if stage.base is None else stage.base
        of_flesh = replace(stage, base=base[:cut], v_hat=flesh.spread(stage.v_hat[:cut], None),
                           w=flesh.told_rate(stage.time))
        foreseen = None if stage.foreseen is None else (stage.foreseen[0][cut:], stage.foreseen[1][cut:])
        of_joints = replace(stage, base=base[cut:], v_hat=stage.v_hat[cut:], foreseen=foreseen)
        soft, joints = self.parted(start)

        # damping is that of where both will be by then
        ahead = self.coordinates.advance(joints.q, joints.u, stage.time - start.time)
        flesh.ride_on(self._skeleton.bodies(replace(joints, q=ahead)))
        damped = self.soft.damped_through(of_flesh, soft)

        def pose_at(q: Vec, u: Vec, project: bool) -> Together:
            where = State(stage.time, q[cut:], u[cut:], joints.memory)
            at = self._skeleton.bodies(where)
            flesh.ride_on(at)
            x, v = flesh.place(q[:cut], stage.time), flesh.spread(u[:cut], of_flesh.w)
            lin = replace(self.soft.linearise_at(x, v, stage.time, project), damped=damped, memory=soft.memory)
            return Together(self.soft, self._skeleton, at, lin, of_flesh, where, of_joints)

        after = reach(pose_at, self.soft.evaluate, stage, start, self.soft.stage_solver.limits, self.soft.extent,
                      "flesh and bones")
        self.jointed.count_impact(joints)
        if self.soft.friction is None or not len(self.soft.touching(self.parted(after)[0])):
            return remember(after, stage, None)
        return self._rub(pose_at(after.q, after.u, self.soft.project), stage, after)

    def _rub(self, posed: Together, stage: Stage, after: State) -> State:
        """The end of a stage that was solved without friction of the ground, posed there, and with it to first order.

        Raises StepFailed.
        """
        alone = posed.solve()
        impulses = friction_impulses(self.soft, cast(Posed, posed), posed.stage, after.u[: self._cut], after.memory)
        if impulses is None:
            return remember(after, stage, None)
        under = posed.under(impulses)
        change = under.solve() - alone
        q, u = self.coordinates.advance(after.q, change, stage.b * stage.h), after.u + change
        # friction is among the loads that balance
        return remember(State(after.time, under.settle(q, u, self.soft.evaluate, SETTLE), u, after.memory), stage,
                        impulses)

    def deformation(self, before: State, after: State) -> float:
        """What a step's velocities change an edge by at most, as a share of its length."""
        start, _ = super().parted(before)
        return self.soft.deformation(start, self.parted(after)[0])
