"""Kernel: pushes between cloth and itself, or things that move as they are told, into the matrix of a step."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("void(i4[:,::1], i4[:,::1], i8, f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8, f8[:,:,::1], f8[:,::1])")
def add_pushes(nodes, slots, count, forces, stiffness, way, h, blocks, impulse):  # type: ignore[no-untyped-def]
    """Add −h² K to blocks (b, 5, 5) and h (f + K way) to impulse (n, 5), of the first `count` nodes' ẋ alone.

    nodes: (k, 4). slots: of their pairs (0, 0), (1, 0), … among blocks, (k, 10). forces: (k, 4, 3) [N]. stiffness:
    blocks of K of pairs (1, 0), (2, 0), (2, 1), …, K_aa = −Σ K_ab, (k, 6, 9) [N/m]. way: of all nodes, from where
    forces are told: of the first ones back to the step's start, of the others on to its end, (m, 3) [m].
    """
    K = np.empty((4, 4, 3, 3))
    for e in range(nodes.shape[0]):
        K[:] = 0.0
        for a in range(1, 4):
            for b in range(a):
                pair = a * (a - 1) // 2 + b
                for i in range(3):
                    for j in range(3):
                        value = stiffness[e, pair, 3 * i + j]
                        K[a, b, i, j] = value
                        K[b, a, j, i] = value
                        K[a, a, i, j] -= value
                        K[b, b, j, i] -= value
        for a in range(4):
            node = nodes[e, a]
            if node >= count:
                continue
            for i in range(3):
                total = forces[e, a, i]
                for b in range(4):
                    for j in range(3):
                        total += K[a, b, i, j] * way[nodes[e, b], j]
                impulse[node, i] += h * total
            for b in range(a + 1):
                if nodes[e, b] >= count:
                    continue
                slot = slots[e, a * (a + 1) // 2 + b]
                for i in range(3):
                    for j in range(3):
                        if slot >= 0:
                            blocks[slot, i, j] -= h * h * K[a, b, i, j]
                        else:
                            blocks[-1 - slot, j, i] -= h * h * K[a, b, i, j]
