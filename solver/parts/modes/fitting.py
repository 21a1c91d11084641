"""Volumes of cubature points, moved until a subspace is as stiff near rest as all elements make it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

from ...state import Vec
from .point_kernels import place_of
from .points import CubaturePoints

SLOW = 16  #: modes whose stiffness counts most; that of the k-th counts by SLOW/(SLOW + k)
LOOSE = 1.0e-3  #: how much volumes resist, against all equations
LEAST, LARGEST = 0.05, 20.0  #: of a point's volume, once all are scaled by one factor


def softness(points: CubaturePoints, modes: Vec) -> float:
    """By which factor all volumes have to grow for the slowest of modes, (q, p, 3) with a stiffness of 1 each."""
    return 1.0 / float((_roots(points, modes[:1]) ** 2).sum())


def fitted_volumes(points: CubaturePoints, modes: Vec, loose: float = LOOSE) -> Vec:
    """Factors of the points' volumes, (c,), with which Σ w K_c is nearest to the stiffness of all elements.

    modes: (q, p, 3), all of the subspace, orthonormal in that stiffness, slow ones first. Errors are measured in these
    modes, slow ones and what couples to them most, and factors stay as near to one for all as that lets them.
    """
    weights = np.sqrt(SLOW / (SLOW + np.arange(len(modes))))
    roots = _roots(points, modes)[: points.count] * weights
    count, rank, q = roots.shape
    factor = softness(points, modes)
    # ⟨K_c, K_d⟩ = |R_c R_dᵀ|², K_c = R_cᵀ R_c; in slices, as all products at once take much memory
    flat = roots.reshape(count * rank, q)
    gram = np.empty((count, count))
    for c in range(count):
        gram[c] = ((flat @ roots[c].T).reshape(count, rank * rank) ** 2).sum(axis=1)
    target = np.einsum("crq,crq,q->c", roots, roots, weights**2)
    share = points.volumes[: points.count] / points.volumes.sum()
    resist = loose * float((weights**4).sum()) * share / factor**2
    matrix = gram + np.diag(resist)
    scale = 1.0 / np.sqrt(np.diag(matrix))
    lower = np.linalg.cholesky(scale[:, None] * matrix * scale + 1e-12 * np.eye(count))
    right = np.linalg.solve(lower, scale * (target + resist * factor))
    found = lsq_linear(lower.T, right, (factor * LEAST / scale, factor * LARGEST / scale), tol=1e-8)
    factors: Vec = found.x * scale
    return factors


def _roots(points: CubaturePoints, modes: Vec) -> Vec:
    """R of each point, (c, 9, q): w δF_i : ∂P/∂F : δF_k = R_iᵀ R_k at rest."""
    points.linearise(np.zeros((len(points.volumes), 9)), False)
    dense = np.empty((len(points.volumes), 9, 9))
    for row in range(9):
        for column in range(9):
            dense[:, row, column] = points.tangents[:, place_of(row % 3, row // 3, column % 3, column // 3)]
    values, vectors = np.linalg.eigh(dense)
    root = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
    flat = points.functions.reshape(len(dense) * 3, -1)
    bent = np.stack([(flat @ one).reshape(-1, 9) for one in modes], axis=2)
    found: Vec = root @ bent
    return found
