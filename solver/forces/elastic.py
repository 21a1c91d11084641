"""Elasticity of tetrahedra with linear displacement."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..materials.lanes import LANES, MAX_CONSTANTS
from ..state import Index, Vec
from .elastic_kernels import ELEMENT_SLOTS, PAIRS, fill, measure

CHUNKS = 64  #: pieces of work; their borders do not depend on the number of threads


def rest_volumes(nodes: Vec, tets: Index) -> Vec:
    """Signed volumes of tetrahedra, (e,) [m³]. nodes: (n, 3) [m], tets: (e, 4)."""
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    return np.linalg.det(edges) / 6.0


class Elastic:
    """All elements of one material: f = −∂ψ/∂x and K = ∂f/∂x (negative semi-definite when projected)."""

    def __init__(self, nodes: Vec, tets: Index, material: Any, constants: Vec) -> None:
        """nodes: (n, 3) rest positions [m]. tets: (e, 4), positive volumes. constants: (c, e) of `material`."""
        self.material = material
        self.count = len(tets)
        blocks = -(-self.count // LANES)
        if len(constants) > MAX_CONSTANTS:
            raise ValueError(f"a material may have {MAX_CONSTANTS} constants, not {len(constants)}")

        # the last block is filled up with copies of the first element that weigh nothing
        source = np.zeros(blocks * LANES, dtype=np.int64)
        source[: self.count] = np.arange(self.count)
        edges = np.swapaxes(nodes[tets[:, 1:]] - nodes[tets[:, :1]], 1, 2)
        rest = np.empty((self.count, 10))
        rest[:, :9] = np.linalg.inv(edges).reshape(self.count, 9)
        rest[:, 9] = rest_volumes(nodes, tets)
        rest = rest[source]
        rest[self.count :, 9] = 0.0
        self._nodes = _in_lanes(tets[source].astype(np.int32))
        self._rest = _in_lanes(rest)
        self._constants = _in_lanes(constants.T[source])
        self._works = np.zeros((min(CHUNKS, blocks), ELEMENT_SLOTS * LANES))
        self._energies = np.zeros(blocks * LANES)
        self.forces: Vec = np.zeros((blocks * LANES, 4, 3))  #: f of each element's corners [N], (≥ e, 4, 3)
        self.blocks: Vec = np.zeros((blocks * LANES, PAIRS, 9))  #: K of each pair of corners [N/m], (≥ e, 10, 9)

    def fill(self, x: Vec, project: bool) -> None:
        """Renew `forces` and `blocks` at positions x, (n, 3) [m]."""
        fill(x, self._nodes, self._rest, self._constants, self.material.stress, self.material.tangent, project,
             self._works, self.forces, self.blocks)

    def measure(self, x: Vec) -> float:
        """Energy [J] at positions x, (n, 3) [m]; renews `forces` and leaves `blocks` alone."""
        measure(x, self._nodes, self._rest, self._constants, self.material.energy, self.material.stress, self._works,
                self.forces, self._energies)
        return float(self._energies[: self.count].sum())


def _in_lanes(values: Any) -> Any:
    """(16 b, k) to (b, k, 16): entries of sixteen elements stand together."""
    return np.ascontiguousarray(values.reshape(len(values) // LANES, LANES, -1).transpose(0, 2, 1))
