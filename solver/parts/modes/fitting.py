"""Fitting of the volumes of cubature points, so that a subspace is as stiff near rest as with all elements."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

from ...state import Vec
from .point_kernels import entry_of
from .points import CubaturePoints

SLOW = 16  #: modes whose stiffness counts most; that of the k-th counts by SLOW/(SLOW + k)
LOOSE = 1.0e-3  #: how much volumes resist, against all equations
SLICE = 32  #: points whose products are made at once
NOTHING = 1.0e-12  #: of a point's largest stiffness, that is rounding
LEAST, LARGEST = 0.05, 20.0  #: of a point's volume, once all are scaled by one factor


def compute_sampled_frequencies(points: CubaturePoints, modes: Vec, count: int) -> Vec:
    """Return the lowest frequencies with the stiffness of the points [Hz], (count,); zeros where they leave a motion
    without stiffness.

    modes: (q, p, 3), all of the subspace, orthonormal in the stiffness of all elements: in these modes the stiffness of
    the points is near the identity, whatever the ratio of stiffness between parts.
    """
    flat = modes.reshape(len(modes), -1)
    roots = _roots(points, modes).reshape(-1, len(modes))
    stiffness = roots.T @ roots
    values = np.linalg.eigvalsh(stiffness)
    if values[0] <= 1.0e-10 * values[-1]:
        return np.zeros(count)
    lower = np.linalg.cholesky(stiffness)
    half = np.linalg.solve(lower, flat)
    slowest = np.linalg.eigvalsh(half @ half.T)[::-1][:count]
    hertz: Vec = 1.0 / np.sqrt(slowest) / (2.0 * np.pi)
    return hertz


def fit_volumes(points: CubaturePoints, modes: Vec) -> Vec:
    """Return factors of the points' volumes, (c,), with which Σ w K_c is nearest to the stiffness of all elements.

    modes: (q, p, 3), all of the subspace, orthonormal in that stiffness, slow ones first. Errors are measured in these
    modes, with the largest weights for slow ones, and are balanced against the deviation of the factors from a common
    one.
    """
    weights = np.sqrt(SLOW / (SLOW + np.arange(len(modes))))
    roots = _roots(points, modes)[: points.count] * weights
    count, rank, q = roots.shape
    factor = 1.0 / float((_roots(points, modes[:1]) ** 2).sum())  #: by which the slowest mode is too soft
    # ⟨K_c, K_d⟩ = |R_c R_dᵀ|², K_c = R_cᵀ R_c; in slices, as all products at once take much memory
    flat = roots.reshape(count * rank, q)
    gram = np.empty((count, count))
    for c in range(0, count, SLICE):
        stop = min(c + SLICE, count)
        products = (flat[c * rank :] @ flat[c * rank : stop * rank].T).reshape(count - c, rank, stop - c, rank)
        gram[c:, c:stop] = np.einsum("drcs,drcs->dc", products, products)
        gram[c:stop, c:] = gram[c:, c:stop].T
    target = np.einsum("crq,crq,q->c", roots, roots, weights**2)
    fraction = points.volumes[: points.count] / points.volumes.sum()
    resist = LOOSE * float((weights**4).sum()) * fraction / factor**2
    matrix = gram + np.diag(resist)
    scale = 1.0 / np.sqrt(np.diag(matrix))
    lower = np.linalg.cholesky(scale[:, None] * matrix * scale + 1e-12 * np.eye(count))
    rhs = np.linalg.solve(lower, scale * (target + resist * factor))
    fit = lsq_linear(lower.T, rhs, (factor * LEAST / scale, factor * LARGEST / scale), tol=1e-8)
    factors: Vec = fit.x * scale
    return factors


def _roots(points: CubaturePoints, modes: Vec) -> Vec:
    """Return R of each point, (c, r, q): w δF_i : ∂P/∂F : δF_k = R_iᵀ R_k at rest. r is 6, or 9 where rotation has
    stiffness."""
    points.linearise(np.zeros((len(points.volumes), 9)), False)
    dense = np.empty((len(points.volumes), 9, 9))
    for row in range(9):
        for column in range(9):
            dense[:, row, column] = points.tangents[:, entry_of(row % 3, row // 3, column % 3, column // 3)]
    values, vectors = np.linalg.eigh(dense)
    own = np.flatnonzero((values > NOTHING * values[:, -1:]).any(axis=0))
    root = np.sqrt(np.maximum(values[:, own], 0.0))[:, :, None] * vectors[:, :, own].transpose(0, 2, 1)
    flat = points.functions.reshape(len(dense) * 3, -1)
    bent = np.ascontiguousarray((flat @ modes.transpose(1, 0, 2).reshape(flat.shape[1], -1))
                                .reshape(len(dense), 3, len(modes), 3).transpose(0, 1, 3, 2)).reshape(-1, 9, len(modes))
    rooted: Vec = root @ bent
    return rooted
