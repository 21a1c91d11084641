"""The ground and its contacts with points: nodes of soft bodies, points of rigid bodies or vertices of cloth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...coordinates.prescribed import Constant, OverTime
from ...state import Index, Mask, Vec


@dataclass(frozen=True)
class Contacts:
    """A table of contacts of points with the ground, one row for each; no point occurs twice."""

    nodes: Index  #: (k,), ascending
    normal: Vec  #: unit, away from the ground, (k, 3)
    gap: Vec  #: signed distance [m], (k,), negative inside

    def __len__(self) -> int:
        return len(self.nodes)

    def of(self, some: Mask) -> Contacts:
        """Return the contacts of a subset of the nodes. some: which nodes, (n,)."""
        on = some[self.nodes]
        return Contacts(self.nodes[on], self.normal[on], self.gap[on])


NO_CONTACTS = Contacts(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0))


class Ground:
    """A plane whose back is solid. The plane may translate, also along itself, as a belt does, and does not rotate."""

    def __init__(self, point: Vec, normal: Vec, friction: float = 0.0, motion: OverTime | None = None) -> None:
        """point: on the plane, (3,) [m], ignored if its `motion` is given. normal: (3,), not zero, out of the ground.
        friction: μ, with the coefficient of nodes that have one as of `combine_friction`, and alone for all others."""
        self.motion: OverTime = Constant(point) if motion is None else motion  #: of the reference point
        self.normal: Vec = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
        self.friction = friction
        self.exists = bool(np.isfinite(point).all())

    def point(self, time: float) -> Vec:
        """Return the reference point of the plane, which moves along with it, at `time` [s], (3,) [m]."""
        return self.motion.at(time)

    def velocity(self, time: float) -> Vec:
        """Return the velocity of the plane, and of the solid below it, at `time` [s], (3,) [m/s]."""
        return self.motion.velocity(time)

    def gaps(self, x: Vec, time: float) -> Vec:
        """Return the heights of positions x, (…, 3) [m], above the ground at `time` [s], (…) [m], negative inside."""
        above: Vec = (x - self.motion.at(time)) @ self.normal
        return above

    def rising(self, v: Vec, time: float) -> Vec:
        """Return the separation speeds of points with velocities v, (…, 3) [m/s], from the ground at `time` [s],
        (…) [m/s], negative where they approach."""
        off: Vec = (v - self.velocity(time)) @ self.normal
        return off

    def find(self, x: Vec, time: float, reach: Vec | float = 0.0, within: Vec | float = 0.0) -> Contacts:
        """Return the contacts of points at positions x, (n, 3) [m], with gaps below `within` [m] at `time` [s].

        reach: distance from each point to the surface of its body [m], as a radius or the thickness of cloth, which is
        subtracted from its gap. reach, within: one for all or (n,).
        """
        if not self.exists:
            return NO_CONTACTS
        gap = self.gaps(x, time) - reach
        nodes = (gap < within).nonzero()[0].astype(np.int32)
        normal = np.empty((len(nodes), 3))
        normal[:] = self.normal
        return Contacts(nodes, normal, gap[nodes])


#: infinitely deep ground, without contacts
NOWHERE = Ground(np.array([0.0, 0.0, -np.inf]), np.array([0.0, 0.0, 1.0]))


def combine_friction(one: Vec, other: Vec | float) -> Vec:
    """Return Coulomb's coefficients of pairs, the geometric means of those of both sides, (k,)."""
    both: Vec = np.sqrt(one * other)
    return both
