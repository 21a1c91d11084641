"""Points of other parts that a cloth with steps of its own touches or hangs on: where they are, and what it does to
them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..coordinates.attached import Attached
from ..coordinates.prescribed import OnItsWay, Still
from ..forces.pulls import Pull
from ..parts.joints.point_forces import PointForces
from ..state import Index, State, Vec
from .nodes import Nodes

if TYPE_CHECKING:
    from .joints import Joints


class Carrier(Protocol):
    """Some points of one part."""

    part: int  #: its place in the world

    def places(self, state: State) -> Vec:
        """Where they are in a state of that part, (k, 3) [m]."""

    def let_go(self) -> None:
        """Nothing acts on the part that is no part of it."""

    def bear(self, forces: Vec, resist: Vec, way: OnItsWay) -> None:
        """These act on the points besides, (k, 3) [N]; and where something has more to say as soon as they go another
        way than so, they resist that with so much [N/m], (k,)."""

    def borne(self, resist: Vec, off: Vec) -> Vec:
        """Which forces those were that resisted, where points came to stand so far off that way, (k, 3) [N], [m]."""


class Resists(Pull):
    """Springs that hold nodes to the way that they were thought to go."""

    def __init__(self, nodes: Index) -> None:
        """nodes: (k,)."""
        super().__init__(nodes, np.zeros(len(nodes)), Still(np.zeros((len(nodes), 3))))

    def set(self, stiffness: Vec, way: OnItsWay | None) -> None:
        """With so much [N/m], (k,)."""
        self._stiffness = stiffness
        if way is not None:
            self.places = way

    def at_work(self, time: float) -> bool:
        return bool(self._stiffness.any())


@dataclass
class OnNodes:
    """Nodes of soft bodies."""

    part: int
    soft: Nodes
    nodes: Index  #: (k,)

    def __post_init__(self) -> None:
        self._resists = Resists(self.nodes)
        self.soft.pulls = [*self.soft.pulls, self._resists]

    def places(self, state: State) -> Vec:
        return self.soft.nodes_at(state)[0][self.nodes]

    def let_go(self) -> None:
        self.soft.bear(np.zeros_like(self.soft.rest))
        self._resists.set(np.zeros(len(self.nodes)), None)

    def bear(self, forces: Vec, resist: Vec, way: OnItsWay) -> None:
        self.soft.bear(self.soft.borne + self._spread(forces))
        self._resists.set(resist, way)

    def borne(self, resist: Vec, off: Vec) -> Vec:
        return -resist[:, None] * off

    def _spread(self, forces: Vec) -> Vec:
        out = np.zeros_like(self.soft.rest)
        out[self.nodes] += forces
        return out


@dataclass
class OnBones:
    """Points of rigid bodies that joints move."""

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

    def bear(self, forces: Vec, resist: Vec, way: OnItsWay) -> None:
        acting = self.jointed.condensation.outside
        assert acting is not None
        self.jointed.condensation.outside = acting.and_more(PointForces(self.points.bodies, self.points.places, forces))

    def borne(self, resist: Vec, off: Vec) -> Vec:
        return np.zeros_like(off)  # they are heavy: nothing resists
