"""Fiber directions from a muscle's origin to its insertion: the gradient of a harmonic field between them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import BadScene
from ...meshing.volume import boundary_faces, shape_gradients
from ...state import Vec
from ..harmonic import p1_laplacian, solve
from .interface import Muscle

BELLY = 0.2  #: least fraction of the skin's nodes between the two ends
END = 0.1  #: weights this close to the lowest or highest are origin or insertion


class Gradient:
    """Fiber directions along a harmonic field without flux through the skin between both ends, so parallel to it
    there."""

    def __init__(self, params: Mapping[str, float]) -> None:
        """params: none."""

    def directions(self, muscle: Muscle) -> Vec:
        """Return ∇φ in each element with φ = 0 at the origin, 1 at the insertion and ∂φ/∂n = 0 on all other skin, (e,
        3) [1/m].

        Raises BadScene where nothing, or only one end, is painted, BadMesh where tetrahedra are too flat.
        """
        weights = muscle.weights
        if weights is None:
            raise BadScene("its fibers have no origin and no insertion", "Paint the Fibers group, or choose another "
                           "direction", where="fibers")
        nodes, tets = muscle.volume.nodes, muscle.volume.tets
        border = np.unique(boundary_faces(tets)[0])
        low, high = weights[border].min(), weights[border].max()
        if not high > low:
            raise BadScene(f"its Fibers map is {high:g} everywhere", "Paint 0 at the origin, 1 at the insertion and "
                           "something in between on the belly", where="fibers")
        fraction = np.full(len(nodes), 0.5)
        fraction[border] = (weights[border] - low) / (high - low)
        origin, insertion = fraction <= END, fraction >= 1.0 - END
        between = np.count_nonzero(~(origin | insertion)[border])
        if between < BELLY * len(border):
            muscle.notes.append(f"Fibers is painted neither 0 nor 1 on {between} of {len(border)} nodes of the skin: "
                                "paint the belly, along which fibers are to run, with 0.5")
        phi = insertion.astype(np.float64)
        free = np.flatnonzero(~(origin | insertion))
        if len(free):
            prescribed = np.flatnonzero(origin | insertion)
            laplacian = p1_laplacian(nodes, tets)
            known = -(laplacian[free][:, prescribed] @ phi[prescribed])
            phi[free] = solve(laplacian[free][:, free].tocsr(), known[:, None], 1e-10)[:, 0]
        gradients: Vec = np.einsum("eij,ei->ej", shape_gradients(nodes, tets)[0], phi[tets])
        return gradients
