"""Kernel of pressure in a closed surface, edge by edge."""

from __future__ import annotations

from ...threads import kernel


@kernel("f8(i4[:,::1], f8, f8[:,::1], f8[:,:,::1], f8[:,:,::1])")
def inflate(nodes, pressure, x, forces, blocks):  # type: ignore[no-untyped-def]
    """Return the energy −p V [J] of a closed surface; write forces (e, 4, 3) [N] and blocks of its edges.

    nodes: (e, 4), the ends a, b of each edge, the corner c of the triangle (a, b, c) and d of (b, a, d). pressure: p
    [Pa]. x: (n, 3) [m]. Writes K_ba = (p/6 ([x_d]× − [x_c]×))ᵀ [N/m] as the first pair of as many edges as `blocks` has
    rows.
    """
    volume, sixth = 0.0, pressure / 6.0
    for e in range(nodes.shape[0]):
        a, b, c, d = nodes[e, 0], nodes[e, 1], nodes[e, 2], nodes[e, 3]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            # a third of p/6 times the cross products of the other two corners, of both triangles
            forces[e, 0, i] = sixth / 3.0 * (x[b, j] * (x[c, k] - x[d, k]) - x[b, k] * (x[c, j] - x[d, j]))
            forces[e, 1, i] = sixth / 3.0 * ((x[c, j] - x[d, j]) * x[a, k] - (x[c, k] - x[d, k]) * x[a, j])
            forces[e, 2, i] = sixth / 3.0 * (x[a, j] * x[b, k] - x[a, k] * x[b, j])
            forces[e, 3, i] = -forces[e, 2, i]
            volume += (x[a, i] * (x[b, j] * (x[c, k] - x[d, k]) - x[b, k] * (x[c, j] - x[d, j]))) / 18.0
        if e < blocks.shape[0]:
            # K_ab = p/6 ([x_d]× − [x_c]×): rows of a; K_ba is its transpose
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                across = sixth * (x[d, i] - x[c, i])
                blocks[e, 0, 3 * j + k] = across
                blocks[e, 0, 3 * k + j] = -across
    return -pressure * volume
