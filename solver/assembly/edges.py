"""Relative changes of the edges of the elements under displacements: the measure of a step that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..meshing.volume import EDGES, find_edges
from ..state import Index, Vec
from ..threads import parallel_for
from .kernels import CHUNKS, changes_of_pieces, edge_changes, edge_stretches
from .node_rotations import NodeRotations


class Edges:
    """Edges of the elements, each pair of nodes of an element once; for a hinge also the corners that face each
    other."""

    def __init__(self, tets: Index, rest: Vec) -> None:
        """tets: nodes of elements, (e, 4). rest: positions at rest, (n, 3) [m]."""
        pairs = find_edges(tets, EDGES)
        self._pairs = pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # a triangle has its last node twice
        lengths = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
        self._inverse_square = 1.0 / lengths**2
        self._rest = rest

    def largest_change(self, displacement: Vec) -> float:
        """Return the largest |d_i − d_j| over the rest length of an edge, for displacements d (n, 3) [m]."""
        return float(np.sqrt(self._changes(displacement)[:, 0].max()))

    def largest_stretch(self, start: Vec, end: Vec) -> float:
        """Return the largest change of an edge's length over its rest length, between positions `start` and `end`, (n,
        3) [m] each; rotation does not count."""
        return float(np.sqrt(edge_stretches(start, end, self._pairs, self._inverse_square)))

    @property
    def first(self) -> Index:
        """Return the first node of each edge, (k,)."""
        first: Index = self._pairs[:, 0]
        return first

    def change_of_most(self, displacement: Vec, groups: Sequence[Index], others: Index, fraction: float) -> float:
        """Return the largest |d_i − d_j| over the rest length of an edge, where of each group only the least changed
        edges count.

        displacement: d, (n, 3) [m]. groups: of edges. others: edges that all count. fraction: part of each group that
        counts.
        """
        difference = displacement[self._pairs[:, 0]] - displacement[self._pairs[:, 1]]
        squares = np.einsum("ki,ki->k", difference, difference) * self._inverse_square
        largest = [float(squares[others].max(initial=0.0))]
        for own in filter(len, groups):
            last = int(fraction * (len(own) - 1))
            largest.append(float(np.partition(squares[own], last)[last]))
        return float(np.sqrt(max(largest)))

    def changes(self, displacement: Vec) -> Vec:
        """Return |d_i − d_j| over the rest length of each edge, (k,), for displacements d (n, 3) [m]."""
        difference = displacement[self._pairs[:, 0]] - displacement[self._pairs[:, 1]]
        return np.asarray(np.sqrt(np.einsum("ki,ki->k", difference, difference) * self._inverse_square))

    def usual_change(self, displacement: Vec) -> float:
        """Return the root mean square of `changes` over all edges, for displacements (n, 3) [m]."""
        return float(np.sqrt(self._changes(displacement)[:, 1].sum() / max(len(self._pairs), 1)))

    def _changes(self, displacement: Vec) -> Vec:
        """Return the largest squared change of the edges of each chunk, and the sum of all, (CHUNKS, 2).

        displacement: (n, 3) [m].
        """
        out = np.empty((CHUNKS, 2))
        parallel_for(edge_changes, CHUNKS, displacement, self._pairs, self._inverse_square, out)
        return out

    def usual_change_of_pieces(self, displacement: Vec) -> float:
        """Return the largest `usual_change` of a connected component, for displacements (n, 3) [m]: a component at rest
        does not hide the motion of another."""
        count, piece = self._pieces
        squares = changes_of_pieces(displacement, self._pairs, self._inverse_square, piece, count)
        return float(np.sqrt(squares.max(initial=0.0)))

    @cached_property
    def _pieces(self) -> tuple[int, Index]:
        """Return the number of connected components, and the component of each edge, (k,)."""
        nodes = len(self._rest)
        graph = sp.coo_matrix((np.ones(len(self._pairs)), tuple(self._pairs.T)), shape=(nodes, nodes))
        count, label = connected_components(graph, directed=False)
        return count, label[self._pairs[:, 0]]

    @cached_property
    def rotations(self) -> NodeRotations:
        """Return the rotations of the nodes with these edges; each evaluation starts from the last result."""
        return NodeRotations(self._pairs, self._rest)
