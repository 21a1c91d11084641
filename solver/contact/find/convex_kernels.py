"""Kernels of distances between points, segments and convex polyhedra, as used by the contact kernels."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

#: shapes in the world: point_start, face_start, corner_start, corners, edges, edge_start as in `Shapes`, points, planes
PLACED = "Tuple((i4[::1], i4[::1], i4[::1], i4[::1], i4[:,::1], i4[::1], f8[:,::1], f8[:,::1]))"
CONE = 1.0e-3  #: tolerance of a direction between the normals of an edge's two faces


@kernel("void(f8[:,:,::1], f8[:,::1], i4[::1], f8[:,::1])")
def place_points(pose, points, owner, out):  # type: ignore[no-untyped-def]
    """Write positions of points in the world to `out`, (P, 3) [m].

    pose: of each shape, (s, 4, 4). points: in their shape's frame, (P, 3) [m]. owner: shape of each point, (P,).
    """
    for p in range(points.shape[0]):
        E = pose[owner[p]]
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        for a in range(3):
            out[p, a] = E[a, 0] * x + E[a, 1] * y + E[a, 2] * z + E[a, 3]


@kernel("void(i4[::1], i4[::1], f8[:,::1], f8[:,::1])")
def face_planes(corner_start, corners, x, planes):  # type: ignore[no-untyped-def]
    """Write the unit normal n and n · x of the plane of each polygon, planes (F, 4), by Newell's sum.

    corners: points of all polygons in turn; those of polygon f start at corner_start[f]. x: positions, (n, 3) [m].
    """
    for f in range(planes.shape[0]):
        n0, n1, n2 = 0.0, 0.0, 0.0
        begin, end = corner_start[f], corner_start[f + 1]
        last = corners[end - 1]
        for c in range(begin, end):
            p = corners[c]
            n0 += (x[last, 1] - x[p, 1]) * (x[last, 2] + x[p, 2])
            n1 += (x[last, 2] - x[p, 2]) * (x[last, 0] + x[p, 0])
            n2 += (x[last, 0] - x[p, 0]) * (x[last, 1] + x[p, 1])
            last = p
        size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        planes[f, 0], planes[f, 1], planes[f, 2] = n0 / size, n1 / size, n2 / size
        planes[f, 3] = (n0 * x[last, 0] + n1 * x[last, 1] + n2 * x[last, 2]) / size


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])")
def segment_pair(p, q, r, s, out):  # type: ignore[no-untyped-def]
    """Write the fractions along segments p-q and r-s of their nearest points, and these points [m], to `out`, (8,)."""
    d0, d1, d2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    e0, e1, e2 = s[0] - r[0], s[1] - r[1], s[2] - r[2]
    w0, w1, w2 = p[0] - r[0], p[1] - r[1], p[2] - r[2]
    a = d0 * d0 + d1 * d1 + d2 * d2
    b = d0 * e0 + d1 * e1 + d2 * e2
    c = e0 * e0 + e1 * e1 + e2 * e2
    d = d0 * w0 + d1 * w1 + d2 * w2
    e = e0 * w0 + e1 * w1 + e2 * w2
    t, u = 0.0, 0.0
    if a > 0.0 and c > 0.0:
        slope = a * c - b * b
        t = min(max((b * e - c * d) / slope, 0.0), 1.0) if slope > 1.0e-12 * a * c else 0.5
        u = min(max((b * t + e) / c, 0.0), 1.0)
        t = min(max((b * u - d) / a, 0.0), 1.0)
    elif a > 0.0:
        t = min(max(-d / a, 0.0), 1.0)
    elif c > 0.0:
        u = min(max(e / c, 0.0), 1.0)
    out[0], out[1] = t, u
    out[2], out[3], out[4] = p[0] + t * d0, p[1] + t * d1, p[2] + t * d2
    out[5], out[6], out[7] = r[0] + u * e0, r[1] + u * e1, r[2] + u * e2


@kernel("b1(f8[::1], f8[:,::1], i4[::1])")
def is_of_edge(n, planes, edge):  # type: ignore[no-untyped-def]
    """Return whether a unit direction n lies between the normals of an edge's faces; True for an edge without faces.

    planes: of all faces, (F, 4). edge: two points and two faces, (4,).
    """
    if edge[2] < 0:
        return True
    g, h = planes[edge[2]], planes[edge[3]]
    c = g[0] * h[0] + g[1] * h[1] + g[2] * h[2]
    a = n[0] * g[0] + n[1] * g[1] + n[2] * g[2]
    b = n[0] * h[0] + n[1] * h[1] + n[2] * h[2]
    return a - c * b >= -CONE and b - c * a >= -CONE


@kernel(f"f8(f8[::1], i8, {PLACED}, f8[::1])")
def point_gap(p, s, placed, out):  # type: ignore[no-untyped-def]
    """Return the signed distance [m] of point p, (3,), from the core of shape s, without its radius, negative inside.

    out: nearest point [m] and unit normal, (6,). placed: see PLACED.
    """
    point_start, face_start, corner_start, corners, edges, edge_start, x, planes = placed
    best = np.inf
    inside, deepest = -np.inf, -1
    for f in range(face_start[s], face_start[s + 1]):
        n = planes[f]
        off = n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - n[3]
        if off > inside:
            inside, deepest = off, f
        if off <= 0.0 or off >= best:
            continue
        # over the polygon, where it is on the inner side of every side
        over = True
        last = corners[corner_start[f + 1] - 1]
        for c in range(corner_start[f], corner_start[f + 1]):
            k = corners[c]
            e0, e1, e2 = x[k, 0] - x[last, 0], x[k, 1] - x[last, 1], x[k, 2] - x[last, 2]
            r0, r1, r2 = p[0] - x[last, 0], p[1] - x[last, 1], p[2] - x[last, 2]
            if (n[0] * (e1 * r2 - e2 * r1) + n[1] * (e2 * r0 - e0 * r2) + n[2] * (e0 * r1 - e1 * r0)) < 0.0:
                over = False
                break
            last = k
        if over:
            best = off
            for a in range(3):
                out[a], out[3 + a] = p[a] - off * n[a], n[a]
    if deepest >= 0 and inside <= 0.0:
        for a in range(3):
            out[a], out[3 + a] = p[a] - inside * planes[deepest, a], planes[deepest, a]
        return inside
    pair = np.empty(8)
    for e in range(edge_start[s], edge_start[s + 1]):
        segment_pair(p, p, x[edges[e, 0]], x[edges[e, 1]], pair)
        d0, d1, d2 = p[0] - pair[5], p[1] - pair[6], p[2] - pair[7]
        distance = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if distance < best:
            best = distance
            away = 1.0 / max(distance, 1.0e-300)
            out[0], out[1], out[2] = pair[5], pair[6], pair[7]
            out[3], out[4], out[5] = d0 * away, d1 * away, d2 * away
            if distance < 1.0e-12:
                out[3], out[4], out[5] = 0.0, 0.0, 1.0
                if edges[e, 2] >= 0:
                    out[3], out[4], out[5] = planes[edges[e, 2], 0], planes[edges[e, 2], 1], planes[edges[e, 2], 2]
    if edge_start[s] == edge_start[s + 1]:
        k = point_start[s]
        d0, d1, d2 = p[0] - x[k, 0], p[1] - x[k, 1], p[2] - x[k, 2]
        best = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        away = 1.0 / max(best, 1.0e-300)
        out[0], out[1], out[2] = x[k, 0], x[k, 1], x[k, 2]
        out[3], out[4], out[5] = (d0 * away, d1 * away, d2 * away) if best > 1.0e-12 else (0.0, 0.0, 1.0)
    return best
