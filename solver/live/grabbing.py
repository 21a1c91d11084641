"""Grab of the artist on a soft body: one spring from the weighted mean of nodes to the hand."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import StepMotion
from ..forces.pulls import Pull
from ..state import Index, Vec

REACH = 0.08  #: radius of the grabbed part, as a fraction of the body's size
LIFTS = 0.05  #: of its size: how far a grab of strength 1 is drawn out by the body's weight
GRAVITY = 9.81  #: [m/s²]: of that weight, wherever the body is


class Grabbed(Pull):
    """Spring from the weighted mean p = Σ w_i x_i of nodes to a target g, with f_i = −w_i k (p − g) on each node.

    It does not resist rotation of the nodes about their mean. K_ij = −w_i w_j k 1 is replaced by −w_i k 1 on the
    diagonal, which is at least as stiff: steps are as stable, and only motion of the nodes relative to each other is
    slowed down.
    """

    def __init__(self, nodes: Index, weights: Vec, x: Vec, start: Vec) -> None:
        """nodes: (k,). weights: of the nodes, (k,), with sum 1. x: positions of all nodes, (n, 3) [m]. start: of the
        hand, (3,) [m], which need not be at the mean of the nodes."""
        self.nodes, self._weights = nodes, weights
        self.stiffness, self._target = 0.0, self.mean(x)
        self._from_hand, self._path = self._target - start, StepMotion(self._target)

    def follow(self, hand: Vec, stiffness: float, time: float, h: float) -> None:
        """Move the target with the hand in a step of h seconds from `time` [s] on, and set the stiffness [N/m].

        hand: position of the hand at the end of the step, (3,) [m].
        """
        before, self._target = self._target, hand + self._from_hand
        self._path.set_step(time, h, before, self._target)
        self.stiffness = stiffness

    def at_work(self, time: float) -> bool:
        """Whether the spring exerts a force."""
        return self.stiffness > 0.0

    def mean(self, x: Vec) -> Vec:
        """Return the weighted mean of the grabbed nodes, (3,) [m]. x: positions of all nodes, (n, 3) [m]."""
        position: Vec = self._weights @ x[self.nodes]
        return position

    @property
    def hand(self) -> Vec:
        """Return the position of the hand at the end of the step, (3,) [m]."""
        position: Vec = self._target - self._from_hand
        return position

    def springs_from(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes, (k,), and springs of single nodes with the total force of the grab at x: stiffness, (k,) [N/m],
        and targets at the end of the step, (k, 3) [m]. x: positions of all nodes, (n, 3) [m]."""
        return self.nodes, self.stiffness * self._weights, x[self.nodes] + (self._target - self.mean(x))

    def add_force(self, x: Vec, time: float, force: Vec) -> float:
        """Add the force of the spring at positions x, (n, 3) [m], to `force`, (n, 3) [N]. Return its energy [J]."""
        away = self.mean(x) - self._path.at(time)
        force[self.nodes] -= self.stiffness * self._weights[:, None] * away
        return 0.5 * self.stiffness * float(away @ away)

    def add_stiffness(self, time: float, blocks: Vec) -> None:
        """Add the spring's stiffness to the diagonal blocks of K, (n, 3, 3) [N/m]."""
        blocks[self.nodes] -= self.stiffness * self._weights[:, None, None] * np.eye(3)


def around(x: Vec, position: Vec, radius: float) -> tuple[Index, Vec]:
    """Return the nodes within `radius` [m] of a position, (k,), or else the nearest one, and their weights, (k,).

    Weights decrease with distance and have the sum 1. x: positions of nodes, (n, 3) [m]. position: (3,) [m].
    """
    distance = np.linalg.norm(x - position, axis=1)
    nodes = np.flatnonzero(distance < radius)
    if not len(nodes):
        nodes = np.array([int(np.argmin(distance))])
        return nodes.astype(np.int32), np.ones(1)
    weights = (1.0 - (distance[nodes] / radius) ** 2) ** 2
    return nodes.astype(np.int32), weights / weights.sum()


def radius_of(given: float, size: float) -> float:
    """Return the radius of the grabbed part [m]. given: that of the hand [m], 0 where it has none. size: of the body
    [m]."""
    return given or REACH * size


def strength_of(mass: float, size: float) -> float:
    """Return the stiffness of a grab of strength 1 [N/m] on a body. mass: of the body [kg]. size: of the body [m]."""
    return mass * GRAVITY / (LIFTS * size)
