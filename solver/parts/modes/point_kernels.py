"""Kernels over cubature points, sixteen at a time, from deformation gradients to weighted stress and its derivative.

With F = R S, z̄ = vec S at positions and z its value in an iteration, both in the order 11, 22, 33, 12, 13, 23. ψ(z) is
the material's energy at F = S(z), since it does not depend on R; λ = D μ are the multipliers of z = z̄.
"""

from __future__ import annotations

from numba import types

from ...forces.condensed_kernels import (
    ALONG,
    BAR,
    GAP,
    HESSIAN,
    KERNELS,
    SLOPE,
    STRETCH_SLOTS,
    TABLE,
    dot_six,
    second_order,
    six_of,
    slot_of,
    stress_of_gap,
    tangent_of,
)
from ...forces.curvature_kernels import add_rotation, curve, take_stretching
from ...forces.elastic_kernels import MaterialKernel
from ...forces.fiber_kernels import load_constants
from ...forces.in_stretches_kernels import begin_stretch, frames_of, load_stretch, stretch_along, stretch_of
from ...materials.algebra import decompose
from ...materials.lanes import ENERGY, GRADIENT, LANES, STRESS, TANGENT
from ...threads import kernel

POINT_SLOTS = STRETCH_SLOTS
ROWS = types.float64[:, ::1]  #: values of each point in a row, (16 b, k)


def entry_of(i: int, j: int, k: int, m: int) -> int:
    """Return the column of ∂P_ij/∂F_km among the 54 of a point's row of `tangents`."""
    if j < m:
        i, j, k, m = k, m, i, j
    return (9 * j if j == m else 9 * (2 + j + m)) + 3 * i + k


@kernel(types.void(types.float64[::1], ROWS, types.int64))
def load_gradients(work, gradients, block):  # type: ignore[no-untyped-def]
    """Write F = 1 + ∂u/∂X of one block into the lane array, and zero into the results of materials."""
    for slot in range(9):
        one = 1.0 if slot % 4 == 0 else 0.0
        for lane in range(LANES):
            work[(GRADIENT + slot) * LANES + lane] = one + gradients[block * LANES + lane, slot]
    for slot in range(ENERGY, TANGENT + 54):
        for lane in range(LANES):
            work[slot * LANES + lane] = 0.0


@kernel(types.void(types.float64[::1], types.float64[::1], ROWS, ROWS, types.int64))
def _store(work, volumes, stresses, tangents, block):  # type: ignore[no-untyped-def]
    """Write P and ∂P/∂F times the points' volumes into rows of stresses and tangents."""
    for lane in range(LANES):
        point = block * LANES + lane
        w = volumes[point]
        for column in range(stresses.shape[1]):
            stresses[point, column] = w * work[(STRESS + column) * LANES + lane]
        for column in range(tangents.shape[1]):
            tangents[point, column] = w * work[(TANGENT + column) * LANES + lane]


BODY = (types.int64, types.int64, ROWS, types.float64[::1], TABLE, TABLE)


@kernel(types.void(*BODY, *KERNELS, *KERNELS, ROWS, ROWS, ROWS))
def linearise(  # type: ignore[no-untyped-def]
    start, stop, gradients, volumes, constants, fibers, stress, tangent, fiber_stress, fiber_tangent, works, stresses,
    tangents,
):
    """Write w P (16 b, 9) and w ∂P/∂F (16 b, 54), positive semi-definite, of materials at F = 1 + gradients
    (16 b, 9)."""
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_gradients(work, gradients, block)
            load_constants(work, constants, block)
            stress(work, True)
            tangent(work, True)
            load_constants(work, fibers, block)
            fiber_stress(work, True)
            fiber_tangent(work, True)
            _store(work, volumes, stresses, tangents, block)


@kernel(types.void(*BODY, MaterialKernel, MaterialKernel, ROWS, types.float64[::1]))
def measure(  # type: ignore[no-untyped-def]
    start, stop, gradients, volumes, constants, fibers, energy, fiber_energy, works, energies,
):
    """Write w ψ (16 b,) [J] of materials at F = 1 + gradients (16 b, 9)."""
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_gradients(work, gradients, block)
            load_constants(work, constants, block)
            energy(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            for lane in range(LANES):
                energies[block * LANES + lane] = volumes[block * LANES + lane] * work[ENERGY * LANES + lane]


@kernel(types.void(*BODY, *KERNELS, *KERNELS, ROWS, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, types.boolean, ROWS,
                   ROWS))
def linearise_mixed(  # type: ignore[no-untyped-def]
    start, stop, gradients, volumes, constants, fibers, stress, tangent, fiber_stress, fiber_tangent, works,
    z, z_bar, slope, hessian, along, multipliers, exact, stresses, tangents,
):
    """Write w Aᵀ [ψ' + H (z̄ − z)] and w Aᵀ H A, H positive semi-definite, at F = 1 + gradients and stretches z.

    z: (b, 6, LANES), set to z̄ where it is not the stretch of a point that is not inverted. exact: H without
    projection, plus the resistance of the multipliers λ of the last iteration (b, 6, LANES) to rotation, so that the
    matrix may be indefinite. Writes z̄, ψ', H (b, 36, LANES) and A (b, 54, LANES). [MFEM 6]
    """
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_gradients(work, gradients, block)
            decompose(work)
            stretch_along(work, z_bar, block)
            if exact:
                curve(work, multipliers, block)
            for slot in range(54):
                for lane in range(LANES):
                    along[block, slot, lane] = work[(ALONG + slot) * LANES + lane]
            begin_stretch(work, z, block)
            load_constants(work, constants, block)
            stress(work, True)
            tangent(work, not exact)
            load_constants(work, fibers, block)
            fiber_stress(work, True)
            fiber_tangent(work, not exact)
            second_order(work, slope, hessian, block)
            for entry in range(6):
                for lane in range(LANES):
                    work[(GAP + entry) * LANES + lane] = z_bar[block, entry, lane] - z[block, entry, lane]
            stress_of_gap(work)
            if exact:
                take_stretching(work)
            tangent_of(work)
            if exact:
                add_rotation(work)
            _store(work, volumes, stresses, tangents, block)


@kernel("void(f8[::1])")
def _follow(work):  # type: ignore[no-untyped-def]
    """Write dz = z̄ − z + A J δy in place of z̄, λ = ψ' + H dz in place of ψ', and dzᵀ H dz − aᵀ H a, a = A J δy."""
    for entry in range(6):
        for lane in range(LANES):
            at, moved = (ALONG + 9 * entry) * LANES + lane, GRADIENT * LANES + lane
            s = work[(GAP + entry) * LANES + lane]
            for column in range(9):
                s += work[at + column * LANES] * work[moved + column * LANES]
            work[(BAR + entry) * LANES + lane] = s
    for lane in range(LANES):
        work[ENERGY * LANES + lane] = 0.0
    for entry in range(6):
        for lane in range(LANES):
            h, dz = six_of(work, HESSIAN + 6 * entry, 1, lane), six_of(work, BAR, 1, lane)
            bent = dot_six(h, dz)
            work[(SLOPE + entry) * LANES + lane] += bent
            # (dz − a)ᵀ H (dz + a) = gᵀ H (2 dz − g), g = z̄ − z
            work[ENERGY * LANES + lane] += work[(GAP + entry) * LANES + lane] * (
                2.0 * bent - dot_six(h, six_of(work, GAP, 1, lane)))


@kernel(types.void(types.int64, types.int64, ROWS, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, ROWS,
                   types.float64[::1], types.float64[::1]))
def lead(  # type: ignore[no-untyped-def]
    start, stop, moved, z, z_bar, slope, hessian, along, change, multipliers, works, volumes, bent,
):
    """Write dz = z̄ − z + A J δy and λ = ψ' + H dz for a change of gradients `moved`, (16 b, 9). [MFEM 7] [MFEM 8]

    bent: w (dzᵀ H dz − aᵀ H a) with a = A J δy, (16 b,) [J]: the decrease of the Lagrangian in addition to that by
    positions.
    """
    chunks, count = works.shape[0], z.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            for slot in range(9):
                for lane in range(LANES):
                    work[(GRADIENT + slot) * LANES + lane] = moved[block * LANES + lane, slot]
            for slot in range(54):
                for lane in range(LANES):
                    work[(ALONG + slot) * LANES + lane] = along[block, slot, lane]
            for slot in range(36):
                for lane in range(LANES):
                    work[(HESSIAN + slot) * LANES + lane] = hessian[block, slot, lane]
            for entry in range(6):
                for lane in range(LANES):
                    work[(GAP + entry) * LANES + lane] = z_bar[block, entry, lane] - z[block, entry, lane]
                    work[(SLOPE + entry) * LANES + lane] = slope[block, entry, lane]
            _follow(work)
            for entry in range(6):
                for lane in range(LANES):
                    change[block, entry, lane] = work[(BAR + entry) * LANES + lane]
                    multipliers[block, entry, lane] = work[(SLOPE + entry) * LANES + lane]
            for lane in range(LANES):
                point = block * LANES + lane
                bent[point] = volumes[point] * work[ENERGY * LANES + lane]


@kernel(types.void(types.int64, types.int64, types.float64[::1], TABLE, TABLE, MaterialKernel, MaterialKernel, ROWS,
                   TABLE, TABLE, TABLE, types.float64[::1]))
def measure_start(  # type: ignore[no-untyped-def]
    start, stop, volumes, constants, fibers, energy, fiber_energy, works, z, z_bar, multipliers, energies,
):
    """Write w (ψ(z) + λᵀ (z̄ − z)) at the start of an iteration, with z̄ from `linearise_mixed`, (16 b,) [J].
    [MFEM 4]"""
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            for lane in range(LANES):
                total = 0.0
                for entry in range(6):
                    total += multipliers[block, entry, lane] * (z_bar[block, entry, lane] - z[block, entry, lane])
                work[ENERGY * LANES + lane] = total
                load_stretch(work, lane, z[block, 0, lane], z[block, 1, lane], z[block, 2, lane], z[block, 3, lane],
                             z[block, 4, lane], z[block, 5, lane])
            load_constants(work, constants, block)
            energy(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            for lane in range(LANES):
                energies[block * LANES + lane] = volumes[block * LANES + lane] * work[ENERGY * LANES + lane]


@kernel(types.void(*BODY, MaterialKernel, MaterialKernel, ROWS, TABLE, TABLE, types.float64, TABLE,
                   types.float64[::1]))
def measure_mixed(  # type: ignore[no-untyped-def]
    start, stop, gradients, volumes, constants, fibers, energy, fiber_energy, works, z, change, fraction, multipliers,
    energies,
):
    """Write w (ψ(z) + λᵀ (z̄ − z)) at z + fraction dz and F = 1 + gradients, (16 b,) [J]. [MFEM 4]"""
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_gradients(work, gradients, block)
            decompose(work)
            for lane in range(LANES):
                frames = frames_of(work, lane)
                a, b, c, d, e, f = stretch_of(frames[1], frames[2], (0.0, 0.0, 0.0))
                p, q, r = multipliers[block, 0, lane], multipliers[block, 1, lane], multipliers[block, 2, lane]
                s, t, w = multipliers[block, 3, lane], multipliers[block, 4, lane], multipliers[block, 5, lane]
                i = z[block, 0, lane] + fraction * change[block, 0, lane]
                j = z[block, 1, lane] + fraction * change[block, 1, lane]
                k = z[block, 2, lane] + fraction * change[block, 2, lane]
                l = z[block, 3, lane] + fraction * change[block, 3, lane]
                m = z[block, 4, lane] + fraction * change[block, 4, lane]
                n = z[block, 5, lane] + fraction * change[block, 5, lane]
                work[ENERGY * LANES + lane] = (
                    p * (a - i) + q * (b - j) + r * (c - k) + s * (d - l) + t * (e - m) + w * (f - n))
                load_stretch(work, lane, i, j, k, l, m, n)
            load_constants(work, constants, block)
            energy(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            for lane in range(LANES):
                energies[block * LANES + lane] = volumes[block * LANES + lane] * work[ENERGY * LANES + lane]


@kernel(types.void(types.int64, types.int64, ROWS, types.float64[:, :, ::1], types.float64[:, :, ::1], types.int64))
def spread(start, stop, tangents, functions, out, first):  # type: ignore[no-untyped-def]
    """Write ∂P/∂F times gradients of functions: T[3 (c − first) + j, pair, q] = Σ_m ∂P_ij/∂F_km ∂Φ_q/∂X_m.

    functions: ∂Φ/∂X, (16 b, 3, p). out: (3 s, 6, p), axes (i, k) = 00, 10, 11, 20, 21, 22.
    """
    for point in range(start, stop):
        for pair in range(6):
            i = 0 if pair == 0 else (1 if pair < 3 else 2)
            k = pair - (0 if i == 0 else (1 if i == 1 else 3))
            for j in range(3):
                a = tangents[point, slot_of(i, j, k, 0) - TANGENT]
                b = tangents[point, slot_of(i, j, k, 1) - TANGENT]
                c = tangents[point, slot_of(i, j, k, 2) - TANGENT]
                row = 3 * (point - first) + j
                for q in range(functions.shape[2]):
                    out[row, pair, q] = a * functions[point, 0, q] + b * functions[point, 1, q] + (
                        c * functions[point, 2, q])


@kernel(types.void(ROWS, ROWS, types.float64, ROWS, ROWS, types.float64[::1]))
def add_damping(tangents, changes, rate, stresses, out, energy):  # type: ignore[no-untyped-def]
    """Add rate C : δF to w P, rate C to w ∂P/∂F, `out`, and write ½ rate δF : C : δF to the energy [J], (1,).

    tangents: weighted C at the step's start, (16 b, 54). changes: δF since the stage's base, (16 b, 9).
    """
    total = 0.0
    for point in range(tangents.shape[0]):
        for i in range(3):
            for j in range(3):
                s = 0.0
                for k in range(3):
                    for m in range(3):
                        s += tangents[point, slot_of(i, j, k, m) - TANGENT] * changes[point, k + 3 * m]
                total += changes[point, i + 3 * j] * s
                if stresses.shape[0]:
                    stresses[point, i + 3 * j] += rate * s
        if out.shape[0]:
            for column in range(54):
                out[point, column] += rate * tangents[point, column]
    energy[0] = 0.5 * rate * total
