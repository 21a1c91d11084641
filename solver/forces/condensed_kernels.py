"""Kernels of condensed stretches: ψ', H and their condensation on positions, Aᵀ H A, of one block in the lane array.

Entries of z are in the order 11, 22, 33, 12, 13, 23. Each loop is over lanes alone and accesses slots at constant
distances of one array, so that the compiler vectorises it.
"""

from __future__ import annotations

from numba import types

from ..materials.lanes import LANES, LEFT, STRESS, TANGENT, put
from ..threads import inline, kernel
from .elastic_kernels import ELEMENT_SLOTS, MaterialKernel

# after the slots of the element loop
ALONG = ELEMENT_SLOTS  #: A = ∂z̄/∂F, 6 x 9, F column-major
BENT = ALONG + 54  #: H A, 6 x 9
HESSIAN = BENT + 54  #: H = ∂²ψ/∂z², 6 x 6
CURVED = HESSIAN + 36  #: B of `curvature_kernels`, 6
BAR = CURVED + 6  #: z̄, 6
SLOPE = BAR + 6  #: ψ', 6
GAP = SLOPE + 6  #: z̄ − z, 6
STRETCH_SLOTS = GAP + 6

TABLE = types.float64[:, :, ::1]  #: values of each tetrahedron, (b, k, LANES)
KERNELS = (MaterialKernel, MaterialKernel)


@inline
def slot_of(i, j, k, m):  # type: ignore[no-untyped-def]
    """Return the slot of ∂P_ij/∂F_km in the lane array."""
    if j == m:
        return TANGENT + 9 * j + 3 * i + k
    if j < m:
        i, j, k, m = k, m, i, j
    return TANGENT + 9 * (2 + j + m) + 3 * i + k


@inline
def six_of(work, slot, step, lane):  # type: ignore[no-untyped-def]
    """Return the six values of a lane in `slot` and every `step` slots after it."""
    at, by = slot * LANES + lane, step * LANES
    return (work[at], work[at + by], work[at + 2 * by], work[at + 3 * by], work[at + 4 * by], work[at + 5 * by])


@inline
def dot_six(a, b):  # type: ignore[no-untyped-def]
    """Return the scalar product of two vectors of six components."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@inline
def _curvature(work, lane, i, j, k, m):  # type: ignore[no-untyped-def]
    """Return H at entries (i, j) and (k, m) of z; an off-diagonal entry of z is both entries of S."""
    s = work[slot_of(i, j, k, m) * LANES + lane]
    if i != j:
        s += work[slot_of(j, i, k, m) * LANES + lane]
    if k != m:
        s += work[slot_of(i, j, m, k) * LANES + lane]
        if i != j:
            s += work[slot_of(j, i, m, k) * LANES + lane]
    return s


@inline
def _put_curvature(work, lane, entry, i, j, other, k, m):  # type: ignore[no-untyped-def]
    """Write H at two entries of z, (i, j) and (k, m), in both triangles."""
    s = _curvature(work, lane, i, j, k, m)
    work[(HESSIAN + 6 * entry + other) * LANES + lane] = s
    work[(HESSIAN + 6 * other + entry) * LANES + lane] = s


@inline
def _put_row(work, lane, entry, i, j):  # type: ignore[no-untyped-def]
    """Write ψ' at entry (i, j) of z, and H at that entry and each of 12, 13, 23."""
    s = work[(STRESS + i + 3 * j) * LANES + lane]
    if i != j:
        s += work[(STRESS + j + 3 * i) * LANES + lane]
    work[(SLOPE + entry) * LANES + lane] = s
    _put_curvature(work, lane, entry, i, j, 3, 0, 1)
    _put_curvature(work, lane, entry, i, j, 4, 0, 2)
    _put_curvature(work, lane, entry, i, j, 5, 1, 2)


@kernel("void(f8[::1])")
def curvature_of(work):  # type: ignore[no-untyped-def]
    """Write ψ' = Qᵀ vec P and H = Qᵀ (∂P/∂F) Q of the material's P and ∂P/∂F at F = S(z), where vec S = Q z.

    [MFEM 6]
    """
    # one loop with constant slots: without aliasing the compiler vectorises it
    for lane in range(LANES):
        _put_row(work, lane, 0, 0, 0)
        _put_row(work, lane, 1, 1, 1)
        _put_row(work, lane, 2, 2, 2)
        _put_row(work, lane, 3, 0, 1)
        _put_row(work, lane, 4, 0, 2)
        _put_row(work, lane, 5, 1, 2)
        _put_curvature(work, lane, 0, 0, 0, 0, 0, 0)
        _put_curvature(work, lane, 0, 0, 0, 1, 1, 1)
        _put_curvature(work, lane, 0, 0, 0, 2, 2, 2)
        _put_curvature(work, lane, 1, 1, 1, 1, 1, 1)
        _put_curvature(work, lane, 1, 1, 1, 2, 2, 2)
        _put_curvature(work, lane, 2, 2, 2, 2, 2, 2)


@kernel(types.void(types.float64[::1], TABLE, TABLE, types.int64))
def second_order(work, slope, hessian, block):  # type: ignore[no-untyped-def]
    """Write ψ' and H of one block into the tables slope (b, 6, LANES) and hessian (b, 36, LANES) and into the lane
    array."""
    curvature_of(work)
    for entry in range(6):
        for lane in range(LANES):
            slope[block, entry, lane] = work[(SLOPE + entry) * LANES + lane]
    for entry in range(36):
        for lane in range(LANES):
            hessian[block, entry, lane] = work[(HESSIAN + entry) * LANES + lane]


@kernel("void(f8[::1])")
def tangent_of(work):  # type: ignore[no-untyped-def]
    """Write Aᵀ H A in place of the material's ∂P/∂F in the lane array. [MFEM 6]"""
    for column in range(9):
        out = (BENT + column) * LANES
        for lane in range(LANES):
            a = six_of(work, ALONG + column, 9, lane)
            work[out + lane] = dot_six(six_of(work, HESSIAN, 1, lane), a)
            work[out + 9 * LANES + lane] = dot_six(six_of(work, HESSIAN + 6, 1, lane), a)
            work[out + 18 * LANES + lane] = dot_six(six_of(work, HESSIAN + 12, 1, lane), a)
            work[out + 27 * LANES + lane] = dot_six(six_of(work, HESSIAN + 18, 1, lane), a)
            work[out + 36 * LANES + lane] = dot_six(six_of(work, HESSIAN + 24, 1, lane), a)
            work[out + 45 * LANES + lane] = dot_six(six_of(work, HESSIAN + 30, 1, lane), a)
    for j in range(3):
        for m in range(j + 1):
            for lane in range(LANES):
                p, q = six_of(work, BENT + 3 * m, 9, lane), six_of(work, BENT + 3 * m + 1, 9, lane)
                r = six_of(work, BENT + 3 * m + 2, 9, lane)
                a = six_of(work, ALONG + 3 * j, 9, lane)
                b, c = six_of(work, ALONG + 3 * j + 1, 9, lane), six_of(work, ALONG + 3 * j + 2, 9, lane)
                put(work, slot_of(0, j, 0, m), lane, (dot_six(a, p), dot_six(a, q), dot_six(a, r)))
                put(work, slot_of(1, j, 0, m), lane, (dot_six(b, p), dot_six(b, q), dot_six(b, r)))
                put(work, slot_of(2, j, 0, m), lane, (dot_six(c, p), dot_six(c, q), dot_six(c, r)))


@kernel("void(f8[::1])")
def stress_of_gap(work):  # type: ignore[no-untyped-def]
    """Write P = Aᵀ λ in place of the material's P, and λ in place of U, in the lane array.

    λ = ψ' + H (z̄ − z) are the multipliers of the linearised system without a displacement of the nodes. [MFEM 6]
    """
    for lane in range(LANES):
        gap = six_of(work, GAP, 1, lane)
        slope = six_of(work, SLOPE, 1, lane)
        work[LEFT * LANES + lane] = slope[0] + dot_six(six_of(work, HESSIAN, 1, lane), gap)
        work[(LEFT + 1) * LANES + lane] = slope[1] + dot_six(six_of(work, HESSIAN + 6, 1, lane), gap)
        work[(LEFT + 2) * LANES + lane] = slope[2] + dot_six(six_of(work, HESSIAN + 12, 1, lane), gap)
        work[(LEFT + 3) * LANES + lane] = slope[3] + dot_six(six_of(work, HESSIAN + 18, 1, lane), gap)
        work[(LEFT + 4) * LANES + lane] = slope[4] + dot_six(six_of(work, HESSIAN + 24, 1, lane), gap)
        work[(LEFT + 5) * LANES + lane] = slope[5] + dot_six(six_of(work, HESSIAN + 30, 1, lane), gap)
    for column in range(9):
        for lane in range(LANES):
            work[(STRESS + column) * LANES + lane] = dot_six(six_of(work, ALONG + column, 9, lane),
                                                             six_of(work, LEFT, 1, lane))
