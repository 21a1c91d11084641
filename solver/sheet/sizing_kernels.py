"""Kernels of the metric M of each vertex: an edge u in material space has the largest admissible length at uᵀ M u = 1.

    M = |S|²/angle² + Gᵀ G/speed² + 3/8 Σ max(1 − σ, 0)/sag² w wᵀ

|S| is the mean of the faces' |½ Σ θ |e| t tᵀ|/A over the edges e of a face, with θ the angle that the cloth bends there
and t across it: the curvature [1/m]. Conformal edges are left out, they bend exactly. G is the gradient of the world
velocity in material space [1/s]. σ, w are the singular values and directions of F: a length l that is
compressed by ε buckles by l √(3 ε/8).
"""

from __future__ import annotations

import numpy as np

from ..threads import inline, kernel
from .mesh_kernels import FACES, MESH, VERTICES, WIDEST, feature_of, find_opposite_corner, ring, wedge

ANGLE, SPEED, SAG, SMALLEST, LARGEST, NARROWEST, BEGINS = range(7)  #: indices in a row of `limits`


@inline
def root(a, b, d):  # type: ignore[no-untyped-def]
    """Return the square root of the positive semi-definite matrix a b, b d, as entries 00, 01, 11."""
    of_product = np.sqrt(max(a * d - b * b, 0.0))
    of_sum = np.sqrt(max(a + d + 2.0 * of_product, 1e-300))
    return (a + of_product) / of_sum, b / of_sum, (d + of_product) / of_sum


@inline
def spectrum(a, b, d):  # type: ignore[no-untyped-def]
    """Return the larger and the smaller eigenvalue of the matrix a b, b d, and the unit eigenvector of the larger."""
    half, off = 0.5 * (a - d), np.sqrt(0.25 * (a - d) ** 2 + b * b)
    c, s = (half + off, b) if half > 0.0 else (b, off - half)
    size = np.sqrt(c * c + s * s)
    if size == 0.0:
        return 0.5 * (a + d), 0.5 * (a + d), 1.0, 0.0
    return 0.5 * (a + d) + off, 0.5 * (a + d) - off, c / size, s / size


@inline
def normal_of(x, faces, f):  # type: ignore[no-untyped-def]
    """Return the normal of face f in the world, as long as twice its area [m²]."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    p0, p1, p2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    q0, q1, q2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    return p1 * q2 - p2 * q1, p2 * q0 - p0 * q2, p0 * q1 - p1 * q0


@inline
def fold_of(mesh, f, k):  # type: ignore[no-untyped-def]
    """Return the signed bend angle [rad] at the edge opposite to corner k of face f; 0 if conformal or at the
    border."""
    x, faces, across = mesh[0], mesh[7], mesh[8]
    g, a, b = across[f, k], faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
    if g < 0 or feature_of(mesh, a, b) >= 0:
        return 0.0
    n0, n1, n2 = normal_of(x, faces, f)
    m0, m1, m2 = normal_of(x, faces, g)
    c0, c1, c2 = n1 * m2 - n2 * m1, n2 * m0 - n0 * m2, n0 * m1 - n1 * m0
    theta = np.arctan2(np.sqrt(c0 * c0 + c1 * c1 + c2 * c2), n0 * m0 + n1 * m1 + n2 * m2)
    # the far corner determines the sign of the bend
    d = faces[g, find_opposite_corner(across, g, f)]
    return -theta if n0 * (x[d, 0] - x[a, 0]) + n1 * (x[d, 1] - x[a, 1]) + n2 * (x[d, 2] - x[a, 2]) < 0.0 else theta


@kernel(f"void({MESH}, i8, f8[::1], f8[::1])")
def bend_of(mesh, f, folds, out):  # type: ignore[no-untyped-def]
    """Write |S| of face f, entries 00, 01, 11 [1/m], to `out`, (3,). folds: bend angles at its edges, (3,) [rad]."""
    X, faces = mesh[1], mesh[7]
    twice = wedge(X, faces[f, 0], faces[f, 1], faces[f, 2])
    s00, s01, s11 = 0.0, 0.0, 0.0
    for k in range(3):
        if folds[k] == 0.0:
            continue
        a, b = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        e0, e1 = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1]
        weight = folds[k] / (np.sqrt(e0 * e0 + e1 * e1) * twice)
        s00 += weight * e1 * e1
        s01 -= weight * e0 * e1
        s11 += weight * e0 * e0
    out[0], out[1], out[2] = root(s00 * s00 + s01 * s01, s01 * (s00 + s11), s01 * s01 + s11 * s11)


@kernel(f"void({MESH}, i8, f8[:,::1], f8[::1])")
def strain_of(mesh, f, limits, out):  # type: ignore[no-untyped-def]
    """Write the sizing of face f for velocity and compression, entries 00, 01, 11 [1/m²], to `out`, (3,).

    limits: as in `measure_sizing`.
    """
    x, X, v, slide, faces = mesh[0], mesh[1], mesh[2], mesh[3], mesh[7]
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    twice = wedge(X, a, b, c)
    i00, i01 = (X[c, 1] - X[a, 1]) / twice, -(X[c, 0] - X[a, 0]) / twice
    i10, i11 = -(X[b, 1] - X[a, 1]) / twice, (X[b, 0] - X[a, 0]) / twice
    # how Ẋ changes along material space
    l00 = (slide[b, 0] - slide[a, 0]) * i00 + (slide[c, 0] - slide[a, 0]) * i10
    l01 = (slide[b, 0] - slide[a, 0]) * i01 + (slide[c, 0] - slide[a, 0]) * i11
    l10 = (slide[b, 1] - slide[a, 1]) * i00 + (slide[c, 1] - slide[a, 1]) * i10
    l11 = (slide[b, 1] - slide[a, 1]) * i01 + (slide[c, 1] - slide[a, 1]) * i11
    g00, g01, g11, c00, c01, c11 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        p, q = x[b, i] - x[a, i], x[c, i] - x[a, i]
        f0, f1 = p * i00 + q * i10, p * i01 + q * i11
        c00 += f0 * f0
        c01 += f0 * f1
        c11 += f1 * f1
        p, q = v[b, i] - v[a, i], v[c, i] - v[a, i]
        w0 = p * i00 + q * i10 - f0 * l00 - f1 * l10
        w1 = p * i01 + q * i11 - f0 * l01 - f1 * l11
        g00 += w0 * w0
        g01 += w0 * w1
        g11 += w1 * w1
    per = 1.0 / (limits[0, SPEED] * limits[0, SPEED])
    most, least, c, s = spectrum(c00, c01, c11)
    press = 0.375 / (limits[0, SAG] * limits[0, SAG])
    along = press * max(1.0 - np.sqrt(max(most, 0.0)), 0.0)
    over = press * max(1.0 - np.sqrt(max(least, 0.0)), 0.0)
    out[0] = per * g00 + along * c * c + over * s * s
    out[1] = per * g01 + (along - over) * c * s
    out[2] = per * g11 + along * s * s + over * c * c


@kernel("void(f8[::1], f8, f8[:,::1], f8[::1])")
def metric_of(sums, u, limits, out):  # type: ignore[no-untyped-def]
    """Write the metric of a vertex, entries 00, 01, 11 [1/m²], to `out`, (3,), from the sizing of the faces around it.

    sums: of the faces' areas times |S|, of their areas times the sizing of `strain_of`, and of their areas, (7,). u:
    first material coordinate of the vertex [m]. limits: as in `measure_sizing`.
    """
    row = 0
    while row + 1 < limits.shape[0] and u >= limits[row + 1, BEGINS]:
        row += 1
    coarsest, finest, per = (1.0 / limits[row, LARGEST] ** 2, 1.0 / limits[row, SMALLEST] ** 2,
                             1.0 / limits[row, ANGLE] ** 2)
    whole = sums[6]
    s00, s01, s11 = sums[0] / whole, sums[1] / whole, sums[2] / whole
    more, less, c, s = spectrum(per * (s00 * s00 + s01 * s01) + sums[3] / whole,
                                per * s01 * (s00 + s11) + sums[4] / whole,
                                per * (s01 * s01 + s11 * s11) + sums[5] / whole)
    more = min(max(more, coarsest), finest)
    less = max(min(max(less, coarsest), finest), more * limits[row, NARROWEST] ** 2)
    out[0], out[1], out[2] = more * c * c + less * s * s, (more - less) * c * s, more * s * s + less * c * c


@inline
def add_face(mesh, f, folds, limits, requested, sums):  # type: ignore[no-untyped-def]
    """Write the sizing of face f to `requested`, (6,), and add it times twice the area to `sums`, (7,), that area last.

    folds: bend angles at its edges, (3,) [rad]. limits: as in `measure_sizing`.
    """
    X, faces = mesh[1], mesh[7]
    area = wedge(X, faces[f, 0], faces[f, 1], faces[f, 2])
    bend_of(mesh, f, folds, requested[:3])
    strain_of(mesh, f, limits, requested[3:])
    for i in range(6):
        sums[i] += area * requested[i]
    sums[6] += area


@inline
def is_other(faces, across, f, known):  # type: ignore[no-untyped-def]
    """Return whether the corners or the neighbours of face f differ from the stored ones, known (m, 6)."""
    for k in range(3):
        if faces[f, k] != known[f, k] or across[f, k] != known[f, 3 + k]:
            return True
    return False


@kernel(f"void({MESH}, f8[:,::1], i4[:,::1], f8[:,::1], f8[:,::1])")
def measure_sizing(mesh, limits, known, requested, work):  # type: ignore[no-untyped-def]
    """Write the metric of each vertex, entries 00, 01, 11 [1/m²].

    limits: of each sheet, (s, 7): ANGLE [rad], SPEED [m/s], SAG [m]; SMALLEST, LARGEST: bounds of the longest edge [m];
    NARROWEST: the shortest over the longest at one vertex; BEGINS: the first u of its material; the first row's SPEED
    and SAG apply to all sheets. known: corners and neighbours of faces when they were last measured, (m, 6). requested:
    sizing and folds of these faces, (m, 10): only faces that have changed are measured again. work: (rows of vertices,
    7), scratch space.
    """
    metric, faces, across, counts = mesh[4], mesh[7], mesh[8], mesh[10]
    n, m = counts[VERTICES], counts[FACES]
    of_face, changed = np.empty(6), np.empty(m, np.bool_)
    for i in range(n):
        for k in range(7):
            work[i, k] = 0.0
    for f in range(m):
        changed[f] = is_other(faces, across, f, known)
    for f in range(m):
        if faces[f, 0] < 0:
            continue
        is_stale = changed[f]
        for k in range(3):
            is_stale = is_stale or (across[f, k] >= 0 and changed[across[f, k]])
        if is_stale:
            # both faces of an edge have the same fold
            for k in range(3):
                g = across[f, k]
                requested[f, 7 + k] = (requested[g, 7 + find_opposite_corner(across, g, f)] if 0 <= g < f
                                       else fold_of(mesh, f, k))
            requested[f, :7] = 0.0
            add_face(mesh, f, requested[f, 7:], limits, of_face, requested[f, :7])
        for k in range(3):
            for i in range(7):
                work[faces[f, k], i] += requested[f, i]
    for f in range(m):
        for k in range(3):
            known[f, k], known[f, 3 + k] = faces[f, k], across[f, k]
    for i in range(n):
        if work[i, 6] > 0.0:
            metric_of(work[i], mesh[1][i, 0], limits, metric[i])


@kernel(f"void({MESH}, i8, f8[:,::1], f8[::1])")
def measure_vertex(mesh, vertex, limits, out):  # type: ignore[no-untyped-def]
    """Write the metric of a single vertex, entries 00, 01, 11 [1/m²], to `out`, (3,). limits: as in
    `measure_sizing`."""
    around, requested, sums, folds = np.empty(WIDEST, np.int32), np.empty(6), np.zeros(7), np.empty(3)
    for f in around[:abs(ring(mesh, vertex, around))]:
        for k in range(3):
            folds[k] = fold_of(mesh, f, k)
        add_face(mesh, f, folds, limits, requested, sums)
    if sums[6] > 0.0:
        metric_of(sums, mesh[1][vertex, 0], limits, out)
