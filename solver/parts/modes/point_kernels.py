"""The loop over cubature points: sixteen a time, from deformation gradients to stress and its slope, weighted.

With F = R S, z̄ = vec S at positions and z what an iteration has of it, both in the order 11, 22, 33, 12, 13, 23.
ψ(z) is the material's energy at F = S(z), since it does not see R; λ = D μ are the multipliers of z = z̄.
"""

from __future__ import annotations

from numba import types

from ...forces.elastic_kernels import MaterialKernel
from ...materials.algebra import decompose
from ...materials.lanes import (
    CONSTANT,
    ENERGY,
    GRADIENT,
    LANES,
    LEFT,
    MATERIAL_KERNEL,
    MATERIAL_SLOTS,
    STRESS,
    TANGENT,
    put,
)
from ...threads import inlined, kernel

#: of the largest singular value: two that are opposite have no one R, and what turns between them has no stretch
FLOOR = 0.1
TINY = 1.0e-300

# what a point keeps behind the slots of its material, which writes over its own
TURNS = MATERIAL_SLOTS  #: U, V and σ of F, 21 slots
WEIGHTS = TURNS + 21  #: of Ŝ = Vᵀ dS V in dS, 6 x 6
CHANGES = WEIGHTS + 36  #: of dF in Ŝ, 6 x 9
ALONG = CHANGES + 54  #: A = ∂z̄/∂F, 6 x 9, F column-major
BENT = ALONG + 54  #: H A, 6 x 9
HESSIAN = BENT + 54  #: H = ∂²ψ/∂z², 6 x 6
POINT_SLOTS = HESSIAN + 36

TABLE = types.float64[:, :, ::1]  #: values of each point in lanes, (b, k, LANES)
ROWS = types.float64[:, ::1]  #: values of each point in a row, (16 b, k)
KERNELS = (MaterialKernel, MaterialKernel)


@kernel(MATERIAL_KERNEL)
def nothing(work, project):  # type: ignore[no-untyped-def]
    """What fibers add where there are none."""
    return


@inlined
def _pair(entry):  # type: ignore[no-untyped-def]
    """Row and column of an entry of z."""
    if entry < 3:
        return entry, entry
    return (0 if entry < 5 else 1), (1 if entry == 3 else 2)


@inlined
def _slot(i, j, k, m):  # type: ignore[no-untyped-def]
    """Where ∂P_ij/∂F_km stands."""
    if j == m:
        return TANGENT + 9 * j + 3 * i + k
    if j < m:
        i, j, k, m = k, m, i, j
    return TANGENT + 9 * (2 + j + m) + 3 * i + k


def place_of(i: int, j: int, k: int, m: int) -> int:
    """Column of ∂P_ij/∂F_km among the 54 of a point's row of `tangents`."""
    if j < m:
        i, j, k, m = k, m, i, j
    return (9 * j if j == m else 9 * (2 + j + m)) + 3 * i + k


@kernel(types.void(types.float64[::1], ROWS, types.int64))
def load_gradients(work, gradients, block):  # type: ignore[no-untyped-def]
    """F = 1 + ∂u/∂X of one block into the lane array, and nothing yet of what materials add to."""
    for slot in range(9):
        one = 1.0 if slot % 4 == 0 else 0.0
        for lane in range(LANES):
            work[(GRADIENT + slot) * LANES + lane] = one + gradients[block * LANES + lane, slot]
    for slot in range(ENERGY, TANGENT + 54):
        for lane in range(LANES):
            work[slot * LANES + lane] = 0.0


@kernel(types.void(types.float64[::1], TABLE, types.int64))
def load_constants(work, constants, block):  # type: ignore[no-untyped-def]
    """Constants of a material at one block."""
    for slot in range(constants.shape[1]):
        for lane in range(LANES):
            work[(CONSTANT + slot) * LANES + lane] = constants[block, slot, lane]


@kernel("void(f8[::1], i8, i8, i8)")
def _multiply(work, out, left, right):  # type: ignore[no-untyped-def]
    """Product of a 6 x 6 and a 6 x 9 in these slots."""
    for row in range(6):
        for column in range(9):
            o = (out + 9 * row + column) * LANES
            for lane in range(LANES):
                work[o + lane] = 0.0
            for k in range(6):
                a, b = (left + 6 * row + k) * LANES, (right + 9 * k + column) * LANES
                for lane in range(LANES):
                    work[o + lane] += work[a + lane] * work[b + lane]


@kernel("void(f8[::1])")
def follow_turns(work):  # type: ignore[no-untyped-def]
    """A = ∂z̄/∂F: Ŝ_ij = (σ_i G_ij + σ_j G_ji)/(σ_i + σ_j), G = Uᵀ dF V. [MFEM 6]"""
    for slot in range(21):
        for lane in range(LANES):
            work[(TURNS + slot) * LANES + lane] = work[(LEFT + slot) * LANES + lane]
    for entry in range(6):
        i, j = _pair(entry)
        for other in range(6):
            p, q = _pair(other)
            for lane in range(LANES):
                v = (TURNS + 9) * LANES + lane
                w = work[v + (3 * i + p) * LANES] * work[v + (3 * j + q) * LANES]
                if i != j:
                    w += work[v + (3 * j + p) * LANES] * work[v + (3 * i + q) * LANES]
                work[(WEIGHTS + 6 * other + entry) * LANES + lane] = w
        for column in range(9):
            k, m = column % 3, column // 3
            for lane in range(LANES):
                u, v = TURNS * LANES + lane, (TURNS + 9) * LANES + lane
                g = work[u + (3 * i + k) * LANES] * work[v + (3 * j + m) * LANES]
                if i != j:
                    s, t = work[(TURNS + 18 + i) * LANES + lane], work[(TURNS + 18 + j) * LANES + lane]
                    h = work[u + (3 * j + k) * LANES] * work[v + (3 * i + m) * LANES]
                    floor = FLOOR * work[(TURNS + 18) * LANES + lane]
                    g = (s * g + t * h) / max(s + t, max(floor, TINY))
                work[(CHANGES + 9 * entry + column) * LANES + lane] = g
    _multiply(work, ALONG, WEIGHTS, CHANGES)


@kernel(types.void(types.float64[::1], TABLE, types.int64))
def _stretches(work, out, block):  # type: ignore[no-untyped-def]
    """z̄ = vec V Σ Vᵀ of one block into a table."""
    for entry in range(6):
        p, q = _pair(entry)
        for lane in range(LANES):
            v, s = (TURNS + 9) * LANES + lane, (TURNS + 18) * LANES + lane
            total = 0.0
            for i in range(3):
                total += work[s + i * LANES] * work[v + (3 * i + p) * LANES] * work[v + (3 * i + q) * LANES]
            out[block, entry, lane] = total


@inlined
def _load_stretch(work, lane, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """S of six stretches as F."""
    put(work, GRADIENT, lane, (a, d, e))
    put(work, GRADIENT + 3, lane, (d, b, f))
    put(work, GRADIENT + 6, lane, (e, f, c))


@kernel(types.void(types.float64[::1], TABLE, TABLE, types.int64))
def _second_order(work, slope, hessian, block):  # type: ignore[no-untyped-def]
    """ψ' = Qᵀ vec P and H = Qᵀ (∂P/∂F) Q of what the material says at F = S(z), Q from z to S. [MFEM 5]"""
    for entry in range(6):
        i, j = _pair(entry)
        for lane in range(LANES):
            s = work[(STRESS + i + 3 * j) * LANES + lane]
            if i != j:
                s += work[(STRESS + j + 3 * i) * LANES + lane]
            slope[block, entry, lane] = s
        for other in range(6):
            k, m = _pair(other)
            for lane in range(LANES):
                s = work[_slot(i, j, k, m) * LANES + lane]
                if i != j:
                    s += work[_slot(j, i, k, m) * LANES + lane]
                if k != m:
                    s += work[_slot(i, j, m, k) * LANES + lane]
                    if i != j:
                        s += work[_slot(j, i, m, k) * LANES + lane]
                work[(HESSIAN + 6 * entry + other) * LANES + lane] = s
                hessian[block, 6 * entry + other, lane] = s


@kernel("void(f8[::1])")
def _tangent_of(work):  # type: ignore[no-untyped-def]
    """Aᵀ H A in place of the material's ∂P/∂F. [MFEM 6]"""
    _multiply(work, BENT, HESSIAN, ALONG)
    for j in range(3):
        for m in range(j + 1):
            for i in range(3):
                for k in range(3):
                    out = _slot(i, j, k, m) * LANES
                    for lane in range(LANES):
                        work[out + lane] = 0.0
                    for entry in range(6):
                        a, b = (ALONG + 9 * entry + i + 3 * j) * LANES, (BENT + 9 * entry + k + 3 * m) * LANES
                        for lane in range(LANES):
                            work[out + lane] += work[a + lane] * work[b + lane]


@kernel(types.void(types.float64[::1], types.float64[::1], ROWS, ROWS, types.int64))
def _store(work, volumes, stresses, tangents, block):  # type: ignore[no-untyped-def]
    """P and ∂P/∂F times the points' volumes into rows."""
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
    """w P (16 b, 9) and w ∂P/∂F (16 b, 54), positive semi-definite, of materials at F = 1 + gradients (16 b, 9)."""
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
    """w ψ (16 b,) [J] of materials at F = 1 + gradients."""
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


@kernel(types.void(*BODY, *KERNELS, *KERNELS, ROWS, TABLE, TABLE, TABLE, TABLE, TABLE, ROWS, ROWS))
def linearise_mixed(  # type: ignore[no-untyped-def]
    start, stop, gradients, volumes, constants, fibers, stress, tangent, fiber_stress, fiber_tangent, works,
    z, z_bar, slope, hessian, along, stresses, tangents,
):
    """w Aᵀ [ψ' + H (z̄ − z)] and w Aᵀ H A, H positive semi-definite, at F = 1 + gradients and stretches z.

    z: (b, 6, LANES), set to z̄ where it is no stretch of a point that is right side out. Writes z̄, ψ', H (b, 36, LANES)
    and A (b, 54, LANES). [MFEM 6]
    """
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_gradients(work, gradients, block)
            decompose(work)
            follow_turns(work)
            _stretches(work, z_bar, block)
            for slot in range(54):
                for lane in range(LANES):
                    along[block, slot, lane] = work[(ALONG + slot) * LANES + lane]
            for lane in range(LANES):
                a, b, c = z[block, 0, lane], z[block, 1, lane], z[block, 2, lane]
                d, e, f = z[block, 3, lane], z[block, 4, lane], z[block, 5, lane]
                second = a * b - d * d
                third = c * second - a * f * f - b * e * e + 2.0 * d * e * f
                if not (a > 0.0 and second > 0.0 and third > 0.0):
                    for entry in range(6):
                        z[block, entry, lane] = z_bar[block, entry, lane]
                _load_stretch(work, lane, z[block, 0, lane], z[block, 1, lane], z[block, 2, lane], z[block, 3, lane],
                              z[block, 4, lane], z[block, 5, lane])
            load_constants(work, constants, block)
            stress(work, True)
            tangent(work, True)
            load_constants(work, fibers, block)
            fiber_stress(work, True)
            fiber_tangent(work, True)
            _second_order(work, slope, hessian, block)
            # λ as it would be if positions stayed, in the first slots that are free again
            for entry in range(6):
                for lane in range(LANES):
                    work[(WEIGHTS + entry) * LANES + lane] = slope[block, entry, lane]
                for other in range(6):
                    for lane in range(LANES):
                        work[(WEIGHTS + entry) * LANES + lane] += work[
                            (HESSIAN + 6 * entry + other) * LANES + lane] * (
                            z_bar[block, other, lane] - z[block, other, lane])
            for column in range(9):
                p = (STRESS + column) * LANES
                for lane in range(LANES):
                    work[p + lane] = 0.0
                for entry in range(6):
                    a = (ALONG + 9 * entry + column) * LANES
                    for lane in range(LANES):
                        work[p + lane] += work[a + lane] * work[(WEIGHTS + entry) * LANES + lane]
            _tangent_of(work)
            _store(work, volumes, stresses, tangents, block)


@kernel(types.void(types.int64, types.int64, ROWS, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, types.int64,
                   types.float64[::1], types.float64[::1]))
def lead(  # type: ignore[no-untyped-def]
    start, stop, moved, z, z_bar, slope, hessian, along, change, multipliers, chunks, volumes, bent,
):
    """dz = z̄ − z + A J δy and λ = ψ' + H dz of a change of gradients `moved`, (16 b, 9). [MFEM 7] [MFEM 8]

    bent: w (dzᵀ H dz − aᵀ H a) with a = A J δy, (16 b,) [J]: what the Lagrangian falls faster than positions tell.
    """
    count = z.shape[0]
    for chunk in range(start, stop):
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            for entry in range(6):
                for lane in range(LANES):
                    change[block, entry, lane] = z_bar[block, entry, lane] - z[block, entry, lane]
                for column in range(9):
                    for lane in range(LANES):
                        change[block, entry, lane] += (
                            along[block, 9 * entry + column, lane] * moved[block * LANES + lane, column])
            for entry in range(6):
                for lane in range(LANES):
                    multipliers[block, entry, lane] = slope[block, entry, lane]
                for other in range(6):
                    for lane in range(LANES):
                        multipliers[block, entry, lane] += (
                            hessian[block, 6 * entry + other, lane] * change[block, other, lane])
            # dzᵀ H dz − aᵀ H a = (dz − a)ᵀ H (dz + a) = gᵀ H (2 dz − g), g = z̄ − z
            for lane in range(LANES):
                bent[block * LANES + lane] = 0.0
            for entry in range(6):
                for other in range(6):
                    for lane in range(LANES):
                        gap = z_bar[block, entry, lane] - z[block, entry, lane]
                        far = z_bar[block, other, lane] - z[block, other, lane]
                        bent[block * LANES + lane] += (
                            gap * hessian[block, 6 * entry + other, lane] * (2.0 * change[block, other, lane] - far))
            for lane in range(LANES):
                bent[block * LANES + lane] *= volumes[block * LANES + lane]


@kernel(types.void(*BODY, MaterialKernel, MaterialKernel, ROWS, TABLE, TABLE, types.float64, TABLE,
                   types.float64[::1]))
def measure_mixed(  # type: ignore[no-untyped-def]
    start, stop, gradients, volumes, constants, fibers, energy, fiber_energy, works, z, change, share, multipliers,
    energies,
):
    """w (ψ(z) + λᵀ (z̄ − z)) at z + share dz, (16 b,) [J]. [MFEM 4]"""
    chunks, count = works.shape[0], constants.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_gradients(work, gradients, block)
            decompose(work)
            for slot in range(21):
                for lane in range(LANES):
                    work[(TURNS + slot) * LANES + lane] = work[(LEFT + slot) * LANES + lane]
            for lane in range(LANES):
                _load_stretch(work, lane, z[block, 0, lane] + share * change[block, 0, lane],
                              z[block, 1, lane] + share * change[block, 1, lane],
                              z[block, 2, lane] + share * change[block, 2, lane],
                              z[block, 3, lane] + share * change[block, 3, lane],
                              z[block, 4, lane] + share * change[block, 4, lane],
                              z[block, 5, lane] + share * change[block, 5, lane])
            load_constants(work, constants, block)
            energy(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            for entry in range(6):
                p, q = _pair(entry)
                for lane in range(LANES):
                    v, s = (TURNS + 9) * LANES + lane, (TURNS + 18) * LANES + lane
                    gap = -z[block, entry, lane] - share * change[block, entry, lane]
                    for i in range(3):
                        gap += work[s + i * LANES] * work[v + (3 * i + p) * LANES] * work[v + (3 * i + q) * LANES]
                    work[ENERGY * LANES + lane] += multipliers[block, entry, lane] * gap
            for lane in range(LANES):
                energies[block * LANES + lane] = volumes[block * LANES + lane] * work[ENERGY * LANES + lane]


@kernel(types.void(types.int64, types.int64, ROWS, types.float64[:, :, ::1], types.float64[:, :, ::1], types.int64))
def spread(start, stop, tangents, functions, out, first):  # type: ignore[no-untyped-def]
    """∂P/∂F times gradients of functions: T[3 (c − first) + j, pair, q] = Σ_m ∂P_ij/∂F_km ∂Φ_q/∂X_m.

    functions: ∂Φ/∂X, (16 b, 3, p). out: (3 s, 6, p), axes (i, k) = 00, 10, 11, 20, 21, 22.
    """
    for point in range(start, stop):
        for pair in range(6):
            i = 0 if pair == 0 else (1 if pair < 3 else 2)
            k = pair - (0 if i == 0 else (1 if i == 1 else 3))
            for j in range(3):
                a = tangents[point, _slot(i, j, k, 0) - TANGENT]
                b = tangents[point, _slot(i, j, k, 1) - TANGENT]
                c = tangents[point, _slot(i, j, k, 2) - TANGENT]
                row = 3 * (point - first) + j
                for q in range(functions.shape[2]):
                    out[row, pair, q] = a * functions[point, 0, q] + b * functions[point, 1, q] + (
                        c * functions[point, 2, q])


@kernel(types.void(ROWS, ROWS, types.float64, ROWS, ROWS, types.float64[::1]))
def add_damping(tangents, changes, rate, stresses, out, energy):  # type: ignore[no-untyped-def]
    """Add rate C : δF to w P, rate C to w ∂P/∂F `out`, and ½ rate δF : C : δF to the energy [J], (1,).

    tangents: C of where the step started, (16 b, 54), weighted. changes: δF since the stage's base, (16 b, 9).
    """
    total = 0.0
    for point in range(tangents.shape[0]):
        for i in range(3):
            for j in range(3):
                s = 0.0
                for k in range(3):
                    for m in range(3):
                        s += tangents[point, _slot(i, j, k, m) - TANGENT] * changes[point, k + 3 * m]
                total += changes[point, i + 3 * j] * s
                if stresses.shape[0]:
                    stresses[point, i + 3 * j] += rate * s
        if out.shape[0]:
            for column in range(54):
                out[point, column] += rate * tangents[point, column]
    energy[0] = 0.5 * rate * total
