"""Stiffness of tetrahedra that directions go on with while these deform little: that of others, and what touches, is
taken anew each time.

Where Newton's method finds out what touches that changes by orders of magnitude from iteration to iteration, while the
bodies themselves hardly do but for some elements where they are hit. Then most fronts of the factor before stand as
they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern
from ..meshing.volume import EDGES
from ..parts.stage import NodeStage
from ..state import Index, Mask, Vec
from ..threads import share
from .held_kernels import have_strained

STRAINED = 0.3  #: of an edge's length, turning included: beyond it elements have another stiffness
MOST = 0.25  #: of all elements: where more have, it saves little to take the others as they are


@dataclass(frozen=True)
class TakenShapes:
    """Those of elements when K was taken of them; in single precision, as only what changes much counts."""

    which: Index  #: elements that have a row, rising, (k,)
    nodes: Index  #: (k, 4)
    inverse_square: npt.NDArray[np.float32]  #: of edges at rest [1/m²], 0 where there is none, (k, 6)
    edges: npt.NDArray[np.float32]  #: from the first corner to the others [m], (k, 3, 3); written anew

    @classmethod
    def of(cls, pattern: Pattern, rest: Vec) -> TakenShapes:
        """rest: (n, 3) [m]."""
        which = np.flatnonzero((pattern.position[pattern.tets] >= 0).any(axis=1))
        nodes = np.ascontiguousarray(pattern.tets[which], dtype=np.int32)
        along = rest[nodes[:, EDGES[:, 0]]] - rest[nodes[:, EDGES[:, 1]]]
        square = np.einsum("kei,kei->ke", along, along)
        inverse = np.divide(1.0, square, out=np.zeros_like(square), where=square > 0.0)
        return cls(which, nodes, inverse.astype(np.float32), np.zeros((len(which), 3, 3), np.float32))

    def take(self, x: Vec, rows: Index | slice) -> None:
        """Those of these rows are as they are at x, (n, 3) [m]."""
        corners = x[self.nodes[rows]]
        self.edges[rows] = corners[:, 1:] - corners[:, :1]

    def strained(self, x: Vec) -> Index:
        """Rows of those that have another one at x, (n, 3) [m], rising."""
        out = np.empty(len(self.which), dtype=bool)
        share(have_strained, len(out), x, self.nodes, self.edges, self.inverse_square, STRAINED**2, out)
        return np.flatnonzero(out)


class HeldStiffness:
    """What the last factor was made of."""

    def __init__(self) -> None:
        self._shapes: TakenShapes | None = None
        self.forget()

    def forget(self) -> None:
        """The next one is of stiffness of its own."""
        self._at: tuple[NodeStage, Damped | None, npt.NDArray[np.int64]] | None = None

    def strained(self, stage: NodeStage, damped: Damped | None, filled: npt.NDArray[np.int64], x: Vec) -> Index | None:
        """Which tets' K has to be taken anew for the next one at positions x, (n, 3) [m], rising, that of all others
        being as it was; None where all have to.

        filled: how often it was asked for, (b,).
        """
        if self._at is None or self._shapes is None or damped is not None and damped.between is not None:
            return None
        of_stage, of_damped, count = self._at
        if of_damped is not damped or not of_stage.shares(stage) or not np.array_equal(count, filled):
            return None
        rows = self._shapes.strained(x)
        return self._shapes.which[rows] if len(rows) <= MOST * len(self._shapes.which) else None

    def take(self, stage: NodeStage, damped: Damped | None, filled: npt.NDArray[np.int64], lin: Linearised,
             pattern: Pattern, rest: Vec) -> None:
        """The last factor was made of this, all of it. rest: (n, 3) [m]."""
        self._shapes = self._shapes or TakenShapes.of(pattern, rest)
        self._shapes.take(lin.x, slice(None))
        self._at = stage, damped, filled
        self._joined, self._alone = _joined(lin), lin.node_blocks.copy()

    def follow(self, order: Index, lin: Linearised, strained: Index, filled: npt.NDArray[np.int64]) -> Mask:
        """Call with what the next one is made of besides tets, and which of these were taken anew; unknowns, three of
        each node of the order, in whose columns others may stand than in the last one, (3 p,)."""
        if self._at is None or self._shapes is None:
            raise ValueError("nothing is held")
        rows = np.searchsorted(self._shapes.which, strained)
        self._shapes.take(lin.x, rows)
        self._at = *self._at[:2], filled
        joined = _joined(lin)
        nodes = joined | self._joined | (lin.node_blocks != self._alone).any(axis=(1, 2))
        nodes[self._shapes.nodes[rows]] = True
        self._joined, self._alone = joined, lin.node_blocks.copy()
        return np.repeat(nodes[order], 3)


def _joined(lin: Linearised) -> Mask:
    """Nodes of elements besides tets, (n,)."""
    joined = np.zeros(len(lin.x), dtype=bool)
    if lin.others is not None:
        joined[lin.others] = True
    return joined
