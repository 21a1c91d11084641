"""Dense Cholesky factor of a time-dependent matrix and its rate, block by block: a reference for measurements."""

from __future__ import annotations

import numpy as np

from ...state import Vec


def dchol(a: Vec, rate: Vec, sizes: list[int]) -> tuple[Vec, Vec]:
    """Return L and L̇ with L Lᵀ = A and L̇ Lᵀ + L L̇ᵀ = Ȧ, dense, both (m, m).

    a: A, (m, m), symmetric positive definite. rate: Ȧ, (m, m), symmetric. sizes: of the diagonal blocks, whose sum is
    m. Raises numpy.linalg.LinAlgError where A is not positive definite. [Thesis C.1 dchol]
    """
    lower, moving = np.tril(a), np.tril(rate)
    begin = 0
    for size in sizes:
        own, below = slice(begin, begin + size), slice(begin + size, len(a))
        # subtract the contribution of the columns before
        for row in (own, below):
            lower[row, own] -= lower[row, :begin] @ lower[own, :begin].T
            moving[row, own] -= moving[row, :begin] @ lower[own, :begin].T + lower[row, :begin] @ moving[own, :begin].T
        pivot = np.linalg.cholesky(_symmetric(lower[own, own]))
        turning = pivot @ _half(_between(pivot, _symmetric(moving[own, own])))
        lower[own, own], moving[own, own] = pivot, turning
        # rows below: L_i = C L_j⁻ᵀ and its rate
        lower[below, own] = np.linalg.solve(pivot, lower[below, own].T).T
        moving[below, own] = np.linalg.solve(pivot, (moving[below, own] - lower[below, own] @ turning.T).T).T
        begin += size
    return lower, moving


def _symmetric(lower: Vec) -> Vec:
    full: Vec = np.tril(lower) + np.tril(lower, -1).T
    return full


def _between(pivot: Vec, rate: Vec) -> Vec:
    """Return L⁻¹ Ȧ L⁻ᵀ."""
    out: Vec = np.linalg.solve(pivot, np.linalg.solve(pivot, rate).T)
    return out


def _half(symmetric: Vec) -> Vec:
    """Return Φ of a symmetric matrix: the lower triangle with half the diagonal."""
    out: Vec = np.tril(symmetric, -1) + np.diag(0.5 * np.diag(symmetric))
    return out
