"""Springs and joint forces that are explicit in a stage: its matrix has no terms of them."""

from __future__ import annotations

import numpy as np

from ..coordinates.tree import Posture, Tree
from ..state import Vec
from .joint_forces import JointForces
from .springs import Springs


class ExplicitForces:
    """Impulses of springs and joints that are explicit, constant in all iterations of a stage."""

    def __init__(self, tree: Tree, springs: Springs, joints: JointForces) -> None:
        """springs, joints: only the explicit ones."""
        self.springs, self.joints = springs, joints
        self.wrench: Vec = np.zeros((tree.count, 6))  #: on bodies, in their frames [N m s, N s]
        self.rate_impulse: Vec = np.zeros(tree.rates)  #: on rates

    def __len__(self) -> int:
        return len(self.springs) + len(self.joints.bodies)

    def energy(self, E: Vec, q: Vec, centres: Vec) -> float:
        """Return the energy [J] with the bodies at E (n, 4, 4) and the joints at q (m,)."""
        return self.springs.energy(E) + self.joints.energy(q, centres)

    def take(self, at: Posture, q: Vec, u: Vec, centres: Vec, time: float, active_time: float,
             ah: float) -> None:
        """Set `wrench` and `pull` to the impulses over `ah` seconds at q and u, both (m,), with the bodies at `at`.

        Motors have their targets at `time` [s]; only those that are active at `active_time` [s] act.
        """
        self.wrench[:] = 0.0
        self.springs.add_forces(at.E, at.twist, ah, self.wrench)
        self.joints.at(time, active_time)
        self.rate_impulse[:] = self.joints.forces(at, q, u, centres, ah)
