"""The element loop of mixed finite elements: stretches are unknowns, and are condensed inside of each tetrahedron.

With F = R S, z̄ = vec S at positions and z what an iteration has of it, both in the order 11, 22, 33, 12, 13, 23.
ψ(z) is the material's energy at F = S(z), since it does not see R. λ = D μ are the multipliers of z = z̄.
"""

from __future__ import annotations

from numba import types

from ..materials.algebra import decompose
from ..materials.lanes import ENERGY, GRADIENT, LANES, LEFT, MATERIAL_KERNEL, STRESS, TANGENT, put
from ..threads import inlined, kernel
from .elastic_kernels import (
    VOLUME,
    MaterialKernel,
    corner_blocks,
    corner_forces,
    load_block,
    store_blocks,
    store_forces,
)
from .energy_kernels import store_energies
from .fiber_kernels import BODY, load_constants

#: of the largest singular value: two that are opposite have no one R, and what turns between them has no stretch
FLOOR = 0.1
TINY = 1.0e-300

# where a chunk keeps what the material's kernels would write over
TURNS = 0  #: U, V and σ, 21 slots, as they stand from LEFT on
WEIGHTS = 21  #: of Ŝ = Vᵀ dS V in dS, 6 x 6
CHANGES = 57  #: of dF in Ŝ, 6 x 9
ALONG = 111  #: A = ∂z̄/∂F, 6 x 9, F column-major
BENT = 165  #: H A, 6 x 9
HESSIAN = 219  #: H = ∂²ψ/∂z², 6 x 6
ROOM = 255

TABLE = types.float64[:, :, ::1]  #: values of each tetrahedron, (b, k, LANES)
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


@kernel("void(f8[::1], i8, i8, i8)")
def multiply(room, out, left, right):  # type: ignore[no-untyped-def]
    """Product of a 6 x 6 and a 6 x 9 in these slots."""
    for row in range(6):
        for column in range(9):
            o = (out + 9 * row + column) * LANES
            for lane in range(LANES):
                room[o + lane] = 0.0
            for k in range(6):
                a, b = (left + 6 * row + k) * LANES, (right + 9 * k + column) * LANES
                for lane in range(LANES):
                    room[o + lane] += room[a + lane] * room[b + lane]


@kernel("void(f8[::1], f8[::1])")
def follow_turns(work, room):  # type: ignore[no-untyped-def]
    """A = ∂z̄/∂F where U, V and σ of F are in the lane array: Ŝ_ij = (σ_i G_ij + σ_j G_ji)/(σ_i + σ_j), G = Uᵀ dF V.
    [MFEM 6]"""
    for slot in range(21):
        for lane in range(LANES):
            room[(TURNS + slot) * LANES + lane] = work[(LEFT + slot) * LANES + lane]
    for entry in range(6):
        i, j = _pair(entry)
        for other in range(6):
            p, q = _pair(other)
            for lane in range(LANES):
                v = (TURNS + 9) * LANES + lane
                w = room[v + (3 * i + p) * LANES] * room[v + (3 * j + q) * LANES]
                if i != j:
                    w += room[v + (3 * j + p) * LANES] * room[v + (3 * i + q) * LANES]
                room[(WEIGHTS + 6 * other + entry) * LANES + lane] = w
        for column in range(9):
            k, m = column % 3, column // 3
            for lane in range(LANES):
                u, v = TURNS * LANES + lane, (TURNS + 9) * LANES + lane
                g = room[u + (3 * i + k) * LANES] * room[v + (3 * j + m) * LANES]
                if i != j:
                    s, t = room[(TURNS + 18 + i) * LANES + lane], room[(TURNS + 18 + j) * LANES + lane]
                    h = room[u + (3 * j + k) * LANES] * room[v + (3 * i + m) * LANES]
                    floor = FLOOR * room[(TURNS + 18) * LANES + lane]
                    g = (s * g + t * h) / max(s + t, max(floor, TINY))
                room[(CHANGES + 9 * entry + column) * LANES + lane] = g
    multiply(room, ALONG, WEIGHTS, CHANGES)


@inlined
def _stretches(room, out, block):  # type: ignore[no-untyped-def]
    """z̄ = vec V Σ Vᵀ of one block into a table."""
    for entry in range(6):
        p, q = _pair(entry)
        for lane in range(LANES):
            v, s = (TURNS + 9) * LANES + lane, (TURNS + 18) * LANES + lane
            total = 0.0
            for i in range(3):
                total += room[s + i * LANES] * room[v + (3 * i + p) * LANES] * room[v + (3 * i + q) * LANES]
            out[block, entry, lane] = total


@inlined
def _load_stretch(work, lane, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """S of six stretches as F."""
    put(work, GRADIENT, lane, (a, d, e))
    put(work, GRADIENT + 3, lane, (d, b, f))
    put(work, GRADIENT + 6, lane, (e, f, c))


@inlined
def _stress(work, room, multipliers, block):  # type: ignore[no-untyped-def]
    """P = Aᵀ λ."""
    for column in range(9):
        p = (STRESS + column) * LANES
        for lane in range(LANES):
            work[p + lane] = 0.0
        for entry in range(6):
            a = (ALONG + 9 * entry + column) * LANES
            for lane in range(LANES):
                work[p + lane] += room[a + lane] * multipliers[block, entry, lane]


@kernel(types.void(types.float64[::1], types.float64[::1], TABLE, TABLE, types.int64))
def second_order(work, room, slope, hessian, block):  # type: ignore[no-untyped-def]
    """ψ' = Qᵀ vec P and H = Qᵀ (∂P/∂F) Q of what the material says at F = S(z), Q from z to S. [MFEM 6]"""
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
                room[(HESSIAN + 6 * entry + other) * LANES + lane] = s
                hessian[block, 6 * entry + other, lane] = s


@kernel("void(f8[::1], f8[::1])")
def tangent_of(work, room):  # type: ignore[no-untyped-def]
    """Aᵀ H A in place of the material's ∂P/∂F. [MFEM 6]"""
    multiply(room, BENT, HESSIAN, ALONG)
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
                            work[out + lane] += room[a + lane] * room[b + lane]


@kernel(types.void(*BODY, *KERNELS, *KERNELS, types.float64[:, ::1], types.float64[:, ::1], TABLE, TABLE, TABLE,
                   TABLE, TABLE, TABLE, TABLE))
def linearise(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, fibers, stress, tangent, fiber_stress, fiber_tangent, works, rooms,
    z, z_bar, slope, hessian, multipliers, forces, blocks,
):
    """Condensed forces f̂ = −V Jᵀ Aᵀ [ψ' + H (z̄ − z)] and blocks of K̂ = −V Jᵀ Aᵀ H A J, H positive semi-definite.

    x: (n, 3) [m]. z: (b, 6, LANES), set to z̄ where it is no stretch of an element that is right side out. Writes z̄, ψ',
    H (b, 36, LANES) and λ = ψ' + H (z̄ − z), chunks start to stop. [MFEM 6]
    """
    chunks, count = works.shape[0], nodes.shape[0]
    for chunk in range(start, stop):
        work, room = works[chunk], rooms[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            follow_turns(work, room)
            _stretches(room, z_bar, block)
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
            stress(work, True)
            tangent(work, True)
            load_constants(work, fibers, block)
            fiber_stress(work, True)
            fiber_tangent(work, True)
            second_order(work, room, slope, hessian, block)
            for entry in range(6):
                for lane in range(LANES):
                    multipliers[block, entry, lane] = slope[block, entry, lane]
                for other in range(6):
                    for lane in range(LANES):
                        multipliers[block, entry, lane] += hessian[block, 6 * entry + other, lane] * (
                            z_bar[block, other, lane] - z[block, other, lane])
            _stress(work, room, multipliers, block)
            tangent_of(work, room)
            corner_forces(work)
            corner_blocks(work)
            store_forces(work, forces, block)
            store_blocks(work, blocks, block)


@kernel(types.void(types.int64, types.int64, types.float64[:, ::1], types.float64[:, ::1], *BODY[3:6],
                   types.float64[:, ::1], types.float64[:, ::1], TABLE, TABLE, TABLE, TABLE, TABLE, TABLE,
                   types.float64[::1]))
def lead(  # type: ignore[no-untyped-def]
    start, stop, x, moved, nodes, rest, constants, works, rooms, z, z_bar, slope, hessian, change, multipliers,
    energies,
):
    """Change of the stretches dz = z̄ − z + A J δx and multipliers λ = ψ' + H dz of a move δx, chunks start to stop.

    x: where `linearise` was asked, (n, 3) [m]. moved: δx, (n, 3) [m]. Writes V dzᵀ H dz as well, (16 b,) [J].
    [MFEM 7, 8]
    """
    chunks, count = works.shape[0], nodes.shape[0]
    for chunk in range(start, stop):
        work, room = works[chunk], rooms[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            follow_turns(work, room)
            load_block(work, moved, nodes, rest, constants, block)
            for entry in range(6):
                for lane in range(LANES):
                    change[block, entry, lane] = z_bar[block, entry, lane] - z[block, entry, lane]
                for column in range(9):
                    a, g = (ALONG + 9 * entry + column) * LANES, (GRADIENT + column) * LANES
                    for lane in range(LANES):
                        change[block, entry, lane] += room[a + lane] * work[g + lane]
            for entry in range(6):
                for lane in range(LANES):
                    multipliers[block, entry, lane] = slope[block, entry, lane]
                for other in range(6):
                    for lane in range(LANES):
                        multipliers[block, entry, lane] += (
                            hessian[block, 6 * entry + other, lane] * change[block, other, lane])
            for lane in range(LANES):
                bent = 0.0
                for entry in range(6):
                    bent += change[block, entry, lane] * (multipliers[block, entry, lane] - slope[block, entry, lane])
                energies[block * LANES + lane] = bent * work[VOLUME * LANES + lane]


@kernel(types.void(*BODY, *KERNELS, types.float64[:, ::1], types.float64[:, ::1], TABLE, TABLE, types.float64,
                   TABLE, TABLE, types.float64[::1]))
def measure(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, fibers, energy, fiber_energy, works, rooms, z, change, share, multipliers,
    forces, energies,
):
    """V (ψ(z) + λᵀ (z̄ − z)) at z + share dz, (16 b,) [J], and its forces −V Jᵀ Aᵀ λ, chunks start to stop. [MFEM 4]

    x: (n, 3) [m].
    """
    chunks, count = works.shape[0], nodes.shape[0]
    for chunk in range(start, stop):
        work, room = works[chunk], rooms[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            follow_turns(work, room)
            _stress(work, room, multipliers, block)
            corner_forces(work)
            store_forces(work, forces, block)
            for lane in range(LANES):
                _load_stretch(work, lane, z[block, 0, lane] + share * change[block, 0, lane],
                              z[block, 1, lane] + share * change[block, 1, lane],
                              z[block, 2, lane] + share * change[block, 2, lane],
                              z[block, 3, lane] + share * change[block, 3, lane],
                              z[block, 4, lane] + share * change[block, 4, lane],
                              z[block, 5, lane] + share * change[block, 5, lane])
            energy(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            for entry in range(6):
                p, q = _pair(entry)
                for lane in range(LANES):
                    v, s = (TURNS + 9) * LANES + lane, (TURNS + 18) * LANES + lane
                    gap = -z[block, entry, lane] - share * change[block, entry, lane]
                    for i in range(3):
                        gap += room[s + i * LANES] * room[v + (3 * i + p) * LANES] * room[v + (3 * i + q) * LANES]
                    work[ENERGY * LANES + lane] += multipliers[block, entry, lane] * gap
            store_energies(work, energies, block)
