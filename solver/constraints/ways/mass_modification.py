"""Rows of single nodes taken out of the unknowns: their velocities are prescribed in a frame of each node."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...state import Vec
from .interface import Enforced, RowSystem

ACCURACY = 1.0e-14  #: of the right-hand side, in the norm of the preconditioner
ALONE = 1.0e-12  #: of a row's largest entry: smaller ones are rounding


class MassModification:
    """v = z + S c: z has the prescribed velocities, S removes the constrained directions of each node, and c is found
    by conjugate gradients that are filtered by S, without a factor. What the rows hold with is A v − b."""

    def __init__(self, accuracy: float = ACCURACY) -> None:
        """accuracy: of the right-hand side, in the norm of the preconditioner: what the gradients leave."""
        self._accuracy = accuracy
        self.taken = 0  #: iterations of the last solution

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return the solution; `compliance` is not used. Raises ValueError where a row joins two nodes, or rows of one
        node contradict each other. [Notes, Mass Modification]"""
        matrix = system.matrix
        if system.geometric is not None:
            matrix = matrix - system.impulse * system.seconds * system.geometric
        m = matrix.shape[0]
        basis, z = np.zeros((m // 3, 3, 3)), np.zeros(m)
        rows_of = _by_node(system.jacobian)
        for node, rows in rows_of.items():
            G = system.jacobian[rows][:, 3 * node:3 * node + 3].toarray()
            target = -system.value[rows] / system.seconds
            z[3 * node:3 * node + 3] = np.linalg.pinv(G) @ target
            left = G @ z[3 * node:3 * node + 3] - target
            if np.abs(left).max() > 1.0e-9 * max(float(np.abs(target).max()), 1e-300):
                raise ValueError(f"rows of node {node} contradict each other")
            basis[node] = np.linalg.pinv(G) @ G
        c, self.taken = _filtered_gradients(matrix, system.right - matrix @ z, basis, self._accuracy)
        v = z + c
        holding, impulse = matrix @ v - system.right, np.zeros(len(system.value))
        for node, rows in rows_of.items():
            G = system.jacobian[rows][:, 3 * node:3 * node + 3].toarray()
            impulse[rows] = np.linalg.pinv(G.T) @ holding[3 * node:3 * node + 3]
        return Enforced(v, impulse)


def _by_node(jacobian: sp.csr_array) -> dict[int, list[int]]:
    """Return the rows of each node. Raises ValueError where a row has several nodes."""
    found: dict[int, list[int]] = {}
    for row in range(jacobian.shape[0]):
        entries = slice(jacobian.indptr[row], jacobian.indptr[row + 1])
        data = np.abs(jacobian.data[entries])
        nodes = np.unique(jacobian.indices[entries][data > ALONE * data.max(initial=0.0)] // 3)
        if len(nodes) != 1:
            raise ValueError("mass modification constrains single nodes, and a row joins several")
        found.setdefault(int(nodes[0]), []).append(row)
    return found


def _filtered_gradients(matrix: sp.csc_array, right: Vec, basis: Vec, accuracy: float) -> tuple[Vec, int]:
    """Return c with S (A c − right) = 0 and S c = c, S = 1 − `basis` of each node, (n, 3, 3), and how many iterations
    that took."""
    def filtered(vector: Vec) -> Vec:
        each = vector.reshape(-1, 3)
        return np.asarray((each - np.einsum("nij,nj->ni", basis, each)).ravel())

    inverse = 1.0 / matrix.diagonal()
    c, r = np.zeros_like(right), filtered(right)
    p = filtered(inverse * r)
    size = first = float(r @ p)
    taken = 0
    while taken < 10 * len(right):
        if size <= accuracy**2 * first or size == 0.0:
            break
        taken += 1
        product = filtered(matrix @ p)
        step = size / float(p @ product)
        c += step * p
        r -= step * product
        ahead = filtered(inverse * r)
        last, size = size, float(r @ ahead)
        p = ahead + size / last * p
    return c, taken
