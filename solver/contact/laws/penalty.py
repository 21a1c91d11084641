"""A spring against the gap."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..find.half_space import Contacts


class Penalty:
    """f = −k (n · (x − x_s)) n, K = −k (n nᵀ + α (1 − n nᵀ)), negative semi-definite.

    For α = 0 K is ∂f/∂x. What α adds has no force: a semi-implicit step feels it as a drag of β h α k on each touching
    node, whatever its load, and methods that iterate to the end do not feel it. [ConJac BUNNY, changed: α may be 0]
    """

    def __init__(self, stiffness: float | Vec, tangential: float = 0.0) -> None:
        """stiffness: k of every node, or of each, (n,) [N/m]. tangential: α, from 0 to 1."""
        self._stiffness, self.tangential = stiffness, tangential

    def stiffness(self, nodes: Index) -> float | Vec:
        """k of every node, or of these, (k,) [N/m]."""
        return self._stiffness if isinstance(self._stiffness, float | int) else self._stiffness[nodes]

    def energy(self, contacts: Contacts) -> float:
        """½ k gap² of all pairs [J]."""
        stiffness = self.stiffness(contacts.nodes)
        if isinstance(stiffness, float | int):
            return 0.5 * stiffness * float(contacts.gap @ contacts.gap)
        return 0.5 * float((stiffness * contacts.gap) @ contacts.gap)

    def add_force(self, contacts: Contacts, force: Vec) -> None:
        """Add to node forces, (n, 3) [N]."""
        force[contacts.nodes] -= (self.stiffness(contacts.nodes) * contacts.gap)[:, None] * contacts.normal

    def add_stiffness(self, contacts: Contacts, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]."""
        across = contacts.normal[:, :, None] * contacts.normal[:, None, :]
        along = np.eye(3) - across
        stiffness = np.broadcast_to(self.stiffness(contacts.nodes), len(contacts.nodes))
        blocks[contacts.nodes] -= stiffness[:, None, None] * (across + self.tangential * along)
