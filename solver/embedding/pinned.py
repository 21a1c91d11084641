"""Correction of drawn vertices: pinned ones are drawn exactly at their targets, and those around them move along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from ..state import Index, Vec

REACH = 2.0  #: of a tetrahedron's edge: how far along the mesh around it a pinned vertex is still followed


class Target(Protocol):
    """Target positions of some vertices."""

    @property
    def vertices(self) -> Index:
        """Return the indices of the vertices, (p,)."""

    def positions_at(self, x: Vec, frame: int) -> Vec:
        """Return positions of the vertices [m], (p, 3), with the body's nodes at x [m], (k, 3), at a frame counted from
        0."""


class PinnedVertices:
    """Correction that moves vertices to their targets, and those around them by a displacement that is harmonic on the
    mesh."""

    def __init__(self, targets: Sequence[Target], rest: Vec, triangles: NDArray[Any], edge: float) -> None:
        """rest: vertices of the mesh [m], (n, 3); triangles: (t, 3); edge: length of edges of the tetrahedra that carry
        it [m]."""
        self._targets = list(targets)
        self._vertices = np.concatenate([target.vertices for target in targets])
        self._count = len(rest)
        links = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        length = np.linalg.norm(rest[links[:, 0]] - rest[links[:, 1]], axis=1)
        length = np.maximum(length, 1e-9 * edge)
        graph = coo_matrix((np.tile(length, 2), (links.T.ravel(), links[:, ::-1].T.ravel())), shape=(len(rest),) * 2)
        away = dijkstra(graph.tocsr(), indices=self._vertices, min_only=True, limit=REACH * edge)
        away[self._vertices] = np.inf
        self._around = np.flatnonzero(np.isfinite(away))
        weights = graph.tocsr()
        weights.data = 1.0 / weights.data
        laplacian = (diags(np.asarray(weights.sum(axis=1)).ravel()) - weights).tocsr()
        self._known: csr_matrix = -laplacian[self._around][:, self._vertices]
        self._factor = splu(laplacian[self._around][:, self._around].tocsc()) if len(self._around) else None

    @property
    def vertices(self) -> Index:
        """Return the indices of the vertices that are moved to targets, (p,)."""
        return self._vertices

    def apply(self, points: Vec, x: Vec, frame: int) -> Vec:
        """Return the vertices (v, 3) [m] with pinned ones at their targets. points: (v, 3) [m]; vertices that a cut has
        added are last. x: positions of the body's nodes, (k, 3) [m]. frame: counted from 0."""
        moved = points.copy()
        targets = np.concatenate([target.positions_at(x, frame) for target in self._targets])
        off = targets - points[self._vertices]
        if self._factor is not None:
            moved[self._around] += self._factor.solve(self._known @ off)
        moved[self._vertices] = targets
        return moved
