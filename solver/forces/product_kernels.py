"""Element loop of forces and products with K, without storing K; most bakes never compile it."""

from __future__ import annotations

from numba import types

from ..materials.lanes import CHANGE, LANES, STRESS, TANGENT, put, vector
from ..threads import inline, kernel
from .elastic_kernels import BLOCKS, REST, MaterialKernel, corner_forces, load_block, store_forces


@inline
def _times(work, lane, block, d):  # type: ignore[no-untyped-def]
    """Return H_jl d of one block of the tangent."""
    at = (TANGENT + 9 * block) * LANES + lane
    return (
        work[at] * d[0] + work[at + LANES] * d[1] + work[at + 2 * LANES] * d[2],
        work[at + 3 * LANES] * d[0] + work[at + 4 * LANES] * d[1] + work[at + 5 * LANES] * d[2],
        work[at + 6 * LANES] * d[0] + work[at + 7 * LANES] * d[1] + work[at + 8 * LANES] * d[2],
    )


@inline
def _times_transposed(work, lane, block, d):  # type: ignore[no-untyped-def]
    """Return H_jlᵀ d of one block of the tangent."""
    at = (TANGENT + 9 * block) * LANES + lane
    return (
        work[at] * d[0] + work[at + 3 * LANES] * d[1] + work[at + 6 * LANES] * d[2],
        work[at + LANES] * d[0] + work[at + 4 * LANES] * d[1] + work[at + 7 * LANES] * d[2],
        work[at + 2 * LANES] * d[0] + work[at + 5 * LANES] * d[1] + work[at + 8 * LANES] * d[2],
    )


@kernel("void(f8[::1], f8[:,::1], i4[:,:,::1], i8)")
def load_change(work, column, nodes, block):  # type: ignore[no-untyped-def]
    """Write dF of a field on the nodes, column (n, 3), into the lane array."""
    for lane in range(LANES):
        origin = nodes[block, 0, lane]
        for corner in range(3):
            node = nodes[block, corner + 1, lane]
            for axis in range(3):
                work[(BLOCKS + 3 * corner + axis) * LANES + lane] = column[node, axis] - column[origin, axis]
    for lane in range(LANES):
        a, b, c = vector(work, BLOCKS, lane), vector(work, BLOCKS + 3, lane), vector(work, BLOCKS + 6, lane)
        for k in range(3):
            first = (REST + k) * LANES + lane
            p, q, r = work[first], work[first + 3 * LANES], work[first + 6 * LANES]
            put(work, CHANGE + 3 * k, lane,
                (p * a[0] + q * b[0] + r * c[0], p * a[1] + q * b[1] + r * c[1], p * a[2] + q * b[2] + r * c[2]))


@kernel("void(f8[::1])")
def stress_change(work):  # type: ignore[no-untyped-def]
    """Write dP of the dF in the lane array, by the tangent, in place of P."""
    for lane in range(LANES):
        d, e, f = vector(work, CHANGE, lane), vector(work, CHANGE + 3, lane), vector(work, CHANGE + 6, lane)
        p, q, r = _times(work, lane, 0, d), _times_transposed(work, lane, 3, e), _times_transposed(work, lane, 4, f)
        put(work, STRESS, lane, (p[0] + q[0] + r[0], p[1] + q[1] + r[1], p[2] + q[2] + r[2]))
        p, q, r = _times(work, lane, 3, d), _times(work, lane, 1, e), _times_transposed(work, lane, 5, f)
        put(work, STRESS + 3, lane, (p[0] + q[0] + r[0], p[1] + q[1] + r[1], p[2] + q[2] + r[2]))
        p, q, r = _times(work, lane, 4, d), _times(work, lane, 5, e), _times(work, lane, 2, f)
        put(work, STRESS + 6, lane, (p[0] + q[0] + r[0], p[1] + q[1] + r[1], p[2] + q[2] + r[2]))


@kernel(types.void(types.int64, types.int64, types.float64[:, ::1], types.float64[:, :, ::1],
                   types.int32[:, :, ::1], types.float64[:, :, ::1], types.float64[:, :, ::1], MaterialKernel,
                   MaterialKernel, types.boolean, types.float64[:, ::1], types.float64[:, :, :, ::1]))
def multiply(  # type: ignore[no-untyped-def]
    start, stop, x, columns, nodes, rest, constants, stress, change, is_tangent, works, out,
):
    """Write element forces f = −V P ∇N at x and products of the true K = ∂f/∂x with fields, chunks `start` to `stop`.

    x: (n, 3) [m]. columns: fields, (c, n, 3). nodes: (b, 4, LANES). rest: (b, 10, LANES). constants: (b, c, LANES).
    change: the material's tangent where `is_tangent`, else its own kernel of dP for a dF. works: (chunks, slots).
    Writes out (1 + c, 16 b, 4, 3): forces [N], then the products. [Smith 2018]
    """
    chunks = works.shape[0]
    count = nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            stress(work, False)
            if is_tangent:
                change(work, False)
            corner_forces(work)
            store_forces(work, out[0], block)
            for c in range(columns.shape[0]):
                load_change(work, columns[c], nodes, block)
                if is_tangent:
                    stress_change(work)
                else:
                    for slot in range(STRESS * LANES, (STRESS + 9) * LANES):
                        work[slot] = 0.0
                    change(work, False)
                corner_forces(work)
                store_forces(work, out[1 + c], block)
