"""Springs from nodes to points that move as prescribed, and that may let go."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec
from .activation import Activation


class Pull:
    """Springs from nodes to prescribed points: f = −s(t) k_i (x_i − p_i(t)) on each node, K = −s(t) k_i."""

    is_on_object = False  #: whether its targets are on the body's own object, which may be moved during playback

    def __init__(self, nodes: Index, stiffness: Vec, targets: OverTime, strength: Activation | None = None) -> None:
        """nodes: (k,). stiffness: of each spring [N/m], (k,). targets: of the nodes, (k, 3) [m] at a time.
        strength: factor of the stiffness over time; None for 1."""
        self.nodes, self._stiffness, self.targets, self._strength = nodes, stiffness, targets, strength

    def towards(self, targets: OverTime) -> Self:
        """Return a copy with other targets of the nodes, (k, 3) [m] at a time."""
        other = copy.copy(self)
        other.targets = targets
        return other

    def at_work(self, time: float) -> bool:
        """Return whether the pull acts at `time` [s]."""
        return self._strength is None or self._strength.at(time) > 0.0

    def springs_at(self, time: float) -> tuple[Index, Vec, Vec]:
        """Return the nodes (k,), the stiffness of each spring (k,) [N/m] and its target (k, 3) [m] at `time` [s]."""
        return self.nodes, self._firmness(time), self.targets.at(time)

    def _firmness(self, time: float) -> Vec:
        """Return the stiffness of each node's spring at `time` [s], (k,) [N/m]."""
        return self._stiffness if self._strength is None else self._strength.at(time) * self._stiffness

    def add_force(self, x: Vec, time: float, force: Vec) -> float:
        """Add the forces at positions x (n, 3) [m] and `time` [s] to force (n, 3) [N]; return the energy [J]."""
        stiffness = self._firmness(time)
        away = x[self.nodes] - self.targets.at(time)
        force[self.nodes] -= stiffness[:, None] * away
        return 0.5 * float(stiffness @ np.einsum("kc,kc->k", away, away))

    def look(self, x: Vec, time: float) -> str:
        """Return a sentence for the log after a step to positions x (n, 3) [m] at `time` [s]; empty where none is
        due."""
        return ""

    @property
    def summary(self) -> list[str]:
        """Return sentences for the end of the log."""
        return []

    def add_stiffness(self, time: float, blocks: Vec) -> None:
        """Add the stiffness at `time` [s] to the diagonal blocks of K of the nodes, blocks (n, 3, 3) [N/m]."""
        blocks[self.nodes] -= self._firmness(time)[:, None, None] * np.eye(3)
