"""Kernels of bending as a quadratic energy of positions, hinge by hinge."""

from __future__ import annotations

from ...threads import kernel


@kernel("void(f8[:,::1], f8[:,::1], f8, f8[:,::1], f8[::1])", fastmath=frozenset())
def weigh(cotangents, areas, bending, weights, stiffness):  # type: ignore[no-untyped-def]
    """Write the weights c of each hinge's nodes, (h, 4), and its stiffness bending / (A₀ + A₁), (h,) [N/m].

    cotangents: of `Hinges`, (h, 4). areas: of both triangles, (h, 2) [m²]. bending: [N m].
    """
    for h in range(cotangents.shape[0]):
        at_a, at_b, other_a, other_b = cotangents[h, 0], cotangents[h, 1], cotangents[h, 2], cotangents[h, 3]
        weights[h, 0] = at_b + other_b
        weights[h, 1] = at_a + other_a
        weights[h, 2] = -at_a - at_b
        weights[h, 3] = -other_a - other_b
        stiffness[h] = bending / (areas[h, 0] + areas[h, 1])


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[:,::1], f8[::1], f8[:,:,::1], f8[::1])", fastmath=frozenset())
def measure(start, stop, x, nodes, weights, stiffness, forces, energies):  # type: ignore[no-untyped-def]
    """Write forces (h, 4, 3) [N] and energies (h,) [J] of hinges `start` to `stop`.

    x: (n, 3) [m]. nodes, weights: (h, 4). stiffness: (h,) [N/m].
    """
    for h in range(start, stop):
        c0, c1, c2, c3, k = weights[h, 0], weights[h, 1], weights[h, 2], weights[h, 3], -stiffness[h]
        a, b, c, d = nodes[h, 0], nodes[h, 1], nodes[h, 2], nodes[h, 3]
        square = 0.0
        for i in range(3):
            curvature = c0 * x[a, i] + c1 * x[b, i] + c2 * x[c, i] + c3 * x[d, i]
            forces[h, 0, i], forces[h, 1, i] = k * c0 * curvature, k * c1 * curvature
            forces[h, 2, i], forces[h, 3, i] = k * c2 * curvature, k * c3 * curvature
            square += curvature * curvature
        energies[h] = 0.5 * stiffness[h] * square


@kernel("void(i8, i8, f8[:,::1], f8[::1], f8[:,:,::1])", fastmath=frozenset())
def stiffen(start, stop, weights, stiffness, blocks):  # type: ignore[no-untyped-def]
    """Write blocks of K = ∂f/∂x of pairs of nodes, (h, 6, 9) [N/m], of hinges `start` to `stop`.

    weights: (h, 4). stiffness: (h,) [N/m].
    """
    for h in range(start, stop):
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                value = -stiffness[h] * (weights[h, a] * weights[h, b])
                for i in range(9):
                    blocks[h, pair, i] = value if i % 4 == 0 else 0.0
                pair += 1
