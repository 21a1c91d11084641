"""Kernels of the edges of a working sheet, and of passings over runs that need no vertex."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("i8(i4[:,::1], i4[:,::1], i8, i4[:,::1])")
def living_edges(faces, across, count, ends):  # type: ignore[no-untyped-def]
    """Write the ends of each edge of the first `count` faces once to `ends`, (e, 2); return their number.

    Removed faces are left out. faces, across: (m, 3), see `mesh_kernels`.
    """
    living = 0
    for f in range(count):
        if faces[f, 0] < 0:
            continue
        for k in range(3):
            if across[f, k] < 0 or f < across[f, k]:
                ends[living, 0], ends[living, 1] = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
                living += 1
    return living


@kernel("void(i4[:,::1], i4[::1], i4[::1], i4[:,::1], i8, i4[::1], i4[::1], b1[::1], f8[:,::1], f8[:,::1], f8, f8,"
        " b1[::1])")
def mark_redundant(  # type: ignore[no-untyped-def]
        edges, of, run, run_ends, points, on, at, left, positions, corners, taken_near, near, out):
    """Write to `out`, (k,), which passings of edges over runs need no vertex.

    These are passings of an edge with an end on the run, or on a corner of the run, or with an end that has just left a
    feature, `left` (n,); and passings so near to a corner of the run that the corner replaces them. edges: (e, 2). of:
    edge of each passing, (k,). run: (k,). run_ends: corners of each run, (R, 2). points: number of point features. on:
    feature of each vertex, (n,). positions: of passings, (k, 3) [m]. corners: positions of points, (P, 3) [m].
    taken_near, near: distances to a corner with and without a vertex on it [m].
    """
    taken = np.zeros(points, np.bool_)
    for i in range(left.shape[0]):
        if at[i] >= 0 and 0 <= on[i] < points:
            taken[on[i]] = True
    for k in range(of.shape[0]):
        out[k] = False
        for side in range(2):
            vertex = edges[of[k], side]
            out[k] |= left[vertex] or on[vertex] == points + run[k]
            for end in range(2):
                corner = run_ends[run[k], end]
                out[k] |= corner >= 0 and on[vertex] == corner
        for end in range(2):
            corner = run_ends[run[k], end]
            if corner >= 0:
                square = 0.0
                for i in range(3):
                    square += (positions[k, i] - corners[corner, i]) ** 2
                out[k] |= np.sqrt(square) <= (taken_near if taken[corner] else near)
