"""Curvature of the constraint z̄ = z of mixed finite elements: rotational stiffness of its multipliers.

The Lagrangian has λᵀ z̄(F). With F = U Σ Vᵀ, Λ the symmetric matrix of λ, N = Vᵀ Λ V, B = V [2 N_ij/(σ_i + σ_j)] Vᵀ and
dS = A dF, its second derivative along dF is tr(dF B dFᵀ) − tr(dS B dS), from S S = FᵀF differentiated twice.
"""

from __future__ import annotations

from numba import types

from ..materials.algebra import dot
from ..materials.lanes import LANES
from ..threads import inline, kernel
from .condensed_kernels import CURVED, HESSIAN, TABLE, slot_of
from .in_stretches_kernels import columns_of, frames_of, stretch_of


@inline
def _over_sums(frames, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Return the six entries of B of λ = (a, …, f), whose last three are twice entries of Λ."""
    _, v, sigma, floor = frames
    p, q, r = columns_of(v, a, b, c, d, e, f)
    s, t, w = sigma
    diagonal = (2.0 * dot(v[0], p) / max(2.0 * s, floor), 2.0 * dot(v[1], q) / max(2.0 * t, floor),
                2.0 * dot(v[2], r) / max(2.0 * w, floor))
    return stretch_of(v, diagonal, (2.0 * dot(v[0], q) / max(s + t, floor), 2.0 * dot(v[0], r) / max(s + w, floor),
                                    2.0 * dot(v[1], r) / max(t + w, floor)))


@kernel(types.void(types.float64[::1], TABLE, types.int64))
def curve(work, multipliers, block):  # type: ignore[no-untyped-def]
    """Write B of one block into the lane array, where `decompose` has left U, σ and V of F. multipliers: (b, 6,
    LANES)."""
    for lane in range(LANES):
        entries = _over_sums(frames_of(work, lane), multipliers[block, 0, lane], multipliers[block, 1, lane],
                           multipliers[block, 2, lane], multipliers[block, 3, lane], multipliers[block, 4, lane],
                           multipliers[block, 5, lane])
        work[CURVED * LANES + lane], work[(CURVED + 1) * LANES + lane] = entries[0], entries[1]
        work[(CURVED + 2) * LANES + lane], work[(CURVED + 3) * LANES + lane] = entries[2], entries[3]
        work[(CURVED + 4) * LANES + lane], work[(CURVED + 5) * LANES + lane] = entries[4], entries[5]


@inline
def _take(work, lane, entry, other, value):  # type: ignore[no-untyped-def]
    """Subtract a value from an entry of the symmetric Hessian in the lane array."""
    work[(HESSIAN + 6 * entry + other) * LANES + lane] -= value
    if entry != other:
        work[(HESSIAN + 6 * other + entry) * LANES + lane] -= value


@kernel(types.void(types.float64[::1]))
def take_stretching(work):  # type: ignore[no-untyped-def]
    """Subtract tr(dS B dS) from the Hessian H in the lane array, whose entries are in the order of z."""
    for lane in range(LANES):
        at = CURVED * LANES + lane
        a, b, c = work[at], work[at + LANES], work[at + 2 * LANES]
        d, e, f = work[at + 3 * LANES], work[at + 4 * LANES], work[at + 5 * LANES]
        _take(work, lane, 0, 0, a)
        _take(work, lane, 1, 1, b)
        _take(work, lane, 2, 2, c)
        _take(work, lane, 3, 3, a + b)
        _take(work, lane, 4, 4, a + c)
        _take(work, lane, 5, 5, b + c)
        _take(work, lane, 0, 3, d)
        _take(work, lane, 1, 3, d)
        _take(work, lane, 4, 5, d)
        _take(work, lane, 0, 4, e)
        _take(work, lane, 2, 4, e)
        _take(work, lane, 3, 5, e)
        _take(work, lane, 1, 5, f)
        _take(work, lane, 2, 5, f)
        _take(work, lane, 3, 4, f)


@kernel(types.void(types.float64[::1]))
def add_rotation(work):  # type: ignore[no-untyped-def]
    """Add tr(dF B dFᵀ) to ∂P/∂F in the lane array."""
    for j in range(3):
        for m in range(j + 1):
            # of the six: 11, 22, 33, 12, 13, 23
            entry = CURVED + (j if j == m else 2 + j + m)
            for i in range(3):
                for lane in range(LANES):
                    work[slot_of(i, j, i, m) * LANES + lane] += work[entry * LANES + lane]
