"""Nearest triangles of many points, among all triangles or among candidates."""

from __future__ import annotations

import math

import numpy as np

from ..threads import inline, kernel


@inline
def nearest_on(px, py, pz, x, a, b, c):  # type: ignore[no-untyped-def]
    """Return the weights of the corners b and c at the position on a triangle that is nearest to a point, and the
    squared distance. x: (n, 3) [m]."""
    dx, dy, dz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    fx, fy, fz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    ee, ef, ff = ex * ex + ey * ey + ez * ez, ex * fx + ey * fy + ez * fz, fx * fx + fy * fy + fz * fz
    de, df = dx * ex + dy * ey + dz * ez, dx * fx + dy * fy + dz * fz
    area2 = ee * ff - ef * ef
    v, w = de * ff - df * ef, df * ee - de * ef
    if area2 > 1e-300 and v >= 0.0 and w >= 0.0 and v + w <= area2:
        v, w = v / area2, w / area2
    else:
        # the nearest point on its sides
        v, w = 0.0, 0.0
        side = np.inf
        for edge in range(3):
            if edge == 0:
                s = min(max(de / max(ee, 1e-300), 0.0), 1.0)
                tv, tw = s, 0.0
            elif edge == 1:
                s = min(max(df / max(ff, 1e-300), 0.0), 1.0)
                tv, tw = 0.0, s
            else:
                s = min(max((df - de + ee - ef) / max(ee - 2.0 * ef + ff, 1e-300), 0.0), 1.0)
                tv, tw = 1.0 - s, s
            rx, ry, rz = dx - tv * ex - tw * fx, dy - tv * ey - tw * fy, dz - tv * ez - tw * fz
            away = rx * rx + ry * ry + rz * rz
            if away < side:
                side, v, w = away, tv, tw
    rx, ry, rz = dx - v * ex - w * fx, dy - v * ey - w * fy, dz - v * ez - w * fz
    return v, w, rx * rx + ry * ry + rz * rz


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1], f8[::1], i8[::1], f8[:,::1])")
def nearest_triangles(points, triangles, x, reach, closest, weights):  # type: ignore[no-untyped-def]
    """Write the triangle nearest to each point, (k,), the first of those that are as near, and the weights of its
    corners at the nearest position, (k, 3): on an edge or at a corner the other weights are exactly 0.

    points: (k, 3) [m]. triangles: (t, 3). x: (n, 3) [m]. reach: of each triangle from its first corner [m], (t,).
    """
    for i in range(points.shape[0]):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        best = np.inf
        for k in range(triangles.shape[0]):
            a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
            dx, dy, dz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
            # no point of it is nearer than the first corner less its reach
            nearest = np.sqrt(dx * dx + dy * dy + dz * dz) - reach[k]
            if nearest > 0.0 and nearest * nearest > best:
                continue
            v, w, away = nearest_on(px, py, pz, x, a, b, c)
            if away < best:
                best, closest[i] = away, k
                weights[i, 0], weights[i, 1], weights[i, 2] = (0.0 if v + w >= 1.0 else 1.0 - v - w), v, w


@kernel("void(f8[:,::1], i4[:,::1], i4[:,::1], f8[:,::1], f8[::1], f8[:,::1], f8, f8, f8[::1], i4[::1], f8[:,::1], "
        "f8[:,::1])")
def nearest_candidates(points, candidates, triangles, x, reach, normals, slack, farthest, squares, closest, weights,  # type: ignore[no-untyped-def]
                       outward):
    """Write the nearest candidate of each point, (k,), and the weights of its corners at the nearest position, (k, 3);
    −1 and 0 where none is near. Into outward (k, 3) write the sum of the unit normals of all that are as near, which
    shows on which side of an edge or of a corner a point is.

    points: (k, 3) [m]. candidates: indices of triangles (t, 3), possibly repeated, −1 after the last, (k, c). x: (n, 3)
    [m]. reach: of each triangle from its first corner, or a little more [m], (t,). normals: unit, of the triangles, (t,
    3). slack: squared distances that differ by less are as near [m²]. farthest: largest squared distance of a near one
    [m²]. squares: memory, (c,).
    """
    for i in range(points.shape[0]):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        best, near, count, closest[i] = np.inf, np.inf, 0, -1
        for k in candidates[i]:
            if k < 0:
                break
            count += 1
            a = triangles[k, 0]
            dx, dy, dz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
            squares[count - 1] = np.inf
            # no point of it is nearer than the first corner less its reach
            if dx * dx + dy * dy + dz * dz > (reach[k] + near) * (reach[k] + near):
                continue
            v, w, away = nearest_on(px, py, pz, x, a, triangles[k, 1], triangles[k, 2])
            squares[count - 1] = away
            if away < best:
                best, near, closest[i] = away, math.sqrt(away + slack), k
                weights[i, 0], weights[i, 1], weights[i, 2] = (0.0 if v + w >= 1.0 else 1.0 - v - w), v, w
        outward[i, 0], outward[i, 1], outward[i, 2] = 0.0, 0.0, 0.0
        if best > farthest:
            closest[i], weights[i, 0], weights[i, 1], weights[i, 2] = -1, 0.0, 0.0, 0.0
            continue
        for j in range(count):
            k = candidates[i, j]
            if squares[j] > best + slack:
                continue
            known = False
            for other in range(j):
                known = known or candidates[i, other] == k
            if not known:
                for axis in range(3):
                    outward[i, axis] += normals[k, axis]


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1], f8[::1], f8, f8[::1], i4[:,::1], i4[::1])")
def triangles_around(middles, triangles, x, reach, beyond, squares, out, counts):  # type: ignore[no-untyped-def]
    """Write the triangles (t, 3) that are at most `beyond` [m] farther from each point than the nearest one, ascending,
    −1 after the last, (k, c), and their number, which may be larger than c, (k,).

    middles: points (k, 3) [m]. x: (n, 3) [m]. reach: of each triangle from its first corner, or a little more [m],
    (t,). squares: memory, (t,).
    """
    for i in range(middles.shape[0]):
        px, py, pz, near = middles[i, 0], middles[i, 1], middles[i, 2], np.inf
        for k in range(triangles.shape[0]):
            a = triangles[k, 0]
            dx, dy, dz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
            squares[k] = dx * dx + dy * dy + dz * dz
            near = min(near, squares[k])
        near = math.sqrt(near)
        for k in range(triangles.shape[0]):
            farthest, corner = reach[k] + near + beyond, squares[k]
            squares[k] = np.inf
            # no point of it is nearer than the first corner less its reach
            if corner <= farthest * farthest:
                a = triangles[k, 0]
                _, _, squares[k] = nearest_on(px, py, pz, x, a, triangles[k, 1], triangles[k, 2])
                near = min(near, math.sqrt(squares[k]))
        count = 0
        for k in range(triangles.shape[0]):
            if squares[k] <= (near + beyond) * (near + beyond):
                if count < out.shape[1]:
                    out[i, count] = k
                count += 1
        counts[i] = count
        out[i, min(count, out.shape[1]):] = -1
