"""Coulomb friction as a force of positions: each sticking node has an anchor, which it drags along where it slides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...node_records import PointPerListedNode
from ...state import Index, Vec
from .interface import along

#: memory: nodes in contact, (k,), and their anchors relative to the reference point of the ground, (3 k,) [m]
STUCK_NODES, ANCHORS = "friction.gripping", "friction.anchors"
ANCHORS_RECORD = PointPerListedNode(STUCK_NODES, ANCHORS)

#: tangential stiffness of an anchor relative to the ground's: 2 (1 − ν)/(2 − ν) for two equal bodies in contact, ν =
#: 0.25. From a third on a body moves along with a belt as it should; above one, stresses that friction locks in as a
#: body comes to rest move its centre farther
STIFFNESS_RATIO = 0.85

NOWHERE = 1.0e-100  #: [m]: avoids a division by zero


@dataclass(frozen=True)
class StaticFriction:
    """Static friction of nodes on the ground: f = −k d where k |d| ≤ μ λ, else f = −μ λ d / |d|.

    d is the tangential displacement of a node from its anchor. At given normal forces λ the force is the gradient of a
    convex energy. [Ascher 37-39, changed: sticking contacts do not creep]
    """

    nodes: Index  #: (k,), no node twice
    normal: Vec  #: unit, (k, 3)
    anchors: Vec  #: (k, 3) [m]
    bound: Vec  #: μ λ [N], (k,)
    stiffness: Vec  #: k [N/m], (k,)
    point: Vec  #: reference point of the ground at the present time [m], (3,)

    def add_limits(self, limits: Vec) -> None:
        """Add Coulomb's limit of each node, μ λ, to `limits` of all nodes, (n,) [N]."""
        limits[self.nodes] += self.bound

    def add_force(self, x: Vec, force: Vec) -> float:
        """Add friction at positions x of all nodes, (n, 3) [m], to `force`, (n, 3) [N]; return the energy [J]."""
        offset, distance = self._offset(x)
        force[self.nodes] -= self._secant_stiffness(distance)[:, None] * offset
        stretch = np.minimum(distance, self.bound / self.stiffness)
        return float((self.stiffness * stretch * (distance - 0.5 * stretch)).sum())

    def add_stiffness(self, x: Vec, blocks: Vec) -> None:
        """Add the stiffness of friction at positions x, (n, 3) [m], to the diagonal blocks of K, (n, 3, 3) [N/m].

        It is that of a parabola that touches the energy at x from above, so that sliding nodes do not overshoot.
        """
        stiffness = self._secant_stiffness(self._offset(x)[1])
        blocks[self.nodes] -= stiffness[:, None, None] * (np.eye(3) - self.normal[:, :, None] * self.normal[:, None, :])

    def record_anchors(self, x: Vec) -> dict[str, Vec]:
        """Return the entries of memory at positions x of all nodes, (n, 3) [m]: nodes in contact and their anchors.

        Sliding nodes have dragged their anchors along.
        """
        offset, distance = self._offset(x)
        anchors = x[self.nodes] - (self._secant_stiffness(distance) / self.stiffness)[:, None] * offset
        return {STUCK_NODES: self.nodes.astype(float), ANCHORS: (anchors - self.point).ravel()}

    def _offset(self, x: Vec) -> tuple[Vec, Vec]:
        """Return the tangential displacements from the anchors at positions x (n, 3) [m], (k, 3) [m], and their norms,
        (k,)."""
        offset = along(x[self.nodes] - self.anchors, self.normal)
        return offset, np.linalg.norm(offset, axis=1)

    def _secant_stiffness(self, distance: Vec) -> Vec:
        """Return force over distance from the anchor, (k,) [N/m], at distances (k,) [m]."""
        stiffness: Vec = np.minimum(self.stiffness, self.bound / np.maximum(distance, NOWHERE))
        return stiffness


def with_anchors(memory: Mapping[str, Vec], friction: StaticFriction | None, x: Vec) -> dict[str, Vec]:
    """Return a copy of memory with the anchors of friction at positions x of all nodes, (n, 3) [m], in place of the
    earlier ones; without anchors if friction is None."""
    others = {key: value for key, value in memory.items() if key not in (STUCK_NODES, ANCHORS)}
    return others if friction is None else others | friction.record_anchors(x)
