"""Points of other parts that a cloth with steps of its own touches or hangs on: where they are, and what it does to
them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..coordinates.attached import Attached
from ..parts.eol.giving import Gives
from ..parts.joints.point_forces import PointForces
from ..state import Index, State, Vec
from .nodes import Nodes

if TYPE_CHECKING:
    from .joints import Joints


HARDLY = 1.0e-4  #: of how a body would give alone: so much it gives where joints hold it


class Carrier(Protocol):
    """Some points of one part."""

    part: int  #: its place in the world

    def places(self, state: State) -> Vec:
        """Where they are in a state of that part, (k, 3) [m]."""

    def let_go(self) -> None:
        """Nothing acts on the part that is no part of it."""

    def bear(self, forces: Vec) -> None:
        """These act on the points besides, (k, 3) [N]."""

    def gives(self, state: State) -> Gives:
        """How the points give way to impulses, as well as can be told without the rest of what holds them."""


@dataclass
class OnNodes:
    """Nodes of soft bodies."""

    part: int
    soft: Nodes
    nodes: Index  #: (k,)

    def places(self, state: State) -> Vec:
        return self.soft.nodes_at(state)[0][self.nodes]

    def let_go(self) -> None:
        self.soft.bear(np.zeros_like(self.soft.rest))

    def bear(self, forces: Vec) -> None:
        out = self.soft.borne.copy()
        out[self.nodes] += forces
        self.soft.bear(out)

    def gives(self, state: State) -> Gives:
        """By their inertia: what they hang on resists besides, so this is as far as they may go. Whoever is told too
        little is led there step by step, whoever is told too much is thrown about."""
        mass = np.where(self.soft.coordinates.is_free, self.soft.mass, np.inf)
        return Gives.nodes(mass[self.nodes])


@dataclass
class OnBones:
    """Points of one rigid body that joints move."""

    part: int
    jointed: Joints
    points: Attached  #: whose `nodes` nobody asks for

    def __post_init__(self) -> None:
        self.jointed.condensation.outside = PointForces.none()

    def places(self, state: State) -> Vec:
        tree = self.jointed.tree
        at = tree.posture(state.q, state.u, state.memory)
        return self.points.positions(at.E)

    def let_go(self) -> None:
        self.jointed.condensation.outside = PointForces.none()

    def bear(self, forces: Vec) -> None:
        acting = self.jointed.condensation.outside
        assert acting is not None
        self.jointed.condensation.outside = acting.and_more(PointForces(self.points.bodies, self.points.places, forces))

    def gives(self, state: State) -> Gives:
        """By the inertia of the whole tree as it is felt there; where joints leave it no way it hardly gives."""
        jointed, body = self.jointed, int(self.points.bodies[0])
        tree, lin = jointed.tree, jointed.linearise(state)
        J = tree.jacobian(lin.posture)[6 * body : 6 * body + 6]
        alone = np.linalg.inv(tree.inertia[body])
        gives = J @ jointed.condensation.by_inertia(lin, state.time)(np.ascontiguousarray(J.T)) + HARDLY * alone
        E = lin.posture.E[body]
        turn = np.kron(np.eye(2), E[:3, :3])
        inertia = turn @ np.linalg.inv(gives) @ turn.T
        return Gives.body(self.points.places @ E[:3, :3].T, 0.5 * (inertia + inertia.T))
