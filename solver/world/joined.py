"""Soft bodies that hang on bones: both worlds in one, their velocities solved at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..condensation.interface import Joined, Stage
from ..condensation.tree import OnBodies
from ..coordinates.attached import RidingNodes
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.prescribed import Motion
from ..errors import StepFailed
from ..integrators.joined import Bodies, JoinedSemiImplicit, place_on
from ..job.folder import Job
from ..linear.stiffened import Stiffened
from ..meshing.volume import Volume
from ..state import Index, State, Vec
from .beside import Beside
from .build import assemble, prepare_all
from .fields import Prepared
from .mechanism import MechanismWorld
from .riders import rates_that_move, riders
from .volumes import Stage as Report


class WithSoft:
    """Semi-implicit Euler of a mechanism, with the G and g of soft bodies on some of its rates. [Thesis 3.6]"""

    order = 1
    remembers: tuple[str, ...] = ()
    linear_euler = False

    def __init__(self, factor: Stiffened, rates: Index) -> None:
        """rates: on which soft bodies act, (c,)."""
        self.factor, self.rates = factor, rates
        self.matrix: Vec = np.zeros((len(rates), len(rates)))  #: G of the next step
        self.impulse: Vec = np.zeros(len(rates))  #: g, but for what the condensation is given on bodies
        self.found: Vec = np.zeros(len(rates))  #: those rates as the last step found them

    def step(self, system: Any, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        lin = system.linearise(state)
        self.factor.add(self.rates, self.matrix)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, lin.v, None, system.condensation.beta)
        posed = system.condensation.pose(lin, stage)
        posed.right[self.rates] += self.impulse
        u = posed.solve()
        self.found = u[self.rates]
        return State(state.time + h, system.coordinates.advance(state.q, u, h), u, state.memory)


class Skeleton:
    """A mechanism as the soft bodies on it see it.

    What is condensed for them is one column for each rate that moves attached nodes. Friction inside joints has to know
    what they do to each body, not to rates alone: then it is six columns a body, and the rates come after.
    """

    def __init__(self, world: MechanismWorld, bodies: Index, by_body: bool) -> None:
        """bodies: those that carry nodes. From now on the world's steps have soft bodies in them."""
        self.world, tree = world, world.tree
        self._bodies, self._by_body = np.unique(bodies).astype(np.int32), by_body
        rates = rates_that_move(tree, self._bodies)
        factor = Stiffened(world.condensation.factor)
        world.condensation.factor = cast(Any, factor)
        self._integrator = WithSoft(factor, rates)
        world.integrator = cast(Any, self._integrator)
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

    def step(self, state: State, h: float, joined: Joined) -> tuple[Vec, State]:
        """As `Bones` says; from where `bodies` was asked last. Raises StepFailed."""
        integrator = self._integrator
        integrator.matrix = self._map.T @ joined.matrix @ self._map
        if self._by_body:
            self.world.condensation.on_bodies = OnBodies(self._bodies, joined.matrix, joined.impulse)
        else:
            integrator.impulse = joined.impulse
        after = self.world.step(state, h)
        return self._map @ integrator.found, after

    def give(self) -> Vec:
        """As `Bones` says."""
        give: Vec = self._integrator.factor.solve(self._unit)[self._integrator.rates]
        return self._map @ give @ self._map.T


@dataclass
class JoinedWorld(Beside):
    """Soft bodies of which some hang on bones, and all mechanisms, in one system."""

    by_body: bool = False  #: whether the mechanisms have to know what soft bodies do to each body

    def __post_init__(self) -> None:
        self._coordinates = cast(RidingNodes, self.soft.coordinates)
        self._skeleton = Skeleton(self.jointed, self._coordinates.attached.bodies, self.by_body)
        self._step = JoinedSemiImplicit()

    @property
    def notes(self) -> list[str]:
        riding = self._coordinates.attached
        return [*self.soft.notes, *self.jointed.notes,
                f"{len(riding.nodes)} soft nodes ride on {len(np.unique(riding.bodies))} rigid bodies, and both are "
                "solved at once"]

    def initial_state(self) -> State:
        """The state at the start frame, joints as they are told and soft bodies on them. Raises Diverged."""
        joints = self.jointed.initial_state()
        place_on(self._coordinates, self._skeleton.bodies(joints))
        return self.joined(self.soft.initial_state(), joints)

    def parted(self, state: State) -> tuple[State, State]:
        """The soft bodies' state and the joints'; attached nodes are where the latter has them from now on."""
        soft, joints = super().parted(state)
        place_on(self._coordinates, self._skeleton.bodies(joints))
        return soft, joints

    def step(self, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        try:
            soft, joints = self._step.step(self.soft, self._skeleton, *self.parted(state), h)
        except np.linalg.LinAlgError as failure:
            raise StepFailed("the step's system of equations is singular") from failure
        self.soft.refuse_blow_up(soft)
        return self.joined(soft, joints)

    def deformation(self, before: State, after: State) -> float:
        """What a step's velocities change an edge by at most, as a share of its length."""
        start, _ = super().parted(before)
        return self.soft.deformation(start, self.parted(after)[0])


def build_joined(job: Job, report: Report, volumes: list[Volume], rigid: MechanismWorld) -> Beside:
    """The world of soft bodies of which some hang on a mechanism. Raises as `build.build` does."""
    prepared = prepare_all(job, report, volumes)
    report("world", None, None, "Analysing the stiffness matrix")
    by_body = job.scene.joint_friction.kind != "none"
    riding = Riding(prepared, rigid, 1.0 / (job.scene.time.fps * job.scene.time.samples_per_frame), by_body)
    soft = assemble(job, prepared, riding.coordinates)
    return JoinedWorld(soft, rigid, by_body) if len(riding.riders) else Beside(soft, rigid)


class Riding:
    """Makes the coordinates of soft bodies of which some hang on a mechanism."""

    def __init__(self, prepared: list[Prepared], rigid: MechanismWorld, interval: float, by_body: bool) -> None:
        """interval: between samples of what moves as told [s]."""
        self._prepared, self._rigid, self._interval, self._by_body = prepared, rigid, interval, by_body
        self.riders: Index = np.zeros(0, dtype=np.int32)  #: nodes on bodies that joints move

    def coordinates(self, rest: Vec, prescribed: Index, motion: Motion | None, first: Index) -> FreeNodes:
        """Nodes on bodies that nothing moves, or that move as told, are prescribed; the others ride."""
        on = riders(self._prepared, first, self._rigid)
        nodes, motion = on.led(rest, prescribed, motion, self._interval)
        self.riders = on.attached.nodes
        if not len(self.riders):
            return FreeNodes(rest, nodes, motion)
        tree, bodies = self._rigid.tree, on.attached.bodies
        columns = 6 * len(np.unique(bodies)) if self._by_body else len(rates_that_move(tree, bodies))
        return RidingNodes(rest, nodes, motion, on.attached, columns)
