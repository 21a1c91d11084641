"""How much a displacement field changes the edges of the elements: the measure of a step that is too long."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from .kernels import largest_edge_change


class Edges:
    """Every edge of a tetrahedral mesh once."""

    def __init__(self, tets: Index, rest: Vec) -> None:
        """tets: (e, 4). rest: (n, 3) [m]."""
        pairs = tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        self._pairs: Index = np.ascontiguousarray(pairs, dtype=np.int32)
        lengths = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
        self._inverse_square = 1.0 / lengths**2

    def largest_change(self, displacement: Vec) -> float:
        """Largest |d_i − d_j| over the edge's rest length, for displacements (n, 3) [m]."""
        return float(np.sqrt(largest_edge_change(displacement, self._pairs, self._inverse_square)))
