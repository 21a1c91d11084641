"""Springs from points to positions at a constant height over a triangle, which rotate with it."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("f8(i4[:,::1], f8[:,::1], f8[::1], f8[::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1])")
def weld(nodes, weights, gaps, stiffness, x, forces, blocks):  # type: ignore[no-untyped-def]
    """Return the energy ½ Σ k |r|² [J], r = x₀ − Σ w_j x_j − g n̂ with the unit normal n̂ of x₁, x₂, x₃.

    nodes: (s, 4), the point first. weights: w, (s, 3). gaps: g [m], (s,). stiffness: k [N/m], (s,). x: (n, 3) [m].
    Writes forces −k Jᵀ r [N], (s, 4, 3), and where `blocks` has rows, (s, 6, 9), those of K ≈ −k Jᵀ J [N/m] for the
    pairs (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), J = ∂r/∂x: negative semi-definite, exact where r = 0.
    """
    energy = 0.0
    slopes, normal, r, first, second = np.empty((4, 3, 3)), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    gradient = np.empty((3, 3))
    for s in range(nodes.shape[0]):
        p, a, b, c = nodes[s, 0], nodes[s, 1], nodes[s, 2], nodes[s, 3]
        for i in range(3):
            first[i], second[i] = x[b, i] - x[a, i], x[c, i] - x[a, i]
        normal[0] = first[1] * second[2] - first[2] * second[1]
        normal[1] = first[2] * second[0] - first[0] * second[2]
        normal[2] = first[0] * second[1] - first[1] * second[0]
        length = max(np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2), 1e-300)
        for i in range(3):
            normal[i] /= length
            r[i] = x[p, i] - weights[s, 0] * x[a, i] - weights[s, 1] * x[b, i] - weights[s, 2] * x[c, i]
        for i in range(3):
            r[i] -= gaps[s] * normal[i]
            energy += 0.5 * stiffness[s] * r[i] * r[i]
        # rotation of the position with the triangle: −g (I − n̂ n̂ᵀ) / |n| times ∂n/∂x, which is a cross product
        scale = gaps[s] / length
        for i in range(3):
            for j in range(3):
                gradient[i, j] = scale * (normal[i] * normal[j] - (1.0 if i == j else 0.0))
        for i in range(3):
            for j in range(3):
                k, m = (j + 1) % 3, (j + 2) % 3
                # column j of [e]×, as in [e]× y = e × y, has e_m in row k and −e_k in row m
                slopes[2, i, j] = -(gradient[i, k] * second[m] - gradient[i, m] * second[k])
                slopes[3, i, j] = gradient[i, k] * first[m] - gradient[i, m] * first[k]
                slopes[1, i, j] = -slopes[2, i, j] - slopes[3, i, j]
                slopes[0, i, j] = 0.0
            slopes[0, i, i] += 1.0
            for corner in range(3):
                slopes[corner + 1, i, i] -= weights[s, corner]
        for corner in range(4):
            for j in range(3):
                forces[s, corner, j] = -stiffness[s] * (slopes[corner, 0, j] * r[0] + slopes[corner, 1, j] * r[1]
                                                        + slopes[corner, 2, j] * r[2])
        if blocks.shape[0]:
            pair = 0
            for one in range(1, 4):
                for other in range(one):
                    for i in range(3):
                        for j in range(3):
                            blocks[s, pair, 3 * i + j] = -stiffness[s] * (
                                slopes[one, 0, i] * slopes[other, 0, j] + slopes[one, 1, i] * slopes[other, 1, j]
                                + slopes[one, 2, i] * slopes[other, 2, j])
                    pair += 1
    return energy
