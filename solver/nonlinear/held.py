"""Stiffness of tetrahedra that directions go on with while bodies deform little: what touches is taken anew each time.

Where Newton's method finds out what touches that changes by orders of magnitude from iteration to iteration, while the
bodies themselves hardly do. Then most fronts of the factor before stand as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..parts.stage import NodeStage
from ..state import Index, Mask, Vec

if TYPE_CHECKING:
    from .problem import StageProblem

STRAINED = 0.3  #: of an edge's length, turning included: beyond it bodies have another stiffness


class HeldStiffness:
    """What the last factor was made of."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """The next one is of stiffness of its own."""
        self._at: tuple[Vec, NodeStage, Damped | None] | None = None

    def serves(self, problem: StageProblem, x: Vec) -> bool:
        """Whether that of the tets may be the next one's at positions x, (n, 3) [m], in which case they have it."""
        if self._at is None or problem.damped is not None and problem.damped.between is not None:
            return False
        begun, stage, damped = self._at
        return (damped is problem.damped and stage.shares(problem.stage)
                and np.array_equal(self._filled, problem.physics.filled())
                and problem.system.edges.largest_change(x - begun) <= STRAINED)

    def take(self, problem: StageProblem, x: Vec, lin: Linearised) -> None:
        """The last factor was made of this, all of it, at positions x, (n, 3) [m]."""
        self._at, self._filled = (x, problem.stage, problem.damped), problem.physics.filled()
        self._joined, self._alone = _joined(lin), lin.node_blocks.copy()

    def follow(self, order: Index, lin: Linearised) -> Mask:
        """Call with what the next one is made of besides tets; unknowns, three of each node of the order, in whose
        columns others may stand than in the last one, (3 p,)."""
        joined = _joined(lin)
        nodes = joined | self._joined | (lin.node_blocks != self._alone).any(axis=(1, 2))
        self._joined, self._alone = joined, lin.node_blocks.copy()
        return np.repeat(nodes[order], 3)


def _joined(lin: Linearised) -> Mask:
    """Nodes of elements besides tets, (n,)."""
    joined = np.zeros(len(lin.x), dtype=bool)
    if lin.others is not None:
        joined[lin.others] = True
    return joined
