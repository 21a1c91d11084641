"""Queries of a triangle mesh in material space, over arrays with capacity for more.

MESH is a tuple of arrays that all kernels here take:

    x (n, 3), material (n, 2), v (n, 3), slide (n, 2), metric (n, 3), on (n,), kept (n,): values of vertices
    faces (m, 3), −1 in a dead one; across (m, 3): the face beyond the edge opposite to a corner, −1 at the border
    at (n,): a face of each vertex, −1 of a dead one
    counts (3,): rows of vertices and of faces in use, dead ones too, and how many point features there are
    ends (E, 2): point features at the ends of each edge feature

An edge is given by a face and the corner opposite to it. A face has corners c, a, b in order from that one on.
"""

from __future__ import annotations

import numpy as np

from ..threads import inlined, kernel

MESH = ("Tuple((f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], i4[::1], b1[::1], i4[:,::1], i4[:,::1], i4[::1],"
        " i8[::1], i4[:,::1]))")

VERTICES, FACES, POINTS = 0, 1, 2  #: places in counts
WIDEST = 64  #: faces around a vertex; where there are more nothing is changed
FREE = -2  #: no feature at all


@inlined
def corner_of(faces, f, vertex):  # type: ignore[no-untyped-def]
    """Which corner of a face a vertex is."""
    if faces[f, 0] == vertex:
        return 0
    return 1 if faces[f, 1] == vertex else 2


@inlined
def far_corner(across, g, f):  # type: ignore[no-untyped-def]
    """Which corner of g stands opposite to the edge that it has in common with f."""
    if across[g, 0] == f:
        return 0
    return 1 if across[g, 1] == f else 2


@inlined
def wedge(material, a, b, c):  # type: ignore[no-untyped-def]
    """Twice the area of a triangle in material space."""
    return ((material[b, 0] - material[a, 0]) * (material[c, 1] - material[a, 1])
            - (material[b, 1] - material[a, 1]) * (material[c, 0] - material[a, 0]))


@inlined
def sharpness(p0, p1, q0, q1, r0, r1):  # type: ignore[no-untyped-def]
    """tan of the smallest angle of the triangle p, q, r in the plane, negative where it is turned over."""
    a, b, c = (r0 - q0) ** 2 + (r1 - q1) ** 2, (p0 - r0) ** 2 + (p1 - r1) ** 2, (q0 - p0) ** 2 + (q1 - p1) ** 2
    twice = (q0 - p0) * (r1 - p1) - (q1 - p1) * (r0 - p0)
    # the smallest angle is opposite to the shortest edge: tan = 2·(2A) / (sum of the others² − its own²)
    return 2.0 * twice / max(a + b + c - 2.0 * min(a, min(b, c)), 1e-300)


@kernel(f"f8({MESH}, i8, i8, i8)")
def sharpness_of(mesh, a, b, c):  # type: ignore[no-untyped-def]
    """tan of the smallest angle in material space of a triangle of three vertices, negative where turned over."""
    X = mesh[1]
    return sharpness(X[a, 0], X[a, 1], X[b, 0], X[b, 1], X[c, 0], X[c, 1])


@kernel("i8(i8, i8, i8, i4[:,::1])")
def common_feature(first, second, points, ends):  # type: ignore[no-untyped-def]
    """Number of the edge feature that both of these features are on, FREE where there is none. An edge of the mesh
    between two such vertices is conformal."""
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
    """The edge feature that an edge between two vertices would lie on, FREE where none."""
    on, counts, ends = mesh[5], mesh[10], mesh[11]
    if on[a] < 0 or on[b] < 0:
        return FREE
    return common_feature(on[a], on[b], counts[POINTS], ends)


@kernel(f"i8({MESH}, i8, i4[::1])")
def ring(mesh, vertex, out):  # type: ignore[no-untyped-def]
    """Faces around a vertex as they follow each other to the left, from the border on where it is there.

    How many; negative at the border; 0 where there are more than `out` has room for.
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
    """3 f + k of the edge between two vertices: corner k of face f is opposite to it; −1 where there is none."""
    faces = mesh[7]
    around = np.empty(WIDEST, np.int32)
    for f in around[:abs(ring(mesh, a, around))]:
        k = corner_of(faces, f, a)
        if faces[f, (k + 1) % 3] == b:
            return 3 * f + (k + 2) % 3
        if faces[f, (k + 2) % 3] == b:
            return 3 * f + (k + 1) % 3
    return -1
