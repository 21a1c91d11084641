"""Kernel that tests whether edges may pass through triangles, and decides all cases that are certain despite rounding.
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel

ROUNDING = 1.0e-9  #: relative to products of lengths: larger differences are not due to rounding


@kernel("b1(f8[:,::1], i4[:,::1], i4[:,::1])")
def may_intersect(x, corners, rows):  # type: ignore[no-untyped-def]
    """Return whether one of the pairs, rows (k, 2), may be an edge that passes through a triangle.

    x: positions, (n, 3) [m]. corners: nodes of each row, (m, 3), an edge's second node twice. A pair is certainly
    disjoint where the edge is on one side of the triangle's plane or of a perpendicular plane through a side of the
    triangle, where the triangle is on one side of the perpendicular plane through the edge, or where the edge's line
    misses the triangle.
    """
    u, v, w, p, q, s = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for k in range(rows.shape[0]):
        edge, face = rows[k, 0], rows[k, 1]
        uu = vv = pp = qq = ss = 0.0
        for i in range(3):
            first = x[corners[face, 0], i]
            # the edge's ends and two corners as seen from the first corner, and the third side
            u[i], v[i] = x[corners[edge, 0], i] - first, x[corners[edge, 1], i] - first
            p[i], q[i] = x[corners[face, 1], i] - first, x[corners[face, 2], i] - first
            w[i], s[i] = v[i] - u[i], q[i] - p[i]
            uu, vv, pp, qq, ss = uu + u[i] ** 2, vv + v[i] ** 2, pp + p[i] ** 2, qq + q[i] ** 2, ss + s[i] ** 2
        n0, n1, n2 = p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
        far, wide = np.sqrt(max(uu, vv)), np.sqrt(max(pp, qq, ss))
        # heights over the plane
        small = ROUNDING * wide * wide * far
        hu, hv = n0 * u[0] + n1 * u[1] + n2 * u[2], n0 * v[0] + n1 * v[1] + n2 * v[2]
        if min(hu, hv) > small or max(hu, hv) < -small:
            continue
        # on which side of the edge's line the triangle's sides pass it
        m0, m1, m2 = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
        of_p, of_q = m0 * p[0] + m1 * p[1] + m2 * p[2], m0 * q[0] + m1 * q[1] + m2 * q[2]
        one, two, three = of_p, hv - hu + of_q - of_p, -of_q
        small = 4.0 * ROUNDING * wide * far * max(far, wide)
        if min(one, two, three) < -small and max(one, two, three) > small:
            continue
        # planes at right angles to the triangle's, through its sides: their normals look inwards
        small = ROUNDING * wide**3 * max(far, wide)
        a0, a1, a2 = n1 * p[2] - n2 * p[1], n2 * p[0] - n0 * p[2], n0 * p[1] - n1 * p[0]
        b0, b1, b2 = n2 * q[1] - n1 * q[2], n0 * q[2] - n2 * q[0], n1 * q[0] - n0 * q[1]
        au, av = a0 * u[0] + a1 * u[1] + a2 * u[2], a0 * v[0] + a1 * v[1] + a2 * v[2]
        bu, bv = b0 * u[0] + b1 * u[1] + b2 * u[2], b0 * v[0] + b1 * v[1] + b2 * v[2]
        whole = n0 * n0 + n1 * n1 + n2 * n2
        if max(au, av) < -small or max(bu, bv) < -small or max(whole - au - bu, whole - av - bv) < -small:
            continue
        # and through the edge
        c0, c1, c2 = n1 * w[2] - n2 * w[1], n2 * w[0] - n0 * w[2], n0 * w[1] - n1 * w[0]
        at = c0 * u[0] + c1 * u[1] + c2 * u[2]
        of_p, of_q = c0 * p[0] + c1 * p[1] + c2 * p[2], c0 * q[0] + c1 * q[1] + c2 * q[2]
        small = ROUNDING * wide * wide * max(far, wide) ** 2
        if min(0.0, of_p, of_q) - at > small or at - max(0.0, of_p, of_q) > small:
            continue
        return True
    return False
