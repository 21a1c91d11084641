"""The coordinates of plain FEM and of ConJac: positions of the nodes that are not prescribed."""

from __future__ import annotations

import numpy as np

from ..state import CarrierMotion, Index, Mask, Vec
from .attached import Attached
from .prescribed import OverTime


class FreeNodes:
    """Coordinates q of the free nodes: their positions. The other nodes are prescribed: they are static (pinned),
    functions of time (kinematic), or attached to rigid bodies, and then their velocities are unknowns of the step, J_a
    u."""

    def __init__(self, rest: Vec, prescribed: Index, motion: OverTime | None, attached: Attached | None = None,
                 carriers: int = 0) -> None:
        """rest: (n, 3) [m]. prescribed: (p,) nodes. motion: of these nodes, (p, 3) [m] at a time; None where all are
        static.

        attached: nodes on rigid bodies; they follow the others in `prescribed`. carriers: number of the joints' rates
        that move attached nodes.
        """
        self.count, self.motion, self.carriers = len(rest), motion, carriers
        self._static_positions = rest[prescribed]
        self.attached = Attached.none() if attached is None else attached
        self.prescribed: Index = np.concatenate([prescribed, self.attached.nodes]).astype(np.int32)
        mask = np.ones(self.count, dtype=bool)
        mask[self.prescribed] = False
        self.is_free: Mask = mask  #: (n,)
        self.free: Index = np.flatnonzero(mask).astype(np.int32)  #: (f,) nodes whose positions are q
        #: free nodes that are unknowns of other systems, and here at rest
        self.elsewhere: Index = np.zeros(0, dtype=np.int32)

    def follow(self, motion: OverTime) -> None:
        """Replace the motion of the prescribed nodes in all following evaluations. motion: (p, 3) [m] at a time."""
        self.motion = motion

    def where_prescribed(self, time: float, carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return positions of the prescribed nodes at `time` [s], (p, 3) [m]. carrier_motion: motion of the attached
        nodes, None without them."""
        own = self._static_positions if self.motion is None else self.motion.at(time)
        return own if carrier_motion is None else np.concatenate([own, carrier_motion.positions])

    def positions(self, q: Vec, time: float, carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return positions of all nodes, (n, 3) [m], from coordinates q (3 f,) [m] of the free ones at `time` [s]."""
        x = np.empty((self.count, 3))
        x[self.free] = q.reshape(-1, 3)
        x[self.prescribed] = self.where_prescribed(time, carrier_motion)
        return x

    def compute_prescribed_velocity(self, time: float, h: float) -> Vec | None:
        """Return w = (x(t + h) − x(t)) / h of kinematic nodes, the mean velocity of a step of h seconds from `time`
        [s], (p, 3) [m/s]; zero for attached nodes, whose velocity is an unknown of the step; None where all nodes are
        static."""
        if self.motion is None:
            return None
        return self._with_attached((self.motion.at(time + h) - self.motion.at(time)) / h)

    def kinematic_rate(self, time: float) -> Vec | None:
        """Return velocities of kinematic nodes at `time` [s], (p, 3) [m/s], zero for attached ones; None where all
        nodes are static."""
        return None if self.motion is None else self._with_attached(self.motion.velocity(time))

    def compute_prescribed_rate(self, time: float, carrier_motion: CarrierMotion | None = None) -> Vec | None:
        """Return velocities of the prescribed nodes at `time` [s], (p, 3) [m/s], attached ones included; None where all
        are static. Raises ValueError where there are attached nodes and no carrier motion."""
        if carrier_motion is None:
            if len(self.attached.nodes):
                raise ValueError("what carries nodes has to say how they move")
            return self.kinematic_rate(time)
        own = np.zeros_like(self._static_positions) if self.motion is None else self.motion.velocity(time)
        return np.concatenate([own, carrier_motion.velocities])

    def _with_attached(self, own: Vec) -> Vec:
        attached = len(self.attached.nodes)
        return np.concatenate([own, np.zeros((attached, 3))]) if attached else own

    def with_attached(self, columns: Vec) -> Vec:
        """Return velocities of the prescribed nodes, (p, 3, c), from those of the attached ones, (a, 3, c); zero for
        all others."""
        return np.concatenate([np.zeros((len(self._static_positions), *columns.shape[1:])), columns])

    def spread(self, u: Vec, w: Vec | None) -> Vec:
        """Return velocities of all nodes, (n, 3) [m/s], from the free ones' rates u (3 f,) and the prescribed ones' w
        (p, 3), both [m/s]."""
        v = np.zeros((self.count, 3))
        v[self.free] = u.reshape(-1, 3)
        if w is not None:
            v[self.prescribed] = w
        return v

    def advance(self, q: Vec, rate: Vec, h: float) -> Vec:
        """Return coordinates (3 f,) [m] after h seconds at `rate`, (3 f,) [m/s]."""
        return q + h * rate


class SomeFreeNodes(FreeNodes):
    """Coordinates of the free nodes among some nodes alone. The other free nodes are unknowns of other systems, and
    here at rest."""

    def __init__(self, whole: FreeNodes, nodes: Index, rest: Vec) -> None:
        """whole: coordinates of all free nodes. nodes: among which the free ones are chosen. rest: of all nodes, (n, 3)
        [m]."""
        self.__dict__.update(whole.__dict__)
        self._rest = rest
        self.free = np.intersect1d(whole.free, nodes).astype(np.int32)
        self.elsewhere = np.setdiff1d(whole.free, self.free).astype(np.int32)

    def positions(self, q: Vec, time: float, carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return positions of all nodes, (n, 3) [m], from coordinates q (3 f,) [m] of the chosen free ones at `time`
        [s]."""
        x = self._rest.copy()
        x[self.free] = q.reshape(-1, 3)
        x[self.prescribed] = self.where_prescribed(time, carrier_motion)
        return x
