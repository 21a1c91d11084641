"""Kernels of the nearest positions on a run of edges."""

from __future__ import annotations

import numpy as np

from ..threads import kernel


@kernel("void(f8[:,::1], i4[:,::1], i8, i8, b1, f8[:,::1], i4[::1], f8[::1], f8[:,::1])")
def nearest_on_run(points, edges, first, last, has_ends, x, edge, fraction, position):  # type: ignore[no-untyped-def]
    """Write the nearest edge, (k,), fraction along it, (k,), and position there, (k, 3) [m], for points x, (k, 3) [m].

    Fractions are unclamped at the ends of the run, positions are clamped. points: (P, 3) [m]. edges: (E, 2), those of
    the run are first to last. has_ends: whether the run is no ring.
    """
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
                least, edge[k], fraction[k] = off, e, inner
                if has_ends and ((e == first and t < 0.0) or (e == last - 1 and t > 1.0)):
                    fraction[k] = t
                for i in range(3):
                    position[k, i] = points[a, i] + inner * (points[b, i] - points[a, i])


@kernel("void(f8[:,::1], i4[:,::1], i4[::1], i4[:,::1], f8[:,::1], i4[::1])")
def edges_under(points, edges, first, ends, x, on):  # type: ignore[no-untyped-def]
    """Replace numbers of runs in `on`, (n,), by those of the edges nearest to the vertices, both after the points.

    points: (P, 3) [m]. edges: (E, 2). first: first edge of each run, (R + 1,). ends: corners of each run, (R, 2), −1
    for a ring. x: positions of vertices, (n, 3) [m].
    """
    edge, fraction, position, count = np.empty(1, np.int32), np.empty(1), np.empty((1, 3)), points.shape[0]
    for v in range(on.shape[0]):
        run = on[v] - count
        if run >= 0:
            nearest_on_run(points, edges, first[run], first[run + 1], ends[run, 0] >= 0, x[v : v + 1], edge, fraction,
                           position)
            on[v] = count + edge[0]
