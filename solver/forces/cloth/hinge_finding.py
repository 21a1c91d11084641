"""Kernels that find the hinges of a mesh, and areas and gradients of its triangles in material space."""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel


@inline
def cotangent(material, t, at, one, two):  # type: ignore[no-untyped-def]
    """Return the cotangent of the angle of triangle t at corner `at`, between the edges to corners `one` and `two`."""
    u0, u1 = material[t, one, 0] - material[t, at, 0], material[t, one, 1] - material[t, at, 1]
    v0, v1 = material[t, two, 0] - material[t, at, 0], material[t, two, 1] - material[t, at, 1]
    return (u0 * v0 + u1 * v1) / abs(u0 * v1 - u1 * v0)


@kernel("i8(i4[:,::1], f8[:,:,::1], i4[:,::1], i4[:,::1], f8[::1], f8[:,::1])")
def find_hinges(triangles, material, nodes, faces, length, cotangents):  # type: ignore[no-untyped-def]
    """Write the arrays of `Hinges` and the two triangles of each, faces (h, 2); return the number of hinges.

    triangles: (e, 3). material: (e, 3, 2) [m]. The arrays have room for three hinges per triangle. Hinges are sorted by
    the ends of their edges.
    """
    edges, top = 3 * triangles.shape[0], 0
    for t in range(triangles.shape[0]):
        for k in range(3):
            top = max(top, triangles[t, k])
    first = np.zeros(top + 2, np.int64)
    for t in range(triangles.shape[0]):
        for k in range(3):
            first[min(triangles[t, k], triangles[t, (k + 1) % 3]) + 1] += 1
    for i in range(top + 1):
        first[i + 1] += first[i]
    # the larger end and the number of the side, as one number to sort by
    filled, keys = first[:-1].copy(), np.empty(edges, np.int64)
    for t in range(triangles.shape[0]):
        for k in range(3):
            a, b = triangles[t, k], triangles[t, (k + 1) % 3]
            keys[filled[min(a, b)]] = max(a, b) * edges + 3 * t + k
            filled[min(a, b)] += 1
    count = 0
    for a in range(top + 1):
        keys[first[a] : first[a + 1]] = np.sort(keys[first[a] : first[a + 1]])
        for at in range(first[a], first[a + 1] - 1):
            b = keys[at] // edges
            if keys[at + 1] // edges != b:
                continue
            nodes[count, 0], nodes[count, 1], length[count] = a, b, 0.0
            for side in range(2):
                t, k = keys[at + side] % edges // 3, keys[at + side] % edges % 3
                at_a, at_b, other = k, (k + 1) % 3, (k + 2) % 3
                if triangles[t, at_a] != a:
                    at_a, at_b = at_b, at_a
                faces[count, side], nodes[count, 2 + side] = t, triangles[t, other]
                along0 = material[t, at_b, 0] - material[t, at_a, 0]
                along1 = material[t, at_b, 1] - material[t, at_a, 1]
                length[count] += 0.5 * np.sqrt(along0 * along0 + along1 * along1)
                cotangents[count, 2 * side] = cotangent(material, t, at_a, at_b, other)
                cotangents[count, 2 * side + 1] = cotangent(material, t, at_b, at_a, other)
            count += 1
    return count


@kernel("void(f8[:,:,::1], f8[::1], f8[:,:,::1])", fastmath=frozenset())
def measure_material(material, areas, gradients):  # type: ignore[no-untyped-def]
    """Write areas (e,) [m²] and ∇N of the corners, gradients (e, 3, 2) [1/m], of triangles in material space (e, 3, 2)
    [m]."""
    for e in range(material.shape[0]):
        b0, b1 = material[e, 1, 0] - material[e, 0, 0], material[e, 1, 1] - material[e, 0, 1]
        c0, c1 = material[e, 2, 0] - material[e, 0, 0], material[e, 2, 1] - material[e, 0, 1]
        twice = b0 * c1 - b1 * c0
        inverse = 1.0 / twice
        areas[e] = 0.5 * abs(twice)
        gradients[e, 1, 0], gradients[e, 1, 1] = inverse * c1, inverse * -c0
        gradients[e, 2, 0], gradients[e, 2, 1] = inverse * -b1, inverse * b0
        for i in range(2):
            gradients[e, 0, i] = -gradients[e, 1, i] - gradients[e, 2, i]
