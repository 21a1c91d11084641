"""Search of the tetrahedra that contain points: a uniform grid of cells, each with the tetrahedra whose boxes touch it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..state import Index, Vec
from ..threads import kernel

INSIDE = -1e-9  #: smallest barycentric weight that still counts as inside
MOST_ENTRIES = 30  #: of the grid for each tetrahedron, on average


def containing_tets(nodes: Vec, tets: Index, part_of_tet: Index, points: Vec, part_of_point: Index,
                    allowed: NDArray[np.bool_]) -> Index:
    """Return the tetrahedron that contains each point, (n,); −1 where none does. Of several, it is the one in which the
    smallest weight of the point is largest.

    nodes: (k, 3); tets: (e, 4); points: (n, 3); part_of_tet: (e,); part_of_point: (n,); allowed: which parts of
    tetrahedra may contain which parts of points, (parts of points, parts of tets).
    """
    corners = nodes[tets]
    low, high = corners.min(axis=1), corners.max(axis=1)
    origin, extent = low.min(axis=0), np.maximum(np.ptp(nodes, axis=0), 1e-12)
    size = max(float(np.median(high - low)), float(np.cbrt(extent.prod() / (8.0 * len(tets) + 1.0))))
    while True:
        counts = np.maximum(np.ceil(extent / size), 1.0)
        first = np.clip(((low - origin - 1e-9) / size).astype(np.int64), 0, counts.astype(np.int64) - 1)
        last = np.clip(((high - origin + 1e-9) / size).astype(np.int64), 0, counts.astype(np.int64) - 1)
        spans = last - first + 1
        if counts.prod() < 2e7 and spans.prod(axis=1).sum() <= MOST_ENTRIES * len(tets):
            break
        size *= 1.5
    starts, entries = _tets_of_cells(first, spans, counts.astype(np.int64))
    containing = np.full(len(points), -1, dtype=np.int32)
    _search(np.ascontiguousarray(nodes), tets, part_of_tet, np.ascontiguousarray(points), part_of_point,
            np.ascontiguousarray(allowed, dtype=np.uint8), origin, size, counts.astype(np.int64), starts, entries,
            containing)
    return containing


def _tets_of_cells(first: NDArray, spans: NDArray, counts: NDArray) -> tuple[NDArray[np.int64], Index]:
    """Return the tetrahedra of each cell, as starts (cells + 1,) and entries, ascending within a cell."""
    each = spans.prod(axis=1)
    tet = np.repeat(np.arange(len(first)), each)
    rank = np.arange(len(tet)) - np.repeat(np.cumsum(each) - each, each)
    i = first[tet, 0] + rank // (spans[tet, 1] * spans[tet, 2])
    j = first[tet, 1] + rank // spans[tet, 2] % spans[tet, 1]
    k = first[tet, 2] + rank % spans[tet, 2]
    cell = (i * counts[1] + j) * counts[2] + k
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=int(counts.prod())))])
    return starts.astype(np.int64), tet[order].astype(np.int32)


@kernel("void(f8[:,::1], i4[:,::1], i4[::1], f8[:,::1], i4[::1], u1[:,::1], f8[::1], f8, i8[::1], i8[::1], i4[::1], "
        "i4[::1])")
def _search(nodes, tets, part_of_tet, points, part_of_point, allowed, origin, size, counts, starts, entries,  # type: ignore[no-untyped-def]
            containing):
    """Write into `containing`, (n,), the tetrahedron in which each point p has the largest smallest weight, of those
    that contain p."""
    for p in range(points.shape[0]):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        i, j, k = (x - origin[0]) / size, (y - origin[1]) / size, (z - origin[2]) / size
        outside = i < -1e-6 or j < -1e-6 or k < -1e-6
        if outside or i > counts[0] + 1e-6 or j > counts[1] + 1e-6 or k > counts[2] + 1e-6:
            continue
        ci = min(max(int(i), 0), counts[0] - 1)
        cj = min(max(int(j), 0), counts[1] - 1)
        ck = min(max(int(k), 0), counts[2] - 1)
        cell = (ci * counts[1] + cj) * counts[2] + ck
        best = INSIDE
        for entry in range(starts[cell], starts[cell + 1]):
            t = entries[entry]
            if allowed[part_of_point[p], part_of_tet[t]] == 0:
                continue
            a, b, c, d = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
            e1x, e1y, e1z = nodes[b, 0] - nodes[a, 0], nodes[b, 1] - nodes[a, 1], nodes[b, 2] - nodes[a, 2]
            e2x, e2y, e2z = nodes[c, 0] - nodes[a, 0], nodes[c, 1] - nodes[a, 1], nodes[c, 2] - nodes[a, 2]
            e3x, e3y, e3z = nodes[d, 0] - nodes[a, 0], nodes[d, 1] - nodes[a, 1], nodes[d, 2] - nodes[a, 2]
            px, py, pz = x - nodes[a, 0], y - nodes[a, 1], z - nodes[a, 2]
            n1x, n1y, n1z = e2y * e3z - e2z * e3y, e2z * e3x - e2x * e3z, e2x * e3y - e2y * e3x
            n2x, n2y, n2z = e3y * e1z - e3z * e1y, e3z * e1x - e3x * e1z, e3x * e1y - e3y * e1x
            n3x, n3y, n3z = e1y * e2z - e1z * e2y, e1z * e2x - e1x * e2z, e1x * e2y - e1y * e2x
            volume = e1x * n1x + e1y * n1y + e1z * n1z
            w1 = (px * n1x + py * n1y + pz * n1z) / volume
            w2 = (px * n2x + py * n2y + pz * n2z) / volume
            w3 = (px * n3x + py * n3y + pz * n3z) / volume
            smallest = min(min(w1, w2), min(w3, 1.0 - w1 - w2 - w3))
            if smallest >= best and (smallest > best or containing[p] < 0):
                best = smallest
                containing[p] = t
