"""How much a displacement field changes the edges of the elements: the measure of a step that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..meshing.volume import EDGES, unique_edges
from ..state import Index, Vec
from ..threads import parallel_for
from .kernels import CHUNKS, changes_of_pieces, edge_changes, edge_stretches
from .turning import Turning


class Edges:
    """Every pair of nodes of an element once: edges, and corners of a hinge that face each other."""

    def __init__(self, tets: Index, rest: Vec) -> None:
        """tets: (e, 4). rest: (n, 3) [m]."""
        pairs = unique_edges(tets, EDGES)
        self._pairs = pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # a triangle has its last node twice
        lengths = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
        self._inverse_square = 1.0 / lengths**2
        self._rest = rest

    def largest_change(self, displacement: Vec) -> float:
        """Largest |d_i − d_j| over the edge's rest length, for displacements (n, 3) [m]."""
        return float(np.sqrt(self._changes(displacement)[:, 0].max()))

    def largest_stretch(self, start: Vec, end: Vec) -> float:
        """Largest change of an edge's length between places (n, 3) [m] each, over its rest length: turning left out."""
        return float(np.sqrt(edge_stretches(start, end, self._pairs, self._inverse_square)))

    @property
    def first(self) -> Index:
        """One end of each."""
        first: Index = self._pairs[:, 0]
        return first

    def change_of_most(self, displacement: Vec, groups: Sequence[Index], others: Index, share: float) -> float:
        """The largest such change where of each group of edges only this share of them counts that changes least, and
        all `others`."""
        apart = displacement[self._pairs[:, 0]] - displacement[self._pairs[:, 1]]
        squares = np.einsum("ki,ki->k", apart, apart) * self._inverse_square
        found = [float(squares[others].max(initial=0.0))]
        for own in filter(len, groups):
            last = int(share * (len(own) - 1))
            found.append(float(np.partition(squares[own], last)[last]))
        return float(np.sqrt(max(found)))

    def changes(self, displacement: Vec) -> Vec:
        """|d_i − d_j| over the edge's rest length of each, (k,), for displacements (n, 3) [m]."""
        apart = displacement[self._pairs[:, 0]] - displacement[self._pairs[:, 1]]
        return np.asarray(np.sqrt(np.einsum("ki,ki->k", apart, apart) * self._inverse_square))

    def usual_change(self, displacement: Vec) -> float:
        """Return the root mean square of `changes` over all edges, for displacements (n, 3) [m]."""
        return float(np.sqrt(self._changes(displacement)[:, 1].sum() / max(len(self._pairs), 1)))

    def _changes(self, displacement: Vec) -> Vec:
        out = np.empty((CHUNKS, 2))
        parallel_for(edge_changes, CHUNKS, displacement, self._pairs, self._inverse_square, out)
        return out

    def usual_change_of_pieces(self, displacement: Vec) -> float:
        """Return the largest `usual_change` of a connected piece, for displacements (n, 3) [m]: a piece at rest hides
        no motion of another."""
        count, piece = self._pieces
        squares = changes_of_pieces(displacement, self._pairs, self._inverse_square, piece, count)
        return float(np.sqrt(squares.max(initial=0.0)))

    @cached_property
    def _pieces(self) -> tuple[int, Index]:
        """How many pieces hang together, and of which one each edge is, (k,)."""
        nodes = len(self._rest)
        graph = sp.coo_matrix((np.ones(len(self._pairs)), tuple(self._pairs.T)), shape=(nodes, nodes))
        count, label = connected_components(graph, directed=False)
        return count, label[self._pairs[:, 0]]

    @cached_property
    def turning(self) -> Turning:
        """Return the computation of the nodes' rotation with their edges, which starts from its last result."""
        return Turning(self._pairs, self._rest)
