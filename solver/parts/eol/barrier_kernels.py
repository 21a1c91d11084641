"""Kernels of barrier forces between cloth, itself and obstacles, for the matrix and right-hand side of a step."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("void(i4[:,::1], i4[:,::1], f8[:,::1], i8[::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8, f8[:,:,::1], "
        "f8[:,::1])")
def add_barrier_forces(  # type: ignore[no-untyped-def]
        nodes, movers, arms, keys, forces, stiffness, displacement, h, blocks, impulse):
    """Add −h² Jᵀ K J to blocks (b, 5, 5) and h Jᵀ (f + K d) to impulse (n, 5), both of the first three rates alone.

    nodes: (k, 4). movers: the vertices of each node's translation and of its rotation, −1 for none, (m, 2). arms: from
    the centre of the rotation [m], (m, 3). keys: of blocks, smaller vertex << 32 | larger, rising, (b,). forces: (k, 4,
    3) [N]. stiffness: blocks of K of pairs (1, 0), (2, 0), (2, 1), …, K_aa = −Σ K_ab, (k, 6, 9) [N/m]. displacement: d
    of all nodes from where forces are evaluated, (m, 3) [m]: of the cloth's back to the start of the step, of others to
    their predicted end.
    """
    K, levers, product, total = np.empty((4, 4, 3, 3)), np.zeros((4, 3, 3)), np.empty((3, 3)), np.empty(3)
    other = np.empty((3, 3))
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
            x, y, z = arms[nodes[e, a]]
            levers[a, 0, 1], levers[a, 0, 2], levers[a, 1, 2] = z, -y, x
            levers[a, 1, 0], levers[a, 2, 0], levers[a, 2, 1] = -z, y, -x
        for a in range(4):
            for i in range(3):
                total[i] = forces[e, a, i]
                for b in range(4):
                    for j in range(3):
                        total[i] += K[a, b, i, j] * displacement[nodes[e, b], j]
            for s in range(2):
                row = movers[nodes[e, a], s]
                if row < 0:
                    continue
                for i in range(3):
                    if s == 0:
                        impulse[row, i] += h * total[i]
                    else:
                        for j in range(3):
                            impulse[row, i] += h * levers[a, j, i] * total[j]
                for b in range(4):
                    for t in range(2):
                        column = movers[nodes[e, b], t]
                        if column < 0 or column > row:
                            continue
                        key = np.int64(column) << 32 | np.int64(row)
                        low, high = 0, keys.shape[0]
                        while high - low > 1:
                            middle = (low + high) // 2
                            if keys[middle] <= key:
                                low = middle
                            else:
                                high = middle
                        for i in range(3):
                            for j in range(3):
                                other[i, j] = K[a, b, i, j]
                        if t == 1:
                            for i in range(3):
                                for j in range(3):
                                    product[i, j] = 0.0
                                    for k in range(3):
                                        product[i, j] += other[i, k] * levers[b, k, j]
                            other[:] = product
                        if s == 1:
                            for i in range(3):
                                for j in range(3):
                                    product[i, j] = 0.0
                                    for k in range(3):
                                        product[i, j] += levers[a, k, i] * other[k, j]
                            other[:] = product
                        for i in range(3):
                            for j in range(3):
                                blocks[low, i, j] -= h * h * other[i, j]


@kernel("void(i4[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1])")
def add_forces(nodes, forces, stiffness, displacement, out):  # type: ignore[no-untyped-def]
    """Add f + K d to out, (m, 3) [N]. nodes, forces, stiffness, displacement: as in `add_barrier_forces`."""
    for e in range(nodes.shape[0]):
        for a in range(4):
            for i in range(3):
                out[nodes[e, a], i] += forces[e, a, i]
        for a in range(1, 4):
            for b in range(a):
                pair = a * (a - 1) // 2 + b
                first, second = nodes[e, a], nodes[e, b]
                for i in range(3):
                    for j in range(3):
                        value = stiffness[e, pair, 3 * i + j]
                        out[first, i] += value * (displacement[second, j] - displacement[first, j])
                        out[second, j] -= value * (displacement[second, i] - displacement[first, i])
