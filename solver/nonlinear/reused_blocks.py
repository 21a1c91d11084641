"""Element stiffness that is reused in the next factor while its tetrahedra deform little.

In contact, Newton's method changes the stiffness of pairs by orders of magnitude from iteration to iteration, while
that of the bodies hardly changes except in a few elements near the impact. Then most fronts of the last factor are
reused; the blocks of pairs and of other elements are always evaluated again.
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
from ..threads import parallel_for
from .strain_kernels import element_edges, find_strained_elements


@dataclass(frozen=True)
class ReferenceShapes:
    """Reference shapes of elements: their edges when their K was evaluated; in single precision, as only large changes
    matter."""

    #: relative change of an edge, rotation included, above which an element's stiffness is evaluated again
    largest_strain = 0.15

    which: Index  #: elements that have a row, rising, (k,)
    nodes: Index  #: (k, 4)
    #: 1 / squared length of edges at rest [1/m²], 0 for a degenerate one, (k, 6)
    inverse_square: npt.NDArray[np.float32]
    edges: npt.NDArray[np.float32]  #: from the first corner to the others [m], (k, 3, 3); overwritten by `take`

    @classmethod
    def of(cls, pattern: Pattern, rest: Vec) -> ReferenceShapes:
        """Return storage for the shapes of all elements with free nodes; the shapes themselves are not set. rest:
        (n, 3) [m]."""
        which = np.flatnonzero((pattern.position[pattern.tets] >= 0).any(axis=1))
        nodes = np.ascontiguousarray(pattern.tets[which], dtype=np.int32)
        along = rest[nodes[:, EDGES[:, 0]]] - rest[nodes[:, EDGES[:, 1]]]
        square = np.einsum("kei,kei->ke", along, along)
        inverse = np.divide(1.0, square, out=np.zeros_like(square), where=square > 0.0)
        return cls(which, nodes, inverse.astype(np.float32), np.zeros((len(which), 3, 3), np.float32))

    def take_all(self, x: Vec) -> None:
        """Store the shapes of all rows at positions x, (n, 3) [m]."""
        parallel_for(element_edges, len(self.nodes), x, self.nodes, self.edges)

    def take(self, x: Vec, rows: Index) -> None:
        """Store the shapes of the elements in `rows`, (r,), at positions x, (n, 3) [m]."""
        corners = x[self.nodes[rows]]
        self.edges[rows] = corners[:, 1:] - corners[:, :1]

    def find_strained(self, x: Vec) -> Index:
        """Return the rows of the elements that are strained at positions x, (n, 3) [m], ascending."""
        out = np.empty(len(self.which), dtype=bool)
        parallel_for(find_strained_elements, len(out), x, self.nodes, self.edges, self.inverse_square,
                     self.largest_strain**2, out)
        return np.flatnonzero(out)


class ReusedBlocks:
    """The element blocks of the last factor, and a test which of them are still valid."""

    most = 0.25  #: fraction of the elements above which reusing the others saves little

    def __init__(self) -> None:
        self._shapes: ReferenceShapes | None = None
        self.forget()

    def forget(self) -> None:
        """Discard the last factor's state, so that all blocks are evaluated again for the next one."""
        self._at: tuple[NodeStage, Damped | None, npt.NDArray[np.int64]] | None = None

    def find_strained(self, stage: NodeStage, damped: Damped | None, filled: npt.NDArray[np.int64],
                      x: Vec) -> Index | None:
        """Return the tetrahedra whose K has to be evaluated again at positions x, (n, 3) [m], ascending; None where all
        have to be.

        filled: how often K of each body was evaluated, (b,).
        """
        if self._at is None or self._shapes is None or damped is not None and damped.between is not None:
            return None
        of_stage, of_damped, count = self._at
        if of_damped is not damped or not of_stage.has_equal_weights(stage) or not np.array_equal(count, filled):
            return None
        rows = self._shapes.find_strained(x)
        return self._shapes.which[rows] if len(rows) <= self.most * len(self._shapes.which) else None

    def take(self, stage: NodeStage, damped: Damped | None, filled: npt.NDArray[np.int64], lin: Linearised,
             pattern: Pattern, rest: Vec) -> None:
        """Store the state of a factor of which all blocks were evaluated. filled: how often K of each body was
        evaluated, (b,). rest: (n, 3) [m]."""
        self._shapes = self._shapes or ReferenceShapes.of(pattern, rest)
        self._shapes.take_all(lin.x)
        self._at = stage, damped, filled
        self._joined, self._node_blocks = _find_joined_nodes(lin), lin.node_blocks.copy()

    def update(self, order: Index, lin: Linearised, strained: Index, filled: npt.NDArray[np.int64]) -> Mask:
        """Store the state of the next factor, in which only strained tetrahedra were evaluated again; return a mask of
        the unknowns, three for each node of the order, whose columns may differ from the last factor's, (3 p,). Raises
        ValueError without a last factor."""
        if self._at is None or self._shapes is None:
            raise ValueError("no blocks are stored")
        rows = np.searchsorted(self._shapes.which, strained)
        self._shapes.take(lin.x, rows)
        self._at = *self._at[:2], filled
        joined = _find_joined_nodes(lin)
        nodes = joined | self._joined | (lin.node_blocks != self._node_blocks).any(axis=(1, 2))
        nodes[self._shapes.nodes[rows]] = True
        self._joined, self._node_blocks = joined, lin.node_blocks.copy()
        return np.repeat(nodes[order], 3)


def _find_joined_nodes(lin: Linearised) -> Mask:
    """Return a mask of the nodes of all elements that are no tetrahedra, (n,)."""
    joined = np.zeros(len(lin.x), dtype=bool)
    if lin.others is not None:
        joined[lin.others] = True
    return joined
