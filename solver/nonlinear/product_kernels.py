"""Loops of the iterative solvers."""

from __future__ import annotations

from ..threads import kernel


@kernel("void(f8[::1], i4[::1], i4[::1], f8[::1], f8[::1])")
def multiply_lower(data, indices, indptr, x, out):  # type: ignore[no-untyped-def]
    """out = A x from the lower triangle of A, whose columns begin with the diagonal entry. x, out: (m,)."""
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(out.shape[0]):
        begin, end = indptr[j], indptr[j + 1]
        own = x[j]
        total = data[begin] * own
        for k in range(begin + 1, end):
            value, i = data[k], indices[k]
            out[i] += value * own
            total += value * x[i]
        out[j] += total


@kernel("void(f8[:,:,::1], f8[::1], f8[::1])")
def multiply_blocks(blocks, x, out):  # type: ignore[no-untyped-def]
    """out = B x for 3 x 3 blocks on the diagonal. blocks: (m / 3, 3, 3)."""
    for node in range(blocks.shape[0]):
        a, b, c = x[3 * node], x[3 * node + 1], x[3 * node + 2]
        for r in range(3):
            out[3 * node + r] = blocks[node, r, 0] * a + blocks[node, r, 1] * b + blocks[node, r, 2] * c
