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

    def __init__(self, stiffness: Vec, tangential: float = 0.0) -> None:
        """stiffness: k of each node, (n,) [N/m]. tangential: α, from 0 to 1."""
        self._stiffness, self.tangential = stiffness, tangential

    def stiffness(self, nodes: Index) -> Vec:
        """k of these nodes, (k,) [N/m]."""
        of_these: Vec = self._stiffness[nodes]
        return of_these

    def energy(self, contacts: Contacts) -> float:
        """½ k gap² of all pairs [J]."""
        return 0.5 * float((self.stiffness(contacts.nodes) * contacts.gap) @ contacts.gap)

    def add_force(self, contacts: Contacts, force: Vec) -> None:
        """Add to node forces, (n, 3) [N]."""
        force[contacts.nodes] -= (self.stiffness(contacts.nodes) * contacts.gap)[:, None] * contacts.normal

    def add_stiffness(self, contacts: Contacts, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]."""
        across = contacts.normal[:, :, None] * contacts.normal[:, None, :]
        along = np.eye(3) - across
        blocks[contacts.nodes] -= self.stiffness(contacts.nodes)[:, None, None] * (across + self.tangential * along)
