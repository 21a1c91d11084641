"""The coordinates of plain FEM and of ConJac: positions of the nodes that nothing prescribes."""

from __future__ import annotations

import numpy as np

from ..state import Index, Mask, Vec
from .prescribed import Motion


class FreeNodes:
    """q holds the free nodes' positions; the other nodes stand still (pinned) or move as prescribed (kinematic)."""

    carriers = 0  #: rates of joints that move some of the prescribed nodes

    def __init__(self, rest: Vec, prescribed: Index, motion: Motion | None) -> None:
        """rest: (n, 3) [m]. prescribed: (p,) nodes. motion: theirs, (p, 3) at a time; None where all are still."""
        self.count = len(rest)
        self.prescribed = prescribed
        self.motion = motion
        mask = np.ones(self.count, dtype=bool)
        mask[prescribed] = False
        self.is_free: Mask = mask  #: (n,)
        self.free: Index = np.flatnonzero(mask).astype(np.int32)  #: (f,) nodes whose positions are q
        self._still = rest[prescribed]

    def where_prescribed(self, time: float) -> Vec:
        """Positions of the prescribed nodes at `time` [s], (p, 3) [m]."""
        return self._still if self.motion is None else self.motion.at(time)

    def place(self, q: Vec, time: float) -> Vec:
        """All node positions, (n, 3) [m]."""
        x = np.empty((self.count, 3))
        x[self.free] = q.reshape(-1, 3)
        x[self.prescribed] = self.where_prescribed(time)
        return x

    def prescribed_velocity(self, time: float, h: float) -> Vec | None:
        """w = (x(t + h) − x(t)) / h of the prescribed nodes, their mean over a step, (p, 3) [m/s], or None."""
        if self.motion is None:
            return None
        return (self.where_prescribed(time + h) - self.where_prescribed(time)) / h

    def prescribed_rate(self, time: float) -> Vec | None:
        """Velocity of the prescribed nodes at `time`, (p, 3) [m/s]; None where all are still."""
        return None if self.motion is None else self.motion.velocity(time)

    def kinematic_rate(self, time: float) -> Vec | None:
        """The same, zero where rates of joints move a node, which no time tells."""
        return self.prescribed_rate(time)

    def spread(self, u: Vec, w: Vec | None) -> Vec:
        """All node velocities from the free ones' rates, (n, 3) [m/s]."""
        v = np.zeros((self.count, 3))
        v[self.free] = u.reshape(-1, 3)
        if w is not None:
            v[self.prescribed] = w
        return v

    def advance(self, q: Vec, rate: Vec, h: float) -> Vec:
        """q after h seconds at `rate`, (3 f,) [m]."""
        return q + h * rate
