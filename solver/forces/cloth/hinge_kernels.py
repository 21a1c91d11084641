"""Angle of a hinge and its first and second derivatives by positions.

Edge e from a to b, opposite corners c and d, N = e × (c − a) and M = (d − a) × e, e·e = l²:

    ∂θ/∂c = −l N/|N|²,  ∂θ/∂d = −l M/|M|²,  ∂θ/∂b = −s ∂θ/∂c − r ∂θ/∂d,  ∂θ/∂a = −(1−s) ∂θ/∂c − (1−r) ∂θ/∂d

with s and r the coordinates of c and d along the edge, 0 at a and 1 at b.
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel

THINNEST = 1.0e-4  #: of a face's |N|² at rest: lower bound of |N|² in gradients of the angle


@kernel("f8(f8[:,::1], i4[::1], f8[::1], f8[:,::1])")
def slope(x, nodes, squares, out):  # type: ignore[no-untyped-def]
    """Return the angle of a hinge [rad], 0 where both faces are coplanar; write its gradient into out (9, 3).

    x: (n, 3) [m]. nodes: (4,). squares: |N|² and |M|² at rest, (2,). Rows of `out`: ∂θ/∂x of the four nodes, e, N, M,
    then l, 1/|N|², 1/|M|², then s, r.
    """
    a, b, c, d = nodes[0], nodes[1], nodes[2], nodes[3]
    along, over = 0.0, 0.0
    ee = 0.0
    for i in range(3):
        e, u, v = x[b, i] - x[a, i], x[c, i] - x[a, i], x[d, i] - x[a, i]
        out[4, i] = e
        ee += e * e
        along += e * u
        over += e * v
    n2, m2, both = 0.0, 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        n = out[4, j] * (x[c, k] - x[a, k]) - out[4, k] * (x[c, j] - x[a, j])
        m = (x[d, j] - x[a, j]) * out[4, k] - (x[d, k] - x[a, k]) * out[4, j]
        out[5, i], out[6, i] = n, m
        n2 += n * n
        m2 += m * m
        both += n * m
    ee = max(ee, 1.0e-300)
    length = np.sqrt(ee)
    triple = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        triple += out[4, i] * (out[5, j] * out[6, k] - out[5, k] * out[6, j])
    theta = np.arctan2(triple / length, both)
    inverse_n, inverse_m = 1.0 / max(n2, THINNEST * squares[0]), 1.0 / max(m2, THINNEST * squares[1])
    s, r = along / ee, over / ee
    out[7, 0], out[7, 1], out[7, 2] = length, inverse_n, inverse_m
    out[8, 0], out[8, 1] = s, r
    for i in range(3):
        of_c, of_d = -length * inverse_n * out[5, i], -length * inverse_m * out[6, i]
        out[2, i], out[3, i] = of_c, of_d
        out[1, i] = -s * of_c - r * of_d
        out[0, i] = -(1.0 - s) * of_c - (1.0 - r) * of_d
    return theta


@kernel("void(f8[:,::1], i4[:,::1], f8[::1])")
def angles(x, nodes, out):  # type: ignore[no-untyped-def]
    """Write angles of hinges, nodes (h, 4), at positions x (n, 3) [m] into out (h,) [rad]."""
    work, squares = np.empty((9, 3)), np.ones(2)
    for h in range(nodes.shape[0]):
        out[h] = slope(x, nodes[h], squares, work)


@kernel("f8(f8, f8)")
def measure_opening(theta, rest):  # type: ignore[no-untyped-def]
    """Return θ − θ̄ [rad], wrapped to at most half a turn."""
    return theta - rest - 2.0 * np.pi * np.round((theta - rest) / (2.0 * np.pi))


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[:,::1], f8[:,:,::1], f8[::1])")
def measure(start, stop, x, nodes, stiffness, rest, squares, forces, energies):  # type: ignore[no-untyped-def]
    """Write forces (h, 4, 3) [N] and energies (h,) [J] of hinges `start` to `stop`.

    x: (n, 3) [m]. nodes: (h, 4). stiffness: (h,) [N m]. rest: θ̄, (h,). squares: |N|², |M|² at rest, (h, 2) [m⁴].
    """
    work = np.empty((9, 3))
    for h in range(start, stop):
        bend = measure_opening(slope(x, nodes[h], squares[h], work), rest[h])
        energies[h] = 0.5 * stiffness[h] * bend * bend
        for a in range(4):
            for i in range(3):
                forces[h, a, i] = -stiffness[h] * bend * work[a, i]


@kernel("void(f8[:,::1], i4[::1], f8[:,::1], f8[:,:,::1])")
def bend_of_angle(x, nodes, work, out):  # type: ignore[no-untyped-def]
    """Write ∂²θ/∂x² of the pairs (1, 0), (2, 0), (2, 1), (3, 0), (3, 1) of nodes into out (5, 3, 3), rows of the first
    node.

    That of the pair (3, 2) is zero. x: (n, 3) [m]. nodes: (4,). work: (9, 3), from `slope`.
    """
    a, b = nodes[0], nodes[1]
    length = work[7, 0]
    for side in range(2):
        far, sign = nodes[2 + side], 1.0 - 2.0 * side
        inverse = work[7, 1 + side]
        for end in range(2):
            # N changes by w × δ where an end moves by δ
            near = b if end == 0 else a
            toward = sign if end == 0 else -sign
            w0, w1, w2 = toward * (x[far, 0] - x[near, 0]), toward * (x[far, 1] - x[near, 1]), \
                toward * (x[far, 2] - x[near, 2])
            grows = -1.0 if end == 0 else 1.0
            for j in range(3):
                y0 = w1 * (1.0 if j == 2 else 0.0) - w2 * (1.0 if j == 1 else 0.0)
                y1 = w2 * (1.0 if j == 0 else 0.0) - w0 * (1.0 if j == 2 else 0.0)
                y2 = w0 * (1.0 if j == 1 else 0.0) - w1 * (1.0 if j == 0 else 0.0)
                along = 2.0 * inverse * (work[5 + side, 0] * y0 + work[5 + side, 1] * y1 + work[5 + side, 2] * y2)
                longer = grows * work[4, j] / length
                for i in range(3):
                    y = y0 if i == 0 else y1 if i == 1 else y2
                    n = work[5 + side, i]
                    out[1 + 2 * side + end, i, j] = -inverse * (n * longer + length * (y - along * n))
    s, r = work[8, 0], work[8, 1]
    for j in range(3):
        e = work[4, j]
        of_s = ((2.0 * s - 1.0) * e - (x[nodes[2], j] - x[a, j])) / (length * length)
        of_r = ((2.0 * r - 1.0) * e - (x[nodes[3], j] - x[a, j])) / (length * length)
        for i in range(3):
            out[0, i, j] = -s * out[1, i, j] - r * out[3, i, j] - work[2, i] * of_s - work[3, i] * of_r


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[:,::1], b1, f8[:,:,::1], f8[:,:,::1])")
def fill(start, stop, x, nodes, stiffness, rest, squares, project, forces, blocks):  # type: ignore[no-untyped-def]
    """Write forces (h, 4, 3) [N] and blocks of K = ∂f/∂x of pairs of nodes, (h, 6, 9) [N/m], of hinges `start` to
    `stop`.

    x: (n, 3) [m]. nodes: (h, 4). stiffness: (h,) [N m]. rest: θ̄, (h,). squares: |N|², |M|² at rest, (h, 2) [m⁴]. If
    `project`, K is −k ∂θ ∂θᵀ alone, negative semi-definite.
    """
    work, bends = np.empty((9, 3)), np.zeros((5, 3, 3))
    for h in range(start, stop):
        k = stiffness[h]
        bend = measure_opening(slope(x, nodes[h], squares[h], work), rest[h])
        if not project:
            bend_of_angle(x, nodes[h], work, bends)
        pair = 0
        for a in range(4):
            for i in range(3):
                forces[h, a, i] = -k * bend * work[a, i]
            for b in range(a):
                for i in range(3):
                    for j in range(3):
                        more = bend * bends[pair, i, j] if not project and pair < 5 else 0.0
                        blocks[h, pair, 3 * i + j] = -k * (work[a, i] * work[b, j] + more)
                pair += 1
