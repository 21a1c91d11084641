"""Coulomb's friction as a force of positions: what touches hangs on an anchor that it drags along where it slides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from .interface import along

#: memory: nodes that touch, (k,), and their anchors from the point that the ground goes along with, (3 k,) [m]
NODES, PLACES = "friction.gripping", "friction.anchors"

#: how stiff an anchor holds along the ground, as a share of the ground's stiffness: 2 (1 − ν)/(2 − ν) of what presses
#: two like bodies on each other, ν = 0.25. From a third on a body on a belt goes with it as it should, above one what
#: friction locks in as a body comes to rest moves its centre farther
SHARE = 0.85

NOWHERE = 1.0e-100  #: [m]: no distance to divide by


@dataclass(frozen=True)
class Gripping:
    """f = −k d where that is no more than μ λ, else −μ λ d / |d|, d how far along the ground a node is from its anchor.

    At given loads λ it is the slope of a convex energy. [Ascher 37-39, changed: what sticks does not creep]
    """

    nodes: Index  #: (k,), no node twice
    normal: Vec  #: unit, (k, 3)
    anchors: Vec  #: (k, 3) [m]
    most: Vec  #: μ λ [N], (k,)
    stiffness: Vec  #: k [N/m], (k,)
    point: Vec  #: that the ground goes along with, where it is now [m], (3,)

    def add_force(self, x: Vec, force: Vec) -> float:
        """Add to forces on all nodes at positions x, both (n, 3) [m], [N]; the energy [J]."""
        away, far = self._away(x)
        force[self.nodes] -= self._pull(far)[:, None] * away
        held = np.minimum(far, self.most / self.stiffness)
        return float((self.stiffness * held * (far - 0.5 * held)).sum())

    def add_stiffness(self, x: Vec, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]: of a parabola above the energy that touches it at x, so
        that what slides does not go too far with them."""
        pull = self._pull(self._away(x)[1])
        blocks[self.nodes] -= pull[:, None, None] * (np.eye(3) - self.normal[:, :, None] * self.normal[:, None, :])

    def remembered(self, x: Vec) -> dict[str, Vec]:
        """Memory at positions x of all nodes, (n, 3): what slides has dragged its anchor along as far as its load does
        not hold that."""
        away, far = self._away(x)
        anchors = x[self.nodes] - (self._pull(far) / self.stiffness)[:, None] * away
        return {NODES: self.nodes.astype(float), PLACES: (anchors - self.point).ravel()}

    def _away(self, x: Vec) -> tuple[Vec, Vec]:
        away = along(x[self.nodes] - self.anchors, self.normal)
        return away, np.linalg.norm(away, axis=1)

    def _pull(self, far: Vec) -> Vec:
        """Force over distance, (k,) [N/m]."""
        pull: Vec = np.minimum(self.stiffness, self.most / np.maximum(far, NOWHERE))
        return pull


def with_anchors(memory: Mapping[str, Vec], grip: Gripping | None, x: Vec) -> dict[str, Vec]:
    """A memory with what is held at positions x of all nodes, (n, 3) [m], in place of what was; None holds nothing."""
    kept = {key: value for key, value in memory.items() if key not in (NODES, PLACES)}
    return kept if grip is None else kept | grip.remembered(x)
