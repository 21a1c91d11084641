"""Bilateral rows of single nodes, eliminated in a frame of each node without a factor: mass modification."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..state import Vec
from .tables import SparseRows

NEGLIGIBLE = 1.0e-12  #: entry relative to the largest of its row, up to which it is rounding and of no node


class FilteredProgram:
    """min ½ uᵀ A u − uᵀ b under hard equations of one node each, such as a node pinned along some directions.

    u = z + S c: z has the rows' velocities, S removes the constrained directions of each node, and c is found by
    conjugate gradients that are filtered by S. The rows' impulses are A u − b. [Notes, Mass Modification]
    """

    default_accuracy = 1.0e-14  #: residual relative to the right-hand side, in the norm of the preconditioner
    contradiction = 1.0e-9  #: error relative to a node's largest target, above which its rows contradict each other

    def __init__(self, matrix: sp.csc_array, rows: SparseRows, accuracy: float | None = None) -> None:
        """matrix: A, (m, m), three unknowns for each node. accuracy: residual relative to the right-hand side at which
        the gradients end, in the norm of the preconditioner; None for the default.

        Raises ValueError where a row joins two nodes or has compliance or bounds, and where rows of one node contradict
        each other.
        """
        if not rows.is_equation.all() or rows.compliance.any():
            raise ValueError("mass modification takes hard equations alone")
        self._matrix, self._rows = matrix, rows
        self._accuracy = self.default_accuracy if accuracy is None else accuracy
        self.taken = 0  #: iterations of the last solution
        m = matrix.shape[0]
        self._basis, self._z = np.zeros((m // 3, 3, 3)), np.zeros(m)
        self._of_node: list[tuple[int, list[int], Vec]] = []  #: node, its rows and their Jacobian on it
        for node, own in _by_node(rows.matrix).items():
            G = rows.matrix[own][:, 3 * node:3 * node + 3].toarray()
            target, inverse = rows.target[own], np.linalg.pinv(G)
            z = inverse @ target
            if np.abs(G @ z - target).max() > self.contradiction * max(float(np.abs(target).max()), 1e-300):
                raise ValueError(f"rows of node {node} contradict each other")
            self._z[3 * node:3 * node + 3], self._basis[node] = z, inverse @ G
            self._of_node.append((node, own, G))

    def solve(self, rhs: Vec) -> tuple[Vec, Vec]:
        """Return u, (m,), and the rows' impulses, (r,). rhs: b, (m,)."""
        c, self.taken = _solve_filtered(self._matrix, rhs - self._matrix @ self._z, self._basis, self._accuracy)
        u = self._z + c
        reaction, impulse = self._matrix @ u - rhs, np.zeros(len(self._rows))
        for node, own, G in self._of_node:
            impulse[own] = np.linalg.pinv(G.T) @ reaction[3 * node:3 * node + 3]
        return u, impulse


def _by_node(jacobian: sp.csr_array) -> dict[int, list[int]]:
    """Return the rows of each node. Raises ValueError where a row has several nodes."""
    of_node: dict[int, list[int]] = {}
    for row in range(jacobian.shape[0]):
        entries = slice(jacobian.indptr[row], jacobian.indptr[row + 1])
        data = np.abs(jacobian.data[entries])
        nodes = np.unique(jacobian.indices[entries][data > NEGLIGIBLE * data.max(initial=0.0)] // 3)
        if len(nodes) != 1:
            raise ValueError("mass modification constrains single nodes, and a row joins several")
        of_node.setdefault(int(nodes[0]), []).append(row)
    return of_node


def _solve_filtered(matrix: sp.csc_array, rhs: Vec, basis: Vec, accuracy: float) -> tuple[Vec, int]:
    """Return c with S (A c − b) = 0 and S c = c, S = 1 − `basis` of each node, (n, 3, 3), and the number of
    iterations."""
    def filtered(vector: Vec) -> Vec:
        each = vector.reshape(-1, 3)
        return np.asarray((each - np.einsum("nij,nj->ni", basis, each)).ravel())

    inverse = 1.0 / matrix.diagonal()
    c, r = np.zeros_like(rhs), filtered(rhs)
    p = filtered(inverse * r)
    size = first = float(r @ p)
    taken = 0
    while taken < 10 * len(rhs):
        if size <= accuracy**2 * first or size == 0.0:
            break
        taken += 1
        product = filtered(matrix @ p)
        step = size / float(p @ product)
        c += step * p
        r -= step * product
        preconditioned = filtered(inverse * r)
        last, size = size, float(r @ preconditioned)
        p = preconditioned + size / last * p
    return c, taken
