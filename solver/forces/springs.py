"""Damped springs between points of rigid bodies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..state import Index, Vec
from .rigid_structs import BodySystem, ForceWeights, SpringTable
from .spring_kernels import CHILD_FIRST, PARENT_FIRST, WORLD, spring_energy, spring_forces, springs


class Springs:
    """Damped springs between points of rigid bodies; K = ∂f/∂x lacks the lateral part of compressed springs.

    K and D are negative semi-definite.
    """

    def __init__(self, body: Index, point: Vec, law: Vec, parent: Index) -> None:
        """body: (s, 2), −1 the world. point: in the bodies' own frames, or in the world, (s, 2, 3) [m].

        law: stiffness [N/m], damping [N s/m] and rest length [m] of each spring, (s, 3). parent: of the tree, (n,).
        """
        self.body = np.ascontiguousarray(body, dtype=np.int32).reshape(-1, 2)
        self.point = np.ascontiguousarray(point, dtype=float).reshape(-1, 2, 3)
        self.law = np.ascontiguousarray(law, dtype=float).reshape(-1, 3)
        self.slot: Index = np.full(len(self.body), WORLD, dtype=np.int32)  #: of each spring's block, (s,)
        self.table = SpringTable(self.body, self.point, self.law, self.slot)
        self.unmoved: Vec = np.zeros((len(parent), 6))
        far: dict[tuple[int, int], int] = {}
        for s, (a, b) in enumerate(self.body.tolist()):
            if a >= 0 and b >= 0:
                if parent[a] == b:
                    self.slot[s] = CHILD_FIRST
                elif parent[b] == a:
                    self.slot[s] = PARENT_FIRST
                else:
                    self.slot[s] = far.setdefault((a, b), len(far))
        #: bodies that springs connect, other than parent and child, (p, 2)
        self.pairs: Index = np.array(list(far), dtype=np.int32).reshape(-1, 2)
        self.between: Vec = np.zeros((len(far), 6, 6))  #: blocks of the matrix between these bodies

    def pull(self, row: int, point: npt.ArrayLike, stiffness: float, damping: float) -> None:
        """Change the first point, (3,) [m], stiffness [N/m] and damping [N s/m] of a spring in all following
        evaluations."""
        self.point[row, 0] = point
        self.law[row, :2] = stiffness, damping

    def __len__(self) -> int:
        return len(self.body)

    def add(self, E: Vec, twist: Vec, moved: Vec | None, ah: float, scale: float, damped: float, wrench: Vec,
            diagonal: Vec, below: Vec) -> None:
        """Add ah (f + K moved) to wrench (n, 6) and −ah D − scale K to blocks (n, 6, 6); overwrite `between`.

        E: (n, 4, 4). twist: (n, 6). moved: displacement of the bodies to the base of the stage, as twists times time
        (n, 6) [rad, m]; None for zero. ah: a h [s]. scale: [s²]. damped: 1 if f includes damping, else 0. diagonal,
        below: blocks of bodies, and of bodies with their parents.
        """
        self.between[:] = 0.0
        springs(E, twist, self.unmoved if moved is None else moved, self.table, ForceWeights(ah, scale, damped),
                BodySystem(wrench, diagonal, below, self.between))

    def add_forces(self, E: Vec, twist: Vec, ah: float, wrench: Vec) -> None:
        """Add ah f, damping included, to wrench (n, 6) [N m s, N s] with the bodies at E (n, 4, 4) and twists (n,
        6)."""
        spring_forces(E, twist, self.body, self.point, self.law, ah, wrench)

    def energy(self, E: Vec) -> float:
        """Return the energy of all springs [J] with the bodies at E (n, 4, 4)."""
        return float(spring_energy(E, self.body, self.point, self.law))
