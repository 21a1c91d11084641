"""A spring against the gap, along the normal only."""

from __future__ import annotations

from ...state import Vec
from ..find.half_space import Contacts


class Penalty:
    """f = −k (n · (x − x_s)) n, K = ∂f/∂x = −k n nᵀ (negative semi-definite).

    A tangential share of K without its force would drag; it comes with friction. [ConJac BUNNY, changed: α = 0]
    """

    def __init__(self, stiffness: float) -> None:
        """stiffness: k of one node [N/m]."""
        self.stiffness = stiffness

    def energy(self, contacts: Contacts) -> float:
        """½ k gap² of all pairs [J]."""
        return 0.5 * self.stiffness * float(contacts.gap @ contacts.gap)

    def add_force(self, contacts: Contacts, force: Vec) -> None:
        """Add to node forces, (n, 3) [N]."""
        force[contacts.nodes] -= self.stiffness * contacts.gap[:, None] * contacts.normal

    def add_stiffness(self, contacts: Contacts, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]."""
        blocks[contacts.nodes] -= self.stiffness * contacts.normal[:, :, None] * contacts.normal[:, None, :]
