"""Nodes of soft bodies on the ground: a spring against the gap, and what their friction holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...state import Index, Mask, Vec
from ..find.ground import NOWHERE, Contacts, Ground
from .gripping import NODES, PLACES, SHARE, Gripping
from .interface import Friction


@dataclass(frozen=True)
class OnGround:
    """f = −k (n · (x − x_s)) n, K = −k (n nᵀ + α (1 − n nᵀ)), negative semi-definite.

    For α = 0 K is ∂f/∂x. What α adds has no force: a semi-implicit step feels it as a drag of β h α k on each touching
    node, whatever its load, and methods that iterate to the end do not feel it. [ConJac BUNNY, changed: α may be 0]
    """

    plane: Ground
    stiffness: Vec  #: k of each node [N/m], (n,)
    is_free: Mask  #: whom friction may brake, (n,)
    friction: Friction | None = None
    tangential: float = 0.0  #: α, from 0 to 1

    @classmethod
    def nowhere(cls, is_free: Mask) -> OnGround:
        """Of as many nodes, (n,), where there is none."""
        return cls(NOWHERE, np.zeros(len(is_free)), is_free)

    def find(self, x: Vec, time: float) -> Contacts:
        """Nodes of x, (n, 3) [m], that are inside at `time` [s]."""
        return self.plane.find(x, time)

    def add_force(self, contacts: Contacts, force: Vec) -> float:
        """Add to node forces, (n, 3) [N]; the energy ½ k gap² [J]."""
        if not len(contacts):
            return 0.0
        pressing = self.stiffness[contacts.nodes] * contacts.gap
        force[contacts.nodes] -= pressing[:, None] * contacts.normal
        return 0.5 * float(pressing @ contacts.gap)

    def add_stiffness(self, contacts: Contacts, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]."""
        if len(contacts):
            across = contacts.normal[:, :, None] * contacts.normal[:, None, :]
            along = np.eye(3) - across
            blocks[contacts.nodes] -= self.stiffness[contacts.nodes, None, None] * (across + self.tangential * along)

    @property
    def grips(self) -> bool:
        """Whether friction is a force of positions."""
        return self.friction is not None and self.friction.grips

    def rubs(self, x: Vec, time: float) -> bool:
        """Whether it brakes any node at positions x, (n, 3) [m]."""
        return self.friction is not None and len(self.find(x, time).of(self.is_free)) > 0

    def anchors(self, memory: Mapping[str, Vec], x: Vec, time: float) -> Vec:
        """Of all nodes, (n, 3) [m], from the point that the ground goes along with: where the memory has them, else
        where nodes are at x, (n, 3) [m], at `time` [s]."""
        out: Vec = x - self.plane.point(time)
        if NODES in memory:
            out[memory[NODES].astype(np.int64)] = memory[PLACES].reshape(-1, 3)
        return out

    def gripping(self, x: Vec, time: float, anchors: Vec) -> Gripping | None:
        """Friction as a force of positions, its loads those at x, (n, 3) [m]; None where there is none."""
        contacts = self.find(x, time).of(self.is_free)
        load = self.stiffness[contacts.nodes] * -contacts.gap
        return self.gripping_under(load, contacts.nodes, contacts.normal, time, anchors)

    def gripping_under(self, load: Vec, nodes: Index, normal: Vec, time: float, anchors: Vec) -> Gripping | None:
        """The same where the ground presses some nodes (k,) along normals (k, 3) with loads (k,) [N], not negative."""
        most = 0.0 * load if self.friction is None else self.friction.coefficient * load
        if not most.any():
            return None
        nodes, normal, most = nodes[most > 0.0], normal[most > 0.0], most[most > 0.0]
        point = self.plane.point(time)
        return Gripping(nodes, normal, anchors[nodes] + point, most, SHARE * self.stiffness[nodes], point)
