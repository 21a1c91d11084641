"""Sweeps over a sheet's edges: split edges that are too long in the metric, flip edges that are not Delaunay in it."""

from __future__ import annotations

import numpy as np

from ..threads import inline, kernel
from .mesh_kernels import FACES, MESH, feature_of, find_opposite_corner, sharpness, sharpness_of, wedge
from .operations_kernels import DONE, flip, split_edge

FLIP_THRESHOLD = 1.0e-2  #: violation of Delaunay above which an edge is flipped, in squares of admissible lengths
POP = 0.03  #: of an edge's length: displacement of the surface in the world by a flip, at most
POP_REQUIRED = 1.0e-4  #: replaces POP at required vertices
NEEDLE = 0.9  #: relative to the small angle of a needle, which its halves have except for rounding
FLAT = 0.16  #: square of the height over the square of either side, in the metric: a face with its tip near an edge
TINY = 0.25  #: length in the metric below which an edge is collapsed even if others become too long and are split again


@inline
def length2(mesh, a, b):  # type: ignore[no-untyped-def]
    """Return the squared length uᵀ ½ (M_a + M_b) u of the edge a b in the metric; 1 is the longest admissible."""
    X, metric = mesh[1], mesh[4]
    u0, u1 = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1]
    return 0.5 * (u0 * u0 * (metric[a, 0] + metric[b, 0]) + 2.0 * u0 * u1 * (metric[a, 1] + metric[b, 1])
                  + u1 * u1 * (metric[a, 2] + metric[b, 2]))


@kernel(f"i8({MESH}, f8, f8, i8[::1], f8[::1])")
def edges_between(mesh, low, high, edges, lengths):  # type: ignore[no-untyped-def]
    """Write the edges with a length between `low` and `high` in the metric; return their number.

    edges: 3 f + k of each, face f and opposite corner k. lengths: in the metric.
    """
    faces, across, counts = mesh[7], mesh[8], mesh[10]
    count = 0
    for f in range(counts[FACES]):
        if faces[f, 0] < 0:
            continue
        for k in range(3):
            if across[f, k] > f:
                continue
            length = np.sqrt(length2(mesh, faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]))
            if low < length < high:
                edges[count], lengths[count] = 3 * f + k, length
                count += 1
    return count


@kernel(f"b1({MESH}, i8, i8, f8)")
def may_split(mesh, f, k, thinnest):  # type: ignore[no-untyped-def]
    """Return whether the edge opposite to corner k of face f may be split in its middle.

    No half may have an angle whose tan is below `thinnest` and below that of the whole face, nor be so flat that the
    new edge would be collapsed again. At the border, where no flip can help, a flat face may be split.
    """
    X, metric, faces, across = mesh[1], mesh[4], mesh[7], mesh[8]
    a, b = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
    m0, m1 = 0.5 * (X[a, 0] + X[b, 0]), 0.5 * (X[a, 1] + X[b, 1])
    for side in range(2):
        g = f if side == 0 else across[f, k]
        if g < 0:
            continue
        tip = faces[f, k] if side == 0 else faces[g, find_opposite_corner(across, g, f)]
        p, q = (a, b) if side == 0 else (b, a)
        halves = min(sharpness(X[tip, 0], X[tip, 1], X[p, 0], X[p, 1], m0, m1),
                     sharpness(X[tip, 0], X[tip, 1], m0, m1, X[q, 0], X[q, 1]))
        if halves < thinnest and halves < NEEDLE * sharpness_of(mesh, tip, p, q):
            return False
        u0, u1, height = X[tip, 0] - m0, X[tip, 1] - m1, 0.0
        for i in range(3):
            one = u0 * u0 if i == 0 else 2.0 * u0 * u1 if i == 1 else u1 * u1
            height += one * (0.25 * (metric[a, i] + metric[b, i]) + 0.5 * metric[tip, i])
        if (across[f, k] >= 0 and height < TINY * TINY
                and height < FLAT * min(length2(mesh, tip, p), length2(mesh, tip, q))):
            return False
    return True


@kernel(f"i8({MESH}, i8[::1], f8, i8)")
def split_long(mesh, edges, thinnest, most):  # type: ignore[no-untyped-def]
    """Split edges in their middle, at most one of each face, up to `most` faces in all; return the number of splits.

    edges: 3 f + k of each, face f and opposite corner k, the longest first. thinnest: as in `may_split`.
    """
    across, counts = mesh[8], mesh[10]
    before = counts[FACES]
    touched, done = np.zeros(before, np.bool_), 0
    for edge in edges:
        f, k = edge // 3, edge % 3
        g = across[f, k]
        if touched[f] or g >= before or (g >= 0 and touched[g]) or counts[FACES] + 2 > most:
            continue
        if may_split(mesh, f, k, thinnest):
            split_edge(mesh, f, k, 0.5)
            touched[f] = True
            if g >= 0:
                touched[g] = True
            done += 1
    return done


@inline
def leaning(mesh, w, z, x, y):  # type: ignore[no-untyped-def]
    """Return whether the edge x z, opposite to the corners w and y, is past Delaunay in the mean metric of all four."""
    X, metric = mesh[1], mesh[4]
    m00 = 0.25 * (metric[x, 0] + metric[y, 0] + metric[z, 0] + metric[w, 0])
    m01 = 0.25 * (metric[x, 1] + metric[y, 1] + metric[z, 1] + metric[w, 1])
    m11 = 0.25 * (metric[x, 2] + metric[y, 2] + metric[z, 2] + metric[w, 2])
    at_w, at_y = wedge(X, w, x, z), wedge(X, y, z, x)
    p0, p1, q0, q1 = X[x, 0] - X[w, 0], X[x, 1] - X[w, 1], X[z, 0] - X[w, 0], X[z, 1] - X[w, 1]
    of_w = m00 * p0 * q0 + m01 * (p0 * q1 + p1 * q0) + m11 * p1 * q1
    p0, p1, q0, q1 = X[x, 0] - X[y, 0], X[x, 1] - X[y, 1], X[z, 0] - X[y, 0], X[z, 1] - X[y, 1]
    of_y = m00 * p0 * q0 + m01 * (p0 * q1 + p1 * q0) + m11 * p1 * q1
    return at_y * of_w + of_y * at_w < -FLIP_THRESHOLD * (at_y + at_w)


@kernel(f"b1({MESH}, i8, i8, i8, i8)")
def pops(mesh, a, b, c, d):  # type: ignore[no-untyped-def]
    """Return whether flipping the edge a b to c d would move the surface in the world by too much.

    The bound is the fraction POP of the shorter of both edges, POP_REQUIRED of it where one of the vertices is
    required.
    """
    x, required = mesh[0], mesh[6]
    e, f, g = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        e[i], f[i], g[i] = x[b, i] - x[a, i], x[d, i] - x[c, i], x[c, i] - x[a, i]
    n0, n1, n2 = e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]
    gap = abs(n0 * g[0] + n1 * g[1] + n2 * g[2])
    ee, ff = e[0] ** 2 + e[1] ** 2 + e[2] ** 2, f[0] ** 2 + f[1] ** 2 + f[2] ** 2
    bound = POP_REQUIRED if required[a] or required[b] or required[c] or required[d] else POP
    return gap > bound * np.sqrt(min(ee, ff) * (n0 * n0 + n1 * n1 + n2 * n2))


@kernel(f"i8({MESH}, f8, i8)")
def flip_to_delaunay(mesh, thinnest, sweeps):  # type: ignore[no-untyped-def]
    """Flip edges until all are Delaunay in the metric, in at most `sweeps` sweeps; return the number of flips.

    Conformal edges are not flipped, and no flip makes one. thinnest: as in `flip`.
    """
    faces, across, counts = mesh[7], mesh[8], mesh[10]
    flipped = 0
    for _ in range(sweeps):
        before = flipped
        for f in range(counts[FACES]):
            if faces[f, 0] < 0:
                continue
            for k in range(3):
                g = across[f, k]
                if g < 0:
                    continue
                c, a, b = faces[f, k], faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
                d = faces[g, find_opposite_corner(across, g, f)]
                if leaning(mesh, c, b, a, d) and feature_of(mesh, c, d) < 0 and not pops(mesh, a, b, c, d):
                    flipped += 1 if flip(mesh, f, k, thinnest) == DONE else 0
        if flipped == before:
            break
    return flipped
