"""Kernel: the nearest places on a run of edges."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("void(f8[:,::1], i4[:,::1], i8, i8, b1, f8[:,::1], i4[::1], f8[::1], f8[:,::1])")
def nearest_on_run(points, edges, first, last, has_ends, x, edge, share, place):  # type: ignore[no-untyped-def]
    """Write of points x (k, 3) as `Runs.nearest` has it, for the run of edges first to last of (E, 2). has_ends: it is
    no ring."""
    for k in range(x.shape[0]):
        least = np.inf
        for e in range(first, last):
            a, b = edges[e, 0], edges[e, 1]
            along = square = 0.0
            for i in range(3):
                along += (x[k, i] - points[a, i]) * (points[b, i] - points[a, i])
                square += (points[b, i] - points[a, i]) ** 2
            t = along / square
            inner = min(max(t, 0.0), 1.0)
            off = 0.0
            for i in range(3):
                off += (x[k, i] - points[a, i] - inner * (points[b, i] - points[a, i])) ** 2
            if off < least:
                least, edge[k], share[k] = off, e, inner
                if has_ends and ((e == first and t < 0.0) or (e == last - 1 and t > 1.0)):
                    share[k] = t
                for i in range(3):
                    place[k, i] = points[a, i] + inner * (points[b, i] - points[a, i])


@kernel("void(f8[:,::1], i4[:,::1], i4[::1], i4[:,::1], f8[:,::1], i4[::1])")
def edges_under(points, edges, first, ends, x, on):  # type: ignore[no-untyped-def]
    """Write the nearest edge over the run of each vertex at x (n, 3) that is on one, both numbered after the points.
    first: edge of each run, (R + 1,). ends: corners of each, (R, 2)."""
    edge, share, place, count = np.empty(1, np.int32), np.empty(1), np.empty((1, 3)), points.shape[0]
    for v in range(on.shape[0]):
        run = on[v] - count
        if run >= 0:
            nearest_on_run(points, edges, first[run], first[run + 1], ends[run, 0] >= 0, x[v : v + 1], edge, share,
                           place)
            on[v] = count + edge[0]
