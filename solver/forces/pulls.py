"""Springs from nodes to places that are carried about: what pulls at a spot of a body, and lets go."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec
from .activation import Activation


class Pull:
    """f = −s(t) k_i (x_i − p_i(t)) on each node, K = −s(t) k_i."""

    is_on_object = False  #: whether its places are on the body's own object, which may be moved while it is played

    def __init__(self, nodes: Index, stiffness: Vec, places: OverTime, strength: Activation | None = None) -> None:
        """nodes: (k,). stiffness: of each [N/m], (k,). places: where each is pulled to, (k, 3) [m] at a time. strength:
        how much of the stiffness there is; None: all of it."""
        self.nodes, self._stiffness, self.places, self._strength = nodes, stiffness, places, strength

    def at_work(self, time: float) -> bool:
        """Whether it pulls at all at `time` [s]."""
        return self._strength is None or self._strength.at(time) > 0.0

    def springs_at(self, time: float) -> tuple[Index, Vec, Vec]:
        """Return nodes (k,), the stiffness of each one's spring [N/m], (k,), and its place [m], (k, 3), at `time`."""
        return self.nodes, self._firmness(time), self.places.at(time)

    def _firmness(self, time: float) -> Vec:
        """Return the stiffness of each node's spring at `time` [s], (k,) [N/m]."""
        return self._stiffness if self._strength is None else self._strength.at(time) * self._stiffness

    def add_force(self, x: Vec, time: float, force: Vec) -> float:
        """Add to forces on nodes (n, 3) [N] at positions (n, 3) [m]. Returns the energy [J]."""
        stiffness = self._firmness(time)
        away = x[self.nodes] - self.places.at(time)
        force[self.nodes] -= stiffness[:, None] * away
        return 0.5 * float(stiffness @ np.einsum("kc,kc->k", away, away))

    def look(self, x: Vec, time: float) -> str:
        """A sentence for the log where one is due after a step to positions (n, 3) [m]."""
        return ""

    @property
    def summary(self) -> list[str]:
        """Sentences for the log's end."""
        return []

    def add_stiffness(self, time: float, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]."""
        blocks[self.nodes] -= self._firmness(time)[:, None, None] * np.eye(3)
