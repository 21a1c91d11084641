"""Penalty contact of nodes with the ground, and its friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...state import Index, Mask, Vec
from ..find.ground import NOWHERE, Contacts, Ground
from .interface import Friction
from .lagged_ground_friction import LaggedGroundFriction
from .static_friction import ANCHORS, STIFFNESS_RATIO, STUCK_NODES, StaticFriction


@dataclass(frozen=True)
class GroundPenalty:
    """Penalty contact with the ground: f = −k (n · (x − x_s)) n, K = −k (n nᵀ + α (1 − n nᵀ)), negative semi-definite.

    For α = 0 K is ∂f/∂x. The term with α has no force: in a semi-implicit step it is a drag of β h α k on each node in
    contact, independent of its normal force; converged methods do not depend on α. [ConJac BUNNY, changed: α may be 0]
    """

    plane: Ground
    stiffness: Vec  #: k of each node [N/m], (n,)
    is_free: Mask  #: nodes with friction, (n,)
    friction: Friction | None = None
    tangential: float = 0.0  #: α, from 0 to 1
    reach: Vec | float = 0.0  #: distance from each node out to its body's surface [m], (n,), or negative

    @classmethod
    def nowhere(cls, is_free: Mask) -> GroundPenalty:
        """Return a penalty contact without a ground, so without forces. is_free: nodes with friction, (n,)."""
        return cls(NOWHERE, np.zeros(len(is_free)), is_free)

    def find(self, x: Vec, time: float) -> Contacts:
        """Return the contacts of all nodes at positions x, (n, 3) [m], that penetrate the ground at `time` [s]."""
        return self.plane.find(x, time, self.reach)

    def gaps(self, nodes: Index, x: Vec, time: float) -> Vec:
        """Return the gaps between `nodes`, (k,), less their reach, and the ground at `time` [s], (k,) [m].

        x: positions of all nodes, (n, 3) [m].
        """
        gap: Vec = self.plane.gaps(x[nodes], time) - np.broadcast_to(self.reach, len(x))[nodes]
        return gap

    def add_force(self, contacts: Contacts, force: Vec) -> float:
        """Add the forces of contacts to `force` of all nodes, (n, 3) [N]; return their energy Σ ½ k gap² [J]."""
        if not len(contacts):
            return 0.0
        normal_force = self.stiffness[contacts.nodes] * contacts.gap
        force[contacts.nodes] -= normal_force[:, None] * contacts.normal
        return 0.5 * float(normal_force @ contacts.gap)

    def add_stiffness(self, contacts: Contacts, blocks: Vec) -> None:
        """Add the stiffness of contacts to the diagonal blocks of K of all nodes, (n, 3, 3) [N/m]."""
        if len(contacts):
            across = contacts.normal[:, :, None] * contacts.normal[:, None, :]
            along = np.eye(3) - across
            blocks[contacts.nodes] -= self.stiffness[contacts.nodes, None, None] * (across + self.tangential * along)

    @property
    def has_static_friction(self) -> bool:
        """Whether friction is a force of positions, with anchors of sticking nodes."""
        return self.friction is not None and self.friction.has_static_friction

    def has_friction_at(self, x: Vec, time: float) -> bool:
        """Return whether friction acts on any node at positions x, (n, 3) [m], at `time` [s]."""
        return self.friction is not None and len(self.find(x, time).of(self.is_free)) > 0

    def anchors(self, memory: Mapping[str, Vec], x: Vec, time: float) -> Vec:
        """Return the anchors of all nodes, (n, 3) [m], relative to the reference point of the ground.

        Nodes without an anchor in memory have their position at `time` [s]. x: positions of all nodes, (n, 3) [m].
        """
        out: Vec = x - self.plane.point(time)
        if STUCK_NODES in memory:
            out[memory[STUCK_NODES].astype(np.int64)] = memory[ANCHORS].reshape(-1, 3)
        return out

    def build_static_friction(self, x: Vec, time: float, anchors: Vec) -> StaticFriction | None:
        """Return friction as a force of positions, with the normal forces at positions x; None if no node has friction.

        x: positions of all nodes, (n, 3) [m]. time: [s]. anchors: of all nodes, as `anchors` returns them, (n, 3) [m].
        """
        contacts = self.find(x, time).of(self.is_free)
        load = self.stiffness[contacts.nodes] * -contacts.gap
        return self.build_static_friction_under_load(load, contacts.nodes, contacts.normal, time, anchors)

    def build_static_friction_under_load(self, load: Vec, nodes: Index, normal: Vec, time: float,
                                         anchors: Vec) -> StaticFriction | None:
        """Return friction as a force of positions under given normal forces; None if no node has friction.

        load: normal forces of `nodes` (k,), not negative, (k,) [N]. normal: unit, (k, 3). time: [s]. anchors: of all
        nodes, as `anchors` returns them, (n, 3) [m].
        """
        bound = 0.0 * load if self.friction is None else self.friction.coefficient * load
        if not bound.any():
            return None
        nodes, normal, bound = nodes[bound > 0.0], normal[bound > 0.0], bound[bound > 0.0]
        point = self.plane.point(time)
        return StaticFriction(nodes, normal, anchors[nodes] + point, bound, STIFFNESS_RATIO * self.stiffness[nodes],
                              point)

    def lag_friction(self, x: Vec, time: float, base: Vec, seconds: float,
                     creep: float) -> LaggedGroundFriction | None:
        """Return the friction of a stage with the normal forces at positions x, (n, 3) [m]; None without friction.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: time from base to the stage's end [s], which is at
        `time` [s]. creep: speed below which friction is reduced [m/s].
        """
        contacts = self.find(x, time).of(self.is_free)
        if self.friction is None or not len(contacts):
            return None
        bound = self.friction.coefficient * self.stiffness[contacts.nodes] * -contacts.gap
        moved = base[contacts.nodes] + seconds * self.plane.velocity(time)
        return LaggedGroundFriction(contacts.nodes, contacts.normal, moved, bound, creep, seconds)
