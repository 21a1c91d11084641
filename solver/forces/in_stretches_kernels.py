"""Element loop of mixed finite elements: stretches are unknowns that are condensed within each tetrahedron.

With F = R S, z̄ is vec S at the positions and z the stretches of an iteration, both in the order 11, 22, 33, 12, 13,
23. ψ(z) is the material's energy at F = S(z), which does not depend on R. λ = D μ are the multipliers of z = z̄.
"""

from __future__ import annotations

from numba import types

from ..materials.algebra import decompose, dot
from ..materials.lanes import (
    ENERGY,
    GRADIENT,
    LANES,
    LEFT,
    MATERIAL_KERNEL,
    RIGHT,
    SIGMA,
    STRESS,
    put,
    vector,
)
from ..threads import inline, kernel
from .condensed_kernels import ALONG, BAR, GAP, KERNELS, TABLE, second_order, stress_of_gap, tangent_of
from .elastic_kernels import VOLUME, corner_blocks, corner_forces, load_block, store_blocks, store_forces
from .energy_kernels import store_energies
from .fiber_kernels import BODY, load_constants

#: of the largest singular value: lower bound of a sum of two, since opposite ones have no unique R
FLOOR = 0.1
TINY = 1.0e-300

@kernel(MATERIAL_KERNEL)
def nothing(work, project):  # type: ignore[no-untyped-def]
    """Add nothing: the kernel of fibers of a body without any."""
    return


@inline
def _weight(s, t, floor):  # type: ignore[no-untyped-def]
    """Return 2 σ_i/(σ_i + σ_j)."""
    return 2.0 * s / max(s + t, floor)


@inline
def blend(a, s, b, t, c, r):  # type: ignore[no-untyped-def]
    """Return s a + t b + r c of three vectors."""
    return (s * a[0] + t * b[0] + r * c[0], s * a[1] + t * b[1] + r * c[1], s * a[2] + t * b[2] + r * c[2])


@inline
def frames_of(work, lane):  # type: ignore[no-untyped-def]
    """Return the columns of U, the columns of V, σ and the lower bound of the sum of two σ."""
    sigma = vector(work, SIGMA, lane)
    return ((vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)),
            (vector(work, RIGHT, lane), vector(work, RIGHT + 3, lane), vector(work, RIGHT + 6, lane)),
            sigma, max(FLOOR * sigma[0], TINY))


@inline
def _stretch_entry(v, d, e, p, q):  # type: ignore[no-untyped-def]
    """Return entry (p, q) of V Ŝ Vᵀ. d: diagonal of Ŝ. e: its entries 12, 13, 23."""
    a, b, c = v
    return (
        d[0] * a[p] * a[q] + d[1] * b[p] * b[q] + d[2] * c[p] * c[q] + e[0] * (a[p] * b[q] + b[p] * a[q])
        + e[1] * (a[p] * c[q] + c[p] * a[q]) + e[2] * (b[p] * c[q] + c[p] * b[q])
    )


@inline
def stretch_of(v, d, e):  # type: ignore[no-untyped-def]
    """Return the six entries of V Ŝ Vᵀ in the order of z. v: columns of V. d: diagonal of Ŝ. e: its entries 12, 13,
    23."""
    return (_stretch_entry(v, d, e, 0, 0), _stretch_entry(v, d, e, 1, 1), _stretch_entry(v, d, e, 2, 2),
            _stretch_entry(v, d, e, 0, 1), _stretch_entry(v, d, e, 0, 2), _stretch_entry(v, d, e, 1, 2))


@inline
def _rate(work, lane):  # type: ignore[no-untyped-def]
    """Return dz̄ = A vec dF of the dF in the slots of F.

    The result is V Ŝ Vᵀ, Ŝ_ij = (σ_i G_ij + σ_j G_ji)/(σ_i + σ_j), G = Uᵀ dF V.
    """
    u, v, sigma, floor = frames_of(work, lane)
    x, y, z = vector(work, GRADIENT, lane), vector(work, GRADIENT + 3, lane), vector(work, GRADIENT + 6, lane)
    # columns of dF V
    p = blend(x, v[0][0], y, v[0][1], z, v[0][2])
    q = blend(x, v[1][0], y, v[1][1], z, v[1][2])
    r = blend(x, v[2][0], y, v[2][1], z, v[2][2])
    s, t, w = sigma
    e = (
        0.5 * (_weight(s, t, floor) * dot(u[0], q) + _weight(t, s, floor) * dot(u[1], p)),
        0.5 * (_weight(s, w, floor) * dot(u[0], r) + _weight(w, s, floor) * dot(u[2], p)),
        0.5 * (_weight(t, w, floor) * dot(u[1], r) + _weight(w, t, floor) * dot(u[2], q)),
    )
    return stretch_of(v, (dot(u[0], p), dot(u[1], q), dot(u[2], r)), e)


@inline
def columns_of(v, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Return the columns of Λ V, Λ the symmetric matrix of λ = (a, …, f), whose last three are twice entries of Λ."""
    x, y, z = (a, 0.5 * d, 0.5 * e), (0.5 * d, b, 0.5 * f), (0.5 * e, 0.5 * f, c)
    return (blend(x, v[0][0], y, v[0][1], z, v[0][2]), blend(x, v[1][0], y, v[1][1], z, v[1][2]),
            blend(x, v[2][0], y, v[2][1], z, v[2][2]))


@inline
def stress_columns(frames, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Return the columns of P = Aᵀ λ, λ = (a, …, f).

    With Λ the symmetric matrix of λ and N = Vᵀ Λ V, P = U [2 σ_i N_ij/(σ_i + σ_j)] Vᵀ.
    """
    u, v, sigma, floor = frames
    p, q, r = columns_of(v, a, b, c, d, e, f)
    s, t, w = sigma
    mixed, outer, inner = dot(v[0], q), dot(v[0], r), dot(v[1], r)
    one = blend(u[0], dot(v[0], p), u[1], _weight(t, s, floor) * mixed, u[2], _weight(w, s, floor) * outer)
    two = blend(u[0], _weight(s, t, floor) * mixed, u[1], dot(v[1], q), u[2], _weight(w, t, floor) * inner)
    three = blend(u[0], _weight(s, w, floor) * outer, u[1], _weight(t, w, floor) * inner, u[2], dot(v[2], r))
    return (blend(one, v[0][0], two, v[1][0], three, v[2][0]), blend(one, v[0][1], two, v[1][1], three, v[2][1]),
            blend(one, v[0][2], two, v[1][2], three, v[2][2]))


@inline
def put_columns(work, slot, lane, columns):  # type: ignore[no-untyped-def]
    """Write the columns of a 3 × 3 matrix to nine consecutive slots of the lane array, from `slot` on."""
    put(work, slot, lane, columns[0])
    put(work, slot + 3, lane, columns[1])
    put(work, slot + 6, lane, columns[2])


@inline
def load_stretch(work, lane, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Write the symmetric matrix S of six stretches into the slots of F."""
    put(work, GRADIENT, lane, (a, d, e))
    put(work, GRADIENT + 3, lane, (d, b, f))
    put(work, GRADIENT + 6, lane, (e, f, c))


@kernel(types.void(types.float64[::1], TABLE, types.int64))
def stretch_along(work, z_bar, block):  # type: ignore[no-untyped-def]
    """Write A and z̄ of one block into the lane array, and z̄ into the table z_bar (b, 6, LANES).

    The lane array has the U, σ and V that `decompose` wrote.
    """
    for lane in range(LANES):
        frames = frames_of(work, lane)
        put_columns(work, ALONG, lane, stress_columns(frames, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        put_columns(work, ALONG + 9, lane, stress_columns(frames, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
        put_columns(work, ALONG + 18, lane, stress_columns(frames, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
        put_columns(work, ALONG + 27, lane, stress_columns(frames, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0))
        put_columns(work, ALONG + 36, lane, stress_columns(frames, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0))
        put_columns(work, ALONG + 45, lane, stress_columns(frames, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    for lane in range(LANES):
        frames = frames_of(work, lane)
        a, b, c, d, e, f = stretch_of(frames[1], frames[2], (0.0, 0.0, 0.0))
        put(work, BAR, lane, (a, b, c))
        put(work, BAR + 3, lane, (d, e, f))
    for entry in range(6):
        for lane in range(LANES):
            z_bar[block, entry, lane] = work[(BAR + entry) * LANES + lane]


@kernel(types.void(types.float64[::1], TABLE, types.int64))
def begin_stretch(work, z, block):  # type: ignore[no-untyped-def]
    """Write S(z) of one block into the slots of F; where S(z) is not positive definite, set z to z̄ first."""
    for lane in range(LANES):
        a, b, c = z[block, 0, lane], z[block, 1, lane], z[block, 2, lane]
        d, e, f = z[block, 3, lane], z[block, 4, lane], z[block, 5, lane]
        second = a * b - d * d
        third = c * second - a * f * f - b * e * e + 2.0 * d * e * f
        work[GRADIENT * LANES + lane] = 1.0 if a > 0.0 and second > 0.0 and third > 0.0 else 0.0
    for entry in range(6):
        for lane in range(LANES):
            if work[GRADIENT * LANES + lane] == 0.0:
                z[block, entry, lane] = work[(BAR + entry) * LANES + lane]
            else:
                work[(BAR + entry) * LANES + lane] = z[block, entry, lane]
    for lane in range(LANES):
        a, b, c = vector(work, BAR, lane)
        d, e, f = vector(work, BAR + 3, lane)
        load_stretch(work, lane, a, b, c, d, e, f)


@kernel(types.void(*BODY, *KERNELS, *KERNELS, types.float64[:, ::1], TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE))
def linearise(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, fibers, stress, tangent, fiber_stress, fiber_tangent, works,
    z, z_bar, slope, hessian, multipliers, forces, blocks,
):
    """Write condensed forces f̂ = −V Jᵀ Aᵀ [ψ' + H (z̄ − z)] and blocks of K̂ = −V Jᵀ Aᵀ H A J of chunks `start` to
    `stop`.

    H is positive semi-definite. x: (n, 3) [m]. z: (b, 6, LANES), set to z̄ where S(z) is not positive definite. Writes
    z̄, ψ' and λ = ψ' + H (z̄ − z), (b, 6, LANES) each, H (b, 36, LANES), forces (16 b, 4, 3) [N] and blocks (16 b, 6,
    9) [N/m]. [MFEM 6]
    """
    chunks, count = works.shape[0], nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            stretch_along(work, z_bar, block)
            begin_stretch(work, z, block)
            stress(work, True)
            tangent(work, True)
            load_constants(work, fibers, block)
            fiber_stress(work, True)
            fiber_tangent(work, True)
            second_order(work, slope, hessian, block)
            for entry in range(6):
                for lane in range(LANES):
                    work[(GAP + entry) * LANES + lane] = z_bar[block, entry, lane] - z[block, entry, lane]
            stress_of_gap(work)
            for entry in range(6):
                for lane in range(LANES):
                    multipliers[block, entry, lane] = work[(LEFT + entry) * LANES + lane]
            tangent_of(work)
            corner_forces(work)
            corner_blocks(work)
            store_forces(work, forces, block)
            store_blocks(work, blocks, block)


@kernel(types.void(types.int64, types.int64, types.float64[:, ::1], types.float64[:, ::1], *BODY[3:6],
                   types.float64[:, ::1], TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, types.float64[::1]))
def lead(  # type: ignore[no-untyped-def]
    start, stop, x, moved, nodes, rest, constants, works, z, z_bar, slope, hessian, change, multipliers, energies,
):
    """Write the change of stretches dz = z̄ − z + A J δx and λ = ψ' + H dz for a displacement δx, chunks `start` to
    `stop`.

    x: positions of `linearise`, (n, 3) [m]. moved: δx, (n, 3) [m]. Writes V dzᵀ H dz into energies, (16 b,) [J], too.
    [MFEM 7, 8]
    """
    chunks, count = works.shape[0], nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            load_block(work, moved, nodes, rest, constants, block)
            for lane in range(LANES):
                a, b, c, d, e, f = _rate(work, lane)
                change[block, 0, lane] = z_bar[block, 0, lane] - z[block, 0, lane] + a
                change[block, 1, lane] = z_bar[block, 1, lane] - z[block, 1, lane] + b
                change[block, 2, lane] = z_bar[block, 2, lane] - z[block, 2, lane] + c
                change[block, 3, lane] = z_bar[block, 3, lane] - z[block, 3, lane] + d
                change[block, 4, lane] = z_bar[block, 4, lane] - z[block, 4, lane] + e
                change[block, 5, lane] = z_bar[block, 5, lane] - z[block, 5, lane] + f
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


@kernel(types.void(*BODY, *KERNELS, types.float64[:, ::1], TABLE, TABLE, types.float64, TABLE, TABLE,
                   types.float64[::1]))
def measure(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, fibers, energy, fiber_energy, works, z, change, fraction, multipliers,
    forces, energies,
):
    """Write V (ψ(z) + λᵀ (z̄ − z)) at z + fraction dz, (16 b,) [J], and its forces −V Jᵀ Aᵀ λ, (16 b, 4, 3) [N].

    Chunks `start` to `stop`. x: (n, 3) [m]. fraction: of the change dz of the stretches. [MFEM 4]
    """
    chunks, count = works.shape[0], nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            for lane in range(LANES):
                frames = frames_of(work, lane)
                a, b, c, d, e, f = stretch_of(frames[1], frames[2], (0.0, 0.0, 0.0))
                p, q, r = multipliers[block, 0, lane], multipliers[block, 1, lane], multipliers[block, 2, lane]
                s, t, w = multipliers[block, 3, lane], multipliers[block, 4, lane], multipliers[block, 5, lane]
                put_columns(work, STRESS, lane, stress_columns(frames, p, q, r, s, t, w))
                i = z[block, 0, lane] + fraction * change[block, 0, lane]
                j = z[block, 1, lane] + fraction * change[block, 1, lane]
                k = z[block, 2, lane] + fraction * change[block, 2, lane]
                l = z[block, 3, lane] + fraction * change[block, 3, lane]
                m = z[block, 4, lane] + fraction * change[block, 4, lane]
                n = z[block, 5, lane] + fraction * change[block, 5, lane]
                work[ENERGY * LANES + lane] = (
                    p * (a - i) + q * (b - j) + r * (c - k) + s * (d - l) + t * (e - m) + w * (f - n))
                load_stretch(work, lane, i, j, k, l, m, n)
            corner_forces(work)
            store_forces(work, forces, block)
            energy(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            store_energies(work, energies, block)
