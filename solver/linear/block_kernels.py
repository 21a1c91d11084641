"""Kernels of the iterative solvers: block-diagonal product and the two loops of L-BFGS."""

from __future__ import annotations

from ..threads import kernel


@kernel("void(f8[:,:,::1], f8[::1], f8[::1])")
def multiply_blocks(blocks, x, out):  # type: ignore[no-untyped-def]
    """Write out = B x, both (m,), for 3 x 3 blocks on the diagonal. blocks: (m / 3, 3, 3)."""
    for node in range(blocks.shape[0]):
        a, b, c = x[3 * node], x[3 * node + 1], x[3 * node + 2]
        for r in range(3):
            out[3 * node + r] = blocks[node, r, 0] * a + blocks[node, r, 1] * b + blocks[node, r, 2] * c


@kernel("void(i8[::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1])")
def backward_loop(order, steps, changes, inverse, weights, gradient):  # type: ignore[no-untyped-def]
    """Run the first loop of L-BFGS in place on `gradient`, (m,), over the pairs in `order` from the newest to the
    oldest.

    steps, changes: s and y of each pair, (pairs, m). inverse: 1 / sᵀy, (pairs,). weights: of the pairs, (pairs,),
    written.
    """
    for i in range(len(order) - 1, -1, -1):
        k, total = order[i], 0.0
        for j in range(len(gradient)):
            total += steps[k, j] * gradient[j]
        weights[k] = inverse[k] * total
        for j in range(len(gradient)):
            gradient[j] -= weights[k] * changes[k, j]


@kernel("void(i8[::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1])")
def forward_loop(order, steps, changes, inverse, weights, out):  # type: ignore[no-untyped-def]
    """Run the second loop of L-BFGS in place on `out`, (m,), over the pairs in `order` from the oldest to the newest.

    steps, changes: s and y of each pair, (pairs, m). inverse: 1 / sᵀy, (pairs,). weights: of `backward_loop`, (pairs,).
    """
    for k in order:
        total = 0.0
        for j in range(len(out)):
            total += changes[k, j] * out[j]
        fraction = weights[k] - inverse[k] * total
        for j in range(len(out)):
            out[j] += fraction * steps[k, j]
