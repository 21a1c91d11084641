"""Lagged friction of the ground: a force of a stage's positions, with normal forces of an earlier iterate.

Stages with surfaces in contact are solved with this force: friction found afterwards, by the linear response, ignores
the barrier, and surfaces would penetrate each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from .interface import along


@dataclass(frozen=True)
class LaggedGroundFriction:
    """Friction of nodes on the ground: f = −μ λ s(|T v|) T v / |T v| with v = (x − base) / seconds.

    v is relative to the ground. At given normal forces λ the force is the gradient of a convex incremental potential.
    [Ascher 37-39]
    """

    nodes: Index  #: (k,), no node twice
    normal: Vec  #: unit, (k, 3)
    base: Vec  #: positions of these nodes at rest relative to the ground, (k, 3) [m]
    bound: Vec  #: μ λ [N], (k,)
    creep: float  #: ε: friction of slower slip is reduced [m/s]
    seconds: float  #: from the base to the stage's end

    def add_limits(self, limits: Vec) -> None:
        """Add Coulomb's limit of each node, μ λ, to `limits` of all nodes, (n,) [N]."""
        limits[self.nodes] += self.bound

    def add_force(self, x: Vec, force: Vec) -> float:
        """Add friction at positions x, (n, 3) [m], to `force` of all nodes, (n, 3) [N]; return the potential [J]."""
        slip, speed = self._slip(x)
        force[self.nodes] -= (self.bound * self._over(speed))[:, None] * slip
        slow = np.minimum(speed, self.creep)
        # the integral of s
        integral = np.where(speed < self.creep, slow**2 * (1.0 - slow / (3.0 * self.creep)) / self.creep,
                            speed - self.creep / 3.0)
        return self.seconds * float(self.bound @ integral)

    def add_stiffness(self, x: Vec, blocks: Vec) -> None:
        """Add the stiffness of friction at positions x, (n, 3) [m], to the diagonal blocks of K, (n, 3, 3) [N/m].

        It is that of a parabola that touches the potential at x from above, so that sliding nodes do not overshoot.
        """
        stiffness = self.bound * self._over(self._slip(x)[1]) / self.seconds
        blocks[self.nodes] -= stiffness[:, None, None] * (np.eye(3) - self.normal[:, :, None] * self.normal[:, None, :])

    def _slip(self, x: Vec) -> tuple[Vec, Vec]:
        """Return the slip velocities at positions x (n, 3) [m], (k, 3) [m/s], and their norms, (k,)."""
        slip = along((x[self.nodes] - self.base) / self.seconds, self.normal)
        return slip, np.linalg.norm(slip, axis=1)

    def _over(self, speed: Vec) -> Vec:
        """Return s(y)/y at speeds y, (k,) [m/s], (k,) [s/m]."""
        over: Vec = np.where(speed < self.creep, (2.0 - speed / self.creep) / self.creep,
                             1.0 / np.maximum(speed, self.creep))
        return over
