"""Kernels of the distance of a pair: of a point and a triangle, or of two edges.

The distance is |r|, r = Σ_a w_a x_a with the weights w of the two nearest points. The weights are linear in at most two
free parameters β, where a nearest point is inside a triangle or an edge; w'_i = ∂w/∂β_i.
"""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel

# entries of a pair's row of work: w (4), w'_1 (4), w'_2 (4), number of parameters, r (3), D = |r|²
WEIGHTS, SLOPES, FREE, DIFFERENCE, SQUARE, WORK = 0, 4, 12, 13, 16, 17


@inline
def _measure(x, nodes, out):  # type: ignore[no-untyped-def]
    """Write r and D = |r|² of a pair to its row of work, `out`, (WORK,), from the weights in it."""
    square = 0.0
    for i in range(3):
        # differences to one node, so that a body far from the origin loses nothing
        difference = (out[1] * (x[nodes[1], i] - x[nodes[0], i]) + out[2] * (x[nodes[2], i] - x[nodes[0], i])
                      + out[3] * (x[nodes[3], i] - x[nodes[0], i]))
        out[DIFFERENCE + i] = difference
        square += difference * difference
    out[SQUARE] = square


@kernel("void(f8[:,::1], i4[::1], f8[::1])")
def nearest_in_triangle(x, nodes, out):  # type: ignore[no-untyped-def]
    """Write the row of work of a point and a triangle to `out`, (WORK,): weights, slopes, number of parameters, r, D.

    x: positions, (n, 3) [m]. nodes: the point, then the triangle, (4,).
    """
    p, a, b, c = nodes[0], nodes[1], nodes[2], nodes[3]
    ab0, ab1, ab2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    ac0, ac1, ac2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    ap0, ap1, ap2 = x[p, 0] - x[a, 0], x[p, 1] - x[a, 1], x[p, 2] - x[a, 2]
    abab = ab0 * ab0 + ab1 * ab1 + ab2 * ab2
    abac = ab0 * ac0 + ab1 * ac1 + ab2 * ac2
    acac = ac0 * ac0 + ac1 * ac1 + ac2 * ac2
    d1 = ab0 * ap0 + ab1 * ap1 + ab2 * ap2
    d2 = ac0 * ap0 + ac1 * ap1 + ac2 * ap2
    d3, d4, d5, d6 = d1 - abab, d2 - abac, d1 - abac, d2 - acac
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    for i in range(WORK):
        out[i] = 0.0
    out[0] = 1.0
    first = second = -1  # the ends of the side that is nearest
    if d1 <= 0.0 and d2 <= 0.0:
        out[1] = -1.0
    elif d3 >= 0.0 and d4 <= d3:
        out[2] = -1.0
    elif d6 >= 0.0 and d5 <= d6:
        out[3] = -1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        first, second = 1, 2
        out[2] = -d1 / (d1 - d3)
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        first, second = 1, 3
        out[3] = -d2 / (d2 - d6)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        first, second = 2, 3
        out[3] = -(d4 - d3) / ((d4 - d3) + (d5 - d6))
    else:
        whole = va + vb + vc
        out[2], out[3] = -vb / whole, -vc / whole
        out[1] = -1.0 - out[2] - out[3]
        out[FREE] = 2.0
        out[SLOPES + 1], out[SLOPES + 2] = 1.0, -1.0
        out[SLOPES + 5], out[SLOPES + 7] = 1.0, -1.0
    if first >= 0:
        out[first] = -1.0 - out[second]
        out[FREE] = 1.0
        out[SLOPES + first], out[SLOPES + second] = 1.0, -1.0
    _measure(x, nodes, out)


@kernel("void(f8[:,::1], i4[::1], f8[::1])")
def nearest_on_edges(x, nodes, out):  # type: ignore[no-untyped-def]
    """Write the row of work of two edges to `out`, (WORK,): weights, slopes, number of parameters, r, D.

    x: positions, (n, 3) [m]. nodes: the ends of one edge, then those of the other, (4,).
    """
    a, b, c, d = nodes[0], nodes[1], nodes[2], nodes[3]
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[d, 0] - x[c, 0], x[d, 1] - x[c, 1], x[d, 2] - x[c, 2]
    r0, r1, r2 = x[a, 0] - x[c, 0], x[a, 1] - x[c, 1], x[a, 2] - x[c, 2]
    uu, vv, uv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2, u0 * v0 + u1 * v1 + u2 * v2
    ur, vr = u0 * r0 + u1 * r1 + u2 * r2, v0 * r0 + v1 * r1 + v2 * r2
    across = uu * vv - uv * uv  # 0 of parallel edges, which have no unique nearest points
    s = 0.0
    if across > 0.0:
        s = min(max((uv * vr - ur * vv) / across, 0.0), 1.0)
    t = (uv * s + vr) / vv
    if t < 0.0:
        t, s = 0.0, min(max(-ur / uu, 0.0), 1.0)
    elif t > 1.0:
        t, s = 1.0, min(max((uv - ur) / uu, 0.0), 1.0)
    for i in range(WORK):
        out[i] = 0.0
    out[0], out[1], out[2], out[3] = 1.0 - s, s, t - 1.0, -t
    free = 0
    if 0.0 < s < 1.0:
        out[SLOPES], out[SLOPES + 1] = -1.0, 1.0
        free = 1
    if 0.0 < t < 1.0 and (free == 0 or across > 0.0):
        out[SLOPES + 4 * free + 2], out[SLOPES + 4 * free + 3] = 1.0, -1.0
        free += 1
    out[FREE] = free
    _measure(x, nodes, out)


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], i8, f8[::1])")
def squares(start, stop, x, nodes, points, out):  # type: ignore[no-untyped-def]
    """Write the squared distances of pairs start to stop to `out`, (k,) [m²].

    x: positions, (n, 3) [m]. nodes: (k, 4), of which the first `points` pairs are of a point and a triangle.
    """
    work = np.empty(WORK)
    for k in range(start, stop):
        if k < points:
            nearest_in_triangle(x, nodes[k], work)
        else:
            nearest_on_edges(x, nodes[k], work)
        out[k] = work[SQUARE]
