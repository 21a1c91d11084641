"""Stiffness of tetrahedra that directions go on with while bodies deform little: what touches is taken anew each time.

Where Newton's method finds out what touches that changes by orders of magnitude from iteration to iteration, while the
bodies themselves hardly do. Then most fronts of the factor before stand as they are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..assembly.damping import Damped
from ..assembly.edges import Edges
from ..assembly.linearised import Linearised
from ..parts.stage import NodeStage
from ..state import Index, Mask, Vec

STRAINED = 0.3  #: of an edge's length, turning included: beyond it bodies have another stiffness


class HeldStiffness:
    """What the last factor was made of."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """The next one is of stiffness of its own."""
        self._at: tuple[Vec, NodeStage, Damped | None, npt.NDArray[np.int64]] | None = None

    def serves(self, stage: NodeStage, damped: Damped | None, filled: npt.NDArray[np.int64], edges: Edges,
               x: Vec) -> bool:
        """Whether that of the tets may be the next one's at positions x, (n, 3) [m], in which case they have it.

        filled: how often it was asked for, (b,).
        """
        if self._at is None or damped is not None and damped.between is not None:
            return False
        begun, of_stage, of_damped, count = self._at
        return (of_damped is damped and of_stage.shares(stage) and np.array_equal(count, filled)
                and edges.largest_change(x - begun) <= STRAINED)

    def take(self, stage: NodeStage, damped: Damped | None, filled: npt.NDArray[np.int64], x: Vec,
             lin: Linearised) -> None:
        """The last factor was made of this, all of it, at positions x, (n, 3) [m]."""
        self._at = x, stage, damped, filled
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
