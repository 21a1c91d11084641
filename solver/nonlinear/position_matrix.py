"""The matrix of a stage of mostly quasistatic positions, with their exact inertia."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parts.interface import PositionInertia
from ..state import Index, Vec


class PositionMatrix:
    """Matrix of a stage of mostly quasistatic positions: a sparse one with the exact inertia in place of its
    regularisation mass."""

    def __init__(self, lower: sp.csc_matrix, inertia: PositionInertia, regularisation_mass: Vec, order: Index) -> None:
        """lower: lower triangle of the sparse matrix, (m, m). inertia: the exact one. regularisation_mass: in the
        matrix, (n,) [kg]. order: nodes of the unknowns."""
        self._lower, self._inertia, self._order = lower, inertia, order
        self._nodes = len(regularisation_mass)
        #: of both triangles together, with the regularisation mass, (m,)
        self._diagonal: Vec = lower.diagonal() + np.repeat(regularisation_mass[order], 3)

    def times(self, v: Vec) -> Vec:
        """Return the product of the matrix with a vector v, both (m,)."""
        field = np.zeros((self._nodes, 3))
        field[self._order] = v.reshape(-1, 3)
        out: Vec = self._lower @ v + self._lower.T @ v - self._diagonal * v
        return out + self._inertia.times(field)[self._order].ravel()
