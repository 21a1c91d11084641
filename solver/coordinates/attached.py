"""Soft nodes that ride on rigid bodies: x_a = E_b p, v_a = R_b [−[p]×, I] φ_b. [ConJac MUSCLE]

They are prescribed nodes to everything that a soft body is asked for; only what prescribes them is not time but the
coordinates of joints, and their velocities are unknowns of the step, J_a u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec
from .free_nodes import FreeNodes
from .prescribed import Motion


@dataclass(frozen=True)
class Bodies:
    """Where rigid bodies are and how joints' rates move them, at one moment."""

    E: Vec  #: body to world, (n, 4, 4)
    twists: Vec  #: J, twists [ω; ν] in the bodies' own frames for each rate that moves attached nodes, (n, 6, c)
    twist: Vec  #: J u, (n, 6)
    drift: Vec  #: J̇ u, (n, 6)


class Attached:
    """Which nodes ride on which body, and where on it."""

    def __init__(self, nodes: Index, bodies: Index, places: Vec) -> None:
        """nodes: (a,). bodies: the one that each rides on, (a,). places: in its frame [m], (a, 3)."""
        self.nodes, self.bodies, self.places = nodes, bodies, places

    @classmethod
    def at(cls, nodes: Index, bodies: Index, x: Vec, E: Vec) -> Attached:
        """Nodes (a,) that stand at x (a, 3) [m] in world where their bodies stand at E (n, 4, 4)."""
        turn, arm = E[bodies, :3, :3], x - E[bodies, :3, 3]
        return cls(nodes, bodies, np.einsum("aji,aj->ai", turn, arm))

    def positions(self, E: Vec) -> Vec:
        """In world, (a, 3) [m], where the bodies stand at E (n, 4, 4)."""
        of = E[self.bodies]
        out: Vec = np.einsum("aij,aj->ai", of[:, :3, :3], self.places) + of[:, :3, 3]
        return out

    def columns(self, E: Vec, twists: Vec) -> Vec:
        """Velocities in world, (a, 3, c), of twists [ω; ν] in the bodies' own frames, (n, 6, c)."""
        turn, twist = E[self.bodies, :3, :3], twists[self.bodies]
        own = np.cross(twist[:, :3], self.places[:, :, None], axis=1) + twist[:, 3:]
        out: Vec = turn @ own
        return out

    def velocities(self, E: Vec, twist: Vec) -> Vec:
        """The same of one twist a body, (n, 6): (a, 3) [m/s]."""
        return self.columns(E, twist[:, :, None])[:, :, 0]

    def accelerations(self, E: Vec, twist: Vec, drift: Vec) -> Vec:
        """J̇_a u in world, (a, 3) [m/s²]: what accelerates them while the joints' rates stay.

        twist, drift: φ and J̇u of the bodies in their own frames, (n, 6).
        """
        turn, phi = E[self.bodies, :3, :3], twist[self.bodies]
        own = np.cross(phi[:, :3], self.places) + phi[:, 3:]
        change = drift[self.bodies]
        own = np.cross(change[:, :3], self.places) + change[:, 3:] + np.cross(phi[:, :3], own)
        out: Vec = np.einsum("aij,aj->ai", turn, own)
        return out


class RidingNodes(FreeNodes):
    """Coordinates of soft bodies of which some nodes ride on rigid ones.

    Where those are is told by `ride` before anything else is asked; the answers are functions of that.
    """

    def __init__(self, rest: Vec, prescribed: Index, motion: Motion | None, attached: Attached, rates: int) -> None:
        """prescribed, motion: of nodes that no body carries. rates: how many joint rates move those it does."""
        super().__init__(rest, np.concatenate([prescribed, attached.nodes]).astype(np.int32), motion)
        self.attached, self.carriers = attached, rates
        self._own = len(prescribed)
        self._positions, self._velocities = rest[attached.nodes], np.zeros((len(attached.nodes), 3))

    def ride(self, positions: Vec, velocities: Vec) -> None:
        """Where attached nodes are [m] and how fast they move there [m/s], both (a, 3)."""
        self._positions, self._velocities = positions, velocities

    def ride_on(self, bodies: Bodies) -> None:
        """They are where the bodies are."""
        self.ride(self.attached.positions(bodies.E), self.attached.velocities(bodies.E, bodies.twist))

    def where_prescribed(self, time: float) -> Vec:
        own = self._still[: self._own] if self.motion is None else self.motion.at(time)
        return np.concatenate([own, self._positions])

    def prescribed_velocity(self, time: float, h: float) -> Vec | None:
        """w of a step, (p, 3) [m/s]; zero where bodies carry nodes, since that is an unknown of the step."""
        if self.motion is None:
            return None
        own = (self.motion.at(time + h) - self.motion.at(time)) / h
        w: Vec = np.concatenate([own, np.zeros_like(self._velocities)])
        return w

    def prescribed_rate(self, time: float) -> Vec | None:
        """Velocity of the prescribed nodes at `time`, (p, 3) [m/s], those included that bodies carry."""
        own = np.zeros((self._own, 3)) if self.motion is None else self.motion.velocity(time)
        return np.concatenate([own, self._velocities])

    def kinematic_rate(self, time: float) -> Vec | None:
        """The same with zero where bodies carry nodes; None where nothing moves as told."""
        if self.motion is None:
            return None
        return np.concatenate([self.motion.velocity(time), np.zeros_like(self._velocities)])

    def carried(self, columns: Vec) -> Vec:
        """Velocities of the prescribed nodes, (p, 3, c), from those of the attached ones, (a, 3, c)."""
        return np.concatenate([np.zeros((self._own, *columns.shape[1:])), columns])
