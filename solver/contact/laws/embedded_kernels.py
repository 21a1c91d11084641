"""Kernels that map positions from nodes to embedded vertices, and forces and blocks back to nodes."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

#: nodes (s, w), blocks (s, w (w − 1)/2, 9), corners (v, 4), weights (v, 4); work: index of each node in a stencil and
#: its last pair, −1 before the call, (n,) each; results: the smaller and the larger node of pairs, (m, 2), the previous
#: pair of the larger node, (m,), and blocks, (m, 9)
_PAIRS = "i8(i4[:,::1], f8[:,:,::1], i4[:,::1], f8[:,::1], i4[::1], i4[::1], i4[:,::1], i4[::1], f8[:,::1])"


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1], f8[:,::1])")
def carry_values(values, corners, weights, out):  # type: ignore[no-untyped-def]
    """Write to `out`, (n + v, c), values of nodes, (n, c), followed by interpolated values of vertices.

    corners, weights: nodes of the element of each vertex and their weights, (v, 4).
    """
    count, width = values.shape
    for i in range(count):
        for c in range(width):
            out[i, c] = values[i, c]
    for v in range(corners.shape[0]):
        for c in range(width):
            total = 0.0
            for k in range(4):
                total += weights[v, k] * values[corners[v, k], c]
            out[count + v, c] = total


@kernel("void(f8[:,::1], i4[:,::1], i4[:,::1], f8[:,::1], f8[:,::1], b1[::1])")
def gather_forces(whole, stencils, corners, weights, force, is_active):  # type: ignore[no-untyped-def]
    """Add forces `whole` on nodes and vertices, (n + v, 3) [N], to `force` on nodes, (n, 3) [N]; mark active nodes.

    A node is active, is_active (n,), where it or a vertex of its element is in a stencil, (s, w). corners, weights:
    nodes of the element of each vertex and their weights, (v, 4).
    """
    count = force.shape[0]
    for i in range(count):
        for c in range(3):
            force[i, c] += whole[i, c]
    for v in range(corners.shape[0]):
        for k in range(4):
            for c in range(3):
                force[corners[v, k], c] += weights[v, k] * whole[count + v, c]
    for s in range(stencils.shape[0]):
        for a in range(stencils.shape[1]):
            node = stencils[s, a]
            if node < count:
                is_active[node] = True
            else:
                for k in range(4):
                    is_active[corners[node - count, k]] = True


@kernel(_PAIRS)
def add_pairs(nodes, blocks, corners, weights, slot, head, pairs, after, out):  # type: ignore[no-untyped-def]
    """Write the blocks of Wᵀ K W of stencils for pairs of nodes; return the number of pairs, −1 if they do not fit.

    Of a pair (a, b) of a stencil with K_ab = B, and δ = w_a − w_b the difference of its vertices' weights, a node i has
    −w_a(i) δ(j) B + w_b(i) δ(j) Bᵀ towards a node j. Vertices below n are nodes themselves.
    """
    count, capacity, own = 0, len(pairs), slot.shape[0]
    local, of_a, of_b = np.empty(8, np.int32), np.empty(8), np.empty(8)
    for s in range(nodes.shape[0]):
        row = 0
        for a in range(1, nodes.shape[1]):
            for b in range(a):
                width, size = 0, 0.0
                for r in range(9):
                    size += abs(blocks[s, row, r])
                for side in range(2 if size > 0.0 else 0):
                    vertex = nodes[s, a] if side == 0 else nodes[s, b]
                    for c in range(1 if vertex < own else 4):
                        node = vertex if vertex < own else corners[vertex - own, c]
                        weight = 1.0 if vertex < own else weights[vertex - own, c]
                        if weight == 0.0:
                            continue
                        if slot[node] < 0:
                            slot[node], local[width] = width, node
                            of_a[width], of_b[width] = 0.0, 0.0
                            width += 1
                        if side == 0:
                            of_a[slot[node]] += weight
                        else:
                            of_b[slot[node]] += weight
                for i in range(width):
                    slot[local[i]] = -1
                for i in range(width):
                    for j in range(width):
                        difference = of_a[j] - of_b[j]
                        if local[i] <= local[j] or difference == 0.0:
                            continue
                        pair = head[local[i]]
                        while pair >= 0 and pairs[pair, 0] != local[j]:
                            pair = after[pair]
                        if pair < 0:
                            if count == capacity:
                                return -1
                            pair = count
                            pairs[pair, 0], pairs[pair, 1] = local[j], local[i]
                            after[pair], head[local[i]] = head[local[i]], pair
                            out[pair] = 0.0
                            count += 1
                        straight, transposed = -of_a[i] * difference, of_b[i] * difference
                        for r in range(3):
                            for c in range(3):
                                out[pair, 3 * r + c] += (straight * blocks[s, row, 3 * r + c]
                                                         + transposed * blocks[s, row, 3 * c + r])
                row += 1
    return count
