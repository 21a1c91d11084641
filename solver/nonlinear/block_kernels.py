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
