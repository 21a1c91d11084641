"""Loops of the iterative solvers."""

from __future__ import annotations

from ..threads import kernel


@kernel("void(f8[:,:,::1], f8[::1], f8[::1])")
def multiply_blocks(blocks, x, out):  # type: ignore[no-untyped-def]
    """out = B x for 3 x 3 blocks on the diagonal. blocks: (m / 3, 3, 3)."""
    for node in range(blocks.shape[0]):
        a, b, c = x[3 * node], x[3 * node + 1], x[3 * node + 2]
        for r in range(3):
            out[3 * node + r] = blocks[node, r, 0] * a + blocks[node, r, 1] * b + blocks[node, r, 2] * c


@kernel("void(i8[::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1])")
def bend(order, steps, changes, inverse, weights, bent):  # type: ignore[no-untyped-def]
    """The first loop of L-BFGS over pairs in `order`, the newest first, on `bent`; writes their weights."""
    for i in range(len(order) - 1, -1, -1):
        k, total = order[i], 0.0
        for j in range(len(bent)):
            total += steps[k, j] * bent[j]
        weights[k] = inverse[k] * total
        for j in range(len(bent)):
            bent[j] -= weights[k] * changes[k, j]


@kernel("void(i8[::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1])")
def straighten(order, steps, changes, inverse, weights, out):  # type: ignore[no-untyped-def]
    """The second loop, the oldest first, on what the factor made of the first one's."""
    for k in order:
        total = 0.0
        for j in range(len(out)):
            total += changes[k, j] * out[j]
        share = weights[k] - inverse[k] * total
        for j in range(len(out)):
            out[j] += share * steps[k, j]
