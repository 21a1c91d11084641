"""Queries of a triangle mesh in material space, over arrays with capacity for more rows.

MESH is a tuple of arrays that all kernels here take:

    x (n, 3), material (n, 2), v (n, 3), slide (n, 2), metric (n, 3), on (n,), required (n,): values of vertices
    faces (m, 3), −1 in a removed face; across (m, 3): the face beyond the edge opposite to a corner, −1 at the border
    at (n,): a face of each vertex, −1 for a removed vertex
    counts (3,): rows of vertices and of faces in use, with removed ones, and the number of point features
    ends (E, 2): point features at the ends of each edge feature

An edge is given by a face and the corner c opposite to it; the face has corners c, a, b in order.
"""

from __future__ import annotations

import numpy as np

from ..threads import inline, kernel

MESH = ("Tuple((f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], i4[::1], b1[::1], i4[:,::1], i4[:,::1], i4[::1],"
        " i8[::1], i4[:,::1]))")

VERTICES, FACES, POINTS = 0, 1, 2  #: indices in counts
WIDEST = 64  #: faces around a vertex, at most; vertices with more are not changed
FREE = -2  #: no feature at all


@inline
def corner_of(faces, f, vertex):  # type: ignore[no-untyped-def]
    """Return the corner of face f, 0 to 2, at which a vertex is."""
    if faces[f, 0] == vertex:
        return 0
    return 1 if faces[f, 1] == vertex else 2


@inline
def find_opposite_corner(across, g, f):  # type: ignore[no-untyped-def]
    """Return the corner of face g, 0 to 2, opposite to the edge that g shares with face f."""
    if across[g, 0] == f:
        return 0
    return 1 if across[g, 1] == f else 2


@inline
def wedge(material, a, b, c):  # type: ignore[no-untyped-def]
    """Return twice the signed area of the triangle a b c in material space [m²]."""
    return ((material[b, 0] - material[a, 0]) * (material[c, 1] - material[a, 1])
            - (material[b, 1] - material[a, 1]) * (material[c, 0] - material[a, 0]))


@inline
def sharpness(p0, p1, q0, q1, r0, r1):  # type: ignore[no-untyped-def]
    """Return tan of the smallest angle of the triangle p, q, r in the plane, negative if the triangle is inverted."""
    a, b, c = (r0 - q0) ** 2 + (r1 - q1) ** 2, (p0 - r0) ** 2 + (p1 - r1) ** 2, (q0 - p0) ** 2 + (q1 - p1) ** 2
    twice = (q0 - p0) * (r1 - p1) - (q1 - p1) * (r0 - p0)
    # the smallest angle is opposite to the shortest edge: tan = 2·(2A) / (sum of the others² − its own²)
    return 2.0 * twice / max(a + b + c - 2.0 * min(a, min(b, c)), 1e-300)


@kernel(f"f8({MESH}, i8, i8, i8)")
def sharpness_of(mesh, a, b, c):  # type: ignore[no-untyped-def]
    """Return tan of the smallest angle of the triangle of vertices a, b, c in material space, negative if inverted."""
    X = mesh[1]
    return sharpness(X[a, 0], X[a, 1], X[b, 0], X[b, 1], X[c, 0], X[c, 1])


@kernel("i8(i8, i8, i8, i4[:,::1])")
def find_common_feature(first, second, points, ends):  # type: ignore[no-untyped-def]
    """Return the number of the edge feature that has both features on it, FREE if there is none.

    An edge of the mesh between two vertices on such features is conformal. points: number of point features. ends:
    point features at the ends of each edge feature, (E, 2).
    """
    if first < 0 or second < 0:
        return FREE
    if first >= points and second >= points:
        return first if first == second else FREE
    if first < points and second < points:
        for e in range(ends.shape[0]):
            if (ends[e, 0] == first and ends[e, 1] == second) or (ends[e, 0] == second and ends[e, 1] == first):
                return points + e
        return FREE
    edge, point = max(first, second), min(first, second)
    e = edge - points
    return edge if e < ends.shape[0] and (ends[e, 0] == point or ends[e, 1] == point) else FREE


@kernel(f"i8({MESH}, i8, i8)")
def feature_of(mesh, a, b):  # type: ignore[no-untyped-def]
    """Return the edge feature along which an edge between vertices a and b would be, FREE if there is none."""
    on, counts, ends = mesh[5], mesh[10], mesh[11]
    if on[a] < 0 or on[b] < 0:
        return FREE
    return find_common_feature(on[a], on[b], counts[POINTS], ends)


@kernel(f"i8({MESH}, i8, i4[::1])")
def ring(mesh, vertex, out):  # type: ignore[no-untyped-def]
    """Write the faces around a vertex counterclockwise to `out`, starting at the border if the vertex is on it.

    Returns their number, negative at the border, 0 if there are more than `out` has room for.
    """
    faces, across, at = mesh[7], mesh[8], mesh[9]
    first = at[vertex]
    if first < 0:
        return 0
    f = first
    for _ in range(WIDEST + 1):
        before = across[f, (corner_of(faces, f, vertex) + 2) % 3]
        if before < 0 or before == first:
            break
        f = before
    open_end = across[f, (corner_of(faces, f, vertex) + 2) % 3] < 0
    count, start = 0, f
    while True:
        if count == out.shape[0]:
            return 0
        out[count] = f
        count += 1
        f = across[f, (corner_of(faces, f, vertex) + 1) % 3]
        if f < 0 or f == start:
            break
    return -count if open_end else count


@kernel(f"i8({MESH}, i8, i8)")
def find_edge(mesh, a, b):  # type: ignore[no-untyped-def]
    """Return 3 f + k for the edge between vertices a and b, opposite to corner k of face f; −1 if there is no edge."""
    faces = mesh[7]
    around = np.empty(WIDEST, np.int32)
    for f in around[:abs(ring(mesh, a, around))]:
        k = corner_of(faces, f, a)
        if faces[f, (k + 1) % 3] == b:
            return 3 * f + (k + 2) % 3
        if faces[f, (k + 2) % 3] == b:
            return 3 * f + (k + 1) % 3
    return -1
