"""Kernels: a working sheet's edges, and which of its passings over runs stand already."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("i8(i4[:,::1], i4[:,::1], i8, i4[:,::1])")
def living_edges(faces, across, count, ends):  # type: ignore[no-untyped-def]
    """Write the ends of each edge of so many faces once, (e, 2), dead ones left out; how many there are."""
    found = 0
    for f in range(count):
        if faces[f, 0] < 0:
            continue
        for k in range(3):
            if across[f, k] < 0 or f < across[f, k]:
                ends[found, 0], ends[found, 1] = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
                found += 1
    return found


@kernel("void(i4[:,::1], i4[::1], i4[::1], i4[:,::1], i8, i4[::1], i4[::1], b1[::1], f8[:,::1], f8[:,::1], f8, f8,"
        " b1[::1])")
def stand_already(  # type: ignore[no-untyped-def]
        edges, of, run, run_ends, points, on, at, left, places, corners, taken_near, near, out):
    """Write which passings (k,), of edges `of` at places (k, 3) of runs, need no vertex: one end of the edge is on the
    run or an end of it, or left (n,) a feature just now and is not put back by what is joined to it; or the place is as
    good as at an end of the run, the corner stands for it. taken_near, near: how near that is [m] where a vertex is on
    the corner, and where none is."""
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
                    square += (places[k, i] - corners[corner, i]) ** 2
                out[k] |= np.sqrt(square) <= (taken_near if taken[corner] else near)
