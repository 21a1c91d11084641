"""Soft bodies that hang on bones: both worlds in one, their velocities solved at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..condensation.interface import Joined, Stage
from ..coordinates.attached import RidingNodes
from ..coordinates.prescribed import Motion
from ..coordinates.tree import Tree
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
from .riders import riders
from .volumes import Stage as Report


def rates_that_move(tree: Tree, bodies: Index) -> Index:
    """Rates of the joints on the way from the world to these bodies, ascending."""
    on_the_way: set[int] = set()
    for body in {*bodies.tolist()}:
        while body >= 0 and body not in on_the_way:
            on_the_way.add(body)
            body = int(tree.parent[body])
    return np.array([rate for body in sorted(on_the_way) for rate in range(tree.dof[body], tree.dof[body + 1])],
                    dtype=np.int32)


class WithSoft:
    """Semi-implicit Euler of a mechanism, with the G and g of soft bodies on some of its rates. [Thesis 3.6]"""

    order = 1
    remembers: tuple[str, ...] = ()

    def __init__(self, factor: Stiffened, rates: Index) -> None:
        """rates: on which soft bodies act, (c,)."""
        self.factor, self.rates = factor, rates
        self.joined: Joined | None = None  #: of the next step
        self.found: Vec = np.zeros(len(rates))  #: those rates as the last step found them

    def step(self, system: Any, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        assert self.joined is not None
        lin = system.linearise(state)
        self.factor.add(self.rates, self.joined.matrix)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, lin.v, None, system.condensation.beta)
        posed = system.condensation.pose(lin, stage)
        posed.right[self.rates] += self.joined.impulse
        u = posed.solve()
        self.found = u[self.rates]
        return State(state.time + h, system.coordinates.advance(state.q, u, h), u, state.memory)


class Skeleton:
    """A mechanism as the soft bodies on it see it."""

    def __init__(self, world: MechanismWorld, rates: Index) -> None:
        """rates: those that move attached nodes, (c,). From now on the world's steps have soft bodies in them."""
        self.world, tree = world, world.tree
        factor = Stiffened(world.condensation.factor)
        world.condensation.factor = cast(Any, factor)
        self._integrator = WithSoft(factor, rates)
        world.integrator = cast(Any, self._integrator)
        self._unit = np.zeros((tree.rates, len(rates)))
        self._unit[rates, np.arange(len(rates))] = 1.0
        self._posture = tree.blank()

    def bodies(self, state: State) -> Bodies:
        """Where the bodies are; written anew by the next call."""
        tree = self.world.tree
        at = tree.posture(state.q, state.u, state.memory, self._posture)
        return Bodies(at.E, tree.spread(at, self._unit), at.twist, at.drift)

    def step(self, state: State, h: float, joined: Joined) -> tuple[Vec, State]:
        """As `Bones` says. Raises StepFailed."""
        self._integrator.joined = joined
        after = self.world.step(state, h)
        return self._integrator.found, after

    def give(self) -> Vec:
        """As `Bones` says."""
        give: Vec = self._integrator.factor.solve(self._unit)[self._integrator.rates]
        return give


@dataclass
class JoinedWorld(Beside):
    """Soft bodies of which some hang on bones, and all mechanisms, in one system."""

    def __post_init__(self) -> None:
        self._coordinates = cast(RidingNodes, self.soft.coordinates)
        moving = rates_that_move(self.jointed.tree, self._coordinates.attached.bodies)
        self._skeleton = Skeleton(self.jointed, moving)
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


def build_joined(job: Job, report: Report, volumes: list[Volume], rigid: MechanismWorld) -> JoinedWorld:
    """The world of soft bodies of which some hang on a mechanism. Raises as `build.build` does."""
    prepared = prepare_all(job, report, volumes)
    report("world", None, None, "Analysing the stiffness matrix")
    return JoinedWorld(assemble(job, prepared, _riding(prepared, rigid)), rigid)


def _riding(prepared: list[Prepared], rigid: MechanismWorld) -> Callable[[Vec, Index, Motion | None, Index],
                                                                          RidingNodes]:
    """Makes the coordinates of soft bodies of which some hang on a mechanism."""
    def made(rest: Vec, prescribed: Index, motion: Motion | None, first: Index) -> RidingNodes:
        attached = riders(prepared, first, rigid)
        return RidingNodes(rest, prescribed, motion, attached, len(rates_that_move(rigid.tree, attached.bodies)))

    return made
