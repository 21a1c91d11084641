"""A hand that pulls at a point of a body: one spring from the mean of the nodes around it."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import OnItsWay
from ..forces.pulls import Pull
from ..state import Index, Vec

REACH = 0.08  #: radius of what is taken hold of, as a share of the body's size
LIFTS = 0.05  #: of its size: how far a grab of strength 1 is drawn out by the body's weight
GRAVITY = 9.81  #: [m/s²]: of that weight, wherever the body is


class Grabbed(Pull):
    """f_i = −w_i k (p − g) on each node, p = Σ w_i x_i: it pulls at the mean alone, and what it holds may turn.

    K_ij = −w_i w_j k 1 is taken as −w_i k 1 on the diagonal, which is no weaker: the step is as stable, and only what
    nodes do against each other is slowed down.
    """

    def __init__(self, nodes: Index, weights: Vec, x: Vec, start: Vec) -> None:
        """nodes: (k,). weights: of each, which sum to 1. x: of all nodes, (n, 3) [m]. start: where the hand is, which
        need not be at their mean [m], (3,)."""
        self.nodes, self._weights = nodes, weights
        self.stiffness, self._target = 0.0, self.mean(x)
        self._from_hand, self._way = self._target - start, OnItsWay(self._target)

    def follow(self, hand: Vec, stiffness: float, time: float, h: float) -> None:
        """Go with the hand to another place [m], (3,), in a step of h seconds from `time` on; pull that hard [N/m]."""
        before, self._target = self._target, hand + self._from_hand
        self._way.goes(time, h, before, self._target)
        self.stiffness = stiffness

    def at_work(self, time: float) -> bool:
        """Whether it pulls at all."""
        return self.stiffness > 0.0

    def mean(self, x: Vec) -> Vec:
        """Return the position that is pulled at, with the body's nodes at x (n, 3): [m], (3,)."""
        place: Vec = self._weights @ x[self.nodes]
        return place

    @property
    def hand(self) -> Vec:
        """Return where the hand is at the end of the step [m], (3,)."""
        place: Vec = self._target - self._from_hand
        return place

    def springs_from(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k,), a spring of each [N/m], (k,), and its place at the end of the step [m], (k, 3): together
        they pull at the mean, with nodes at x (n, 3) [m] as one does that has hold of it."""
        return self.nodes, self.stiffness * self._weights, x[self.nodes] + (self._target - self.mean(x))

    def add_force(self, x: Vec, time: float, force: Vec) -> float:
        """Add to forces on nodes (n, 3) [N] at positions (n, 3) [m]. Returns the energy [J]."""
        away = self.mean(x) - self._way.at(time)
        force[self.nodes] -= self.stiffness * self._weights[:, None] * away
        return 0.5 * self.stiffness * float(away @ away)

    def add_stiffness(self, time: float, blocks: Vec) -> None:
        """Add to the nodes' own blocks of K, (n, 3, 3) [N/m]."""
        blocks[self.nodes] -= self.stiffness * self._weights[:, None, None] * np.eye(3)


def around(x: Vec, place: Vec, radius: float) -> tuple[Index, Vec]:
    """Nodes near a place, and how much each counts, (k,) both: fewer the farther they are, the nearest where there are
    none within `radius`. x: (n, 3) [m]. place: (3,) [m]."""
    distance = np.linalg.norm(x - place, axis=1)
    nodes = np.flatnonzero(distance < radius)
    if not len(nodes):
        nodes = np.array([int(np.argmin(distance))])
        return nodes.astype(np.int32), np.ones(1)
    weights = (1.0 - (distance[nodes] / radius) ** 2) ** 2
    return nodes.astype(np.int32), weights / weights.sum()


def strength_of(mass: float, size: float) -> float:
    """Stiffness of a grab of strength 1 [N/m], of a body of so much mass [kg] and size [m]."""
    return mass * GRAVITY / (LIFTS * size)
