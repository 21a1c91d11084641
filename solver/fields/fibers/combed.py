"""Fiber directions along combed curves: the nearest tangents, smoothed over the volume."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import cKDTree

from ...errors import BadScene
from ...state import Vec
from .interface import Muscle, unit

NEAREST = 8  #: number of tangents for each element
SWEEPS = 5  #: of smoothing over neighbours


class Combed:
    """Fiber directions from curves of either orientation: means of t tᵀ, whose first eigenvector has no sign."""

    def __init__(self, params: Mapping[str, float]) -> None:
        """params: none."""

    def directions(self, muscle: Muscle) -> Vec:
        """Return the first eigenvector of the smoothed mean of t tᵀ of each element, (e, 3). Raises BadScene without
        curves."""
        if muscle.curves is None or not len(muscle.curves):
            raise BadScene("no curves were combed for its fibers", "Choose an object with curves, or another direction",
                           where="fiber_curves")
        points, tangents = muscle.curves[:, 0], unit(muscle.curves[:, 1])
        count = min(NEAREST, len(points))
        away, nearest = cKDTree(points).query(muscle.centres, np.arange(1, count + 1))
        closeness = 1.0 / (away + 1.0e-3 * away.mean() + 1.0e-30)
        tensors = np.einsum("es,esi,esj->eij", closeness / closeness.sum(axis=1, keepdims=True), tangents[nearest],
                            tangents[nearest]).reshape(-1, 9)

        # over nodes and back: elements that share a corner are neighbours
        tets = muscle.volume.tets
        rows = np.repeat(np.arange(len(tets)), 4)
        shape = (len(tets), len(muscle.volume.nodes))
        incidence = coo_matrix((np.ones(tets.size), (rows, tets.ravel())), shape=shape).tocsr()
        counts = np.maximum(np.asarray(incidence.sum(axis=0)).ravel(), 1.0)[:, None]
        for _ in range(SWEEPS):
            tensors = 0.25 * (incidence @ ((incidence.T @ tensors) / counts))
        first: Vec = np.linalg.eigh(tensors.reshape(-1, 3, 3))[1][:, :, 2]
        return first
