"""Kernels of near pairs of cloth and faces, edges and vertices of obstacles, one row a pair."""

from __future__ import annotations

import numpy as np

from ...contact.find.distance_kernels import DIFFERENCE, FREE, WEIGHTS, WORK, nearest_in_triangle, nearest_on_edges
from ...threads import kernel

INSIDE = 1.0e-9  #: weight of a corner above which a nearest point lies within a face
STRAIGHT = 1.0e-9  #: [m]: a way from an edge that leans less stands upright on the face
PARALLEL = 1.0e-8  #: of |u|² |v|²: edges that run alongside each other are their ends' matter


@kernel("void(f8[:,::1], i4[:,::1], i8, i4[:,::1], f8[:,::1], b1[:,::1], b1[:,::1], b1[::1], f8[:,::1], f8[:,::1],"
        " f8[::1], b1[::1])")
def point_rows(  # type: ignore[no-untyped-def]
        x, pairs, cloth, triangles, normals, sharp, even, closed, weights, directions, gaps, keep):
    """Write rows of pairs of a point and a triangle: weights (k, 4), directions from the obstacle to the cloth (k, 3),
    distances along these (k,) [m], negative inside closed obstacles, and which to keep (k,).

    x: (n, 3) [m]. pairs: a point and the number of a triangle, (k, 2). Points below `cloth` are the cloth's, and
    triangles (t, 3) and normals (t, 3) then the obstacles'; else the cloth has the triangles. sharp: whether the edge
    opposite to each corner is sharp, (t, 3); pairs whose nearest point is on such an edge have rows of features and are
    not kept. even: whether a face continues in the same plane beyond that edge, (t, 3); pairs that are not straight
    over the edge then belong to that face. closed: whether each triangle's obstacle is closed, (t,).
    """
    work, nodes = np.empty(WORK), np.empty(4, dtype=np.int32)
    for k in range(pairs.shape[0]):
        keep[k] = False
        point, face = pairs[k, 0], pairs[k, 1]
        for i in range(3):
            nodes[1 + i] = triangles[face, i]
        nodes[0] = point
        nearest_in_triangle(x, nodes, work)
        on_cloth = point < cloth
        inside = work[FREE] == 2.0
        for i in range(4):
            weights[k, i] = work[WEIGHTS + i]
        if inside:
            side = 0.0
            for i in range(3):
                side += work[DIFFERENCE + i] * normals[face, i]
            sign = 1.0
            if on_cloth:
                if side < 0.0 and not closed[face]:
                    sign = -1.0
            for i in range(3):
                directions[k, i] = sign * normals[face, i]
            gaps[k] = sign * side
        else:
            if not on_cloth:
                continue
            # on which edge or corner of the obstacle's triangle
            on_sharp = on_even = False
            for i in range(3):
                if abs(work[WEIGHTS + 1 + i]) <= INSIDE:
                    on_sharp |= sharp[face, i]
                    on_even |= even[face, i]
            if on_sharp:
                continue
            square, side = work[DIFFERENCE] ** 2 + work[DIFFERENCE + 1] ** 2 + work[DIFFERENCE + 2] ** 2, 0.0
            for i in range(3):
                side += work[DIFFERENCE + i] * normals[face, i]
            if square - side * side <= STRAIGHT * STRAIGHT:
                # right over or under the edge: as within the face, where a distance of zero has a direction too
                sign = -1.0 if side < 0.0 and not closed[face] else 1.0
                for i in range(3):
                    directions[k, i] = sign * normals[face, i]
                gaps[k] = sign * side
            elif on_even or (closed[face] and side < 0.0):
                continue
            else:
                size = np.sqrt(square)
                for i in range(3):
                    directions[k, i] = work[DIFFERENCE + i] / size
                gaps[k] = size
        keep[k] = True


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], b1[::1])")
def edge_rows(x, nodes, outward, weights, directions, gaps, keep):  # type: ignore[no-untyped-def]
    """Write rows of pairs of an edge of the cloth and one of an obstacle, nodes (k, 4): weights (k, 4), directions from
    the obstacle to the cloth (k, 3), distances along these (k,) [m] and which to keep (k,). x: (n, 3) [m]. outward:
    normals of the obstacles at their edges, (k, 3)."""
    work = np.empty(WORK)
    for k in range(nodes.shape[0]):
        keep[k] = False
        nearest_on_edges(x, nodes[k], work)
        if work[FREE] != 2.0:
            continue
        a, b, c, d = nodes[k, 0], nodes[k, 1], nodes[k, 2], nodes[k, 3]
        u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        v0, v1, v2 = x[d, 0] - x[c, 0], x[d, 1] - x[c, 1], x[d, 2] - x[c, 2]
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        size = n0 * n0 + n1 * n1 + n2 * n2
        if size <= PARALLEL * (u0 * u0 + u1 * u1 + u2 * u2) * (v0 * v0 + v1 * v1 + v2 * v2):
            continue
        size = np.sqrt(size)
        if n0 * outward[k, 0] + n1 * outward[k, 1] + n2 * outward[k, 2] < 0.0:
            size = -size
        directions[k, 0], directions[k, 1], directions[k, 2] = n0 / size, n1 / size, n2 / size
        gaps[k] = (work[DIFFERENCE] * directions[k, 0] + work[DIFFERENCE + 1] * directions[k, 1]
                   + work[DIFFERENCE + 2] * directions[k, 2])
        for i in range(4):
            weights[k, i] = work[WEIGHTS + i]
        keep[k] = True


@kernel("void(f8[:,::1], i8, i4[:,::1], f8[::1])")
def distances(x, points, triangles, out):  # type: ignore[no-untyped-def]
    """Write distances of the first `points` points of x, (n, 3) [m], to the nearest of triangles, (t, 3), into out,
    (points,) [m]."""
    work, nodes = np.empty(WORK), np.empty(4, dtype=np.int32)
    for k in range(points):
        out[k] = np.inf
        for t in range(triangles.shape[0]):
            nodes[0] = k
            for i in range(3):
                nodes[1 + i] = triangles[t, i]
            nearest_in_triangle(x, nodes, work)
            out[k] = min(out[k], np.sqrt(work[DIFFERENCE] ** 2 + work[DIFFERENCE + 1] ** 2 + work[DIFFERENCE + 2] ** 2))


@kernel("i8(i8[::1], i4[::1], i8, i8[::1], i8[::1], i8, i8[::1], f8[::1])")
def rename(keys, was, before, kinds, of_edges, rows, out, value):  # type: ignore[no-untyped-def]
    """Write names of rows, (k,), after remeshing to out, as for `renumber`; return how many are left.

    was: number before of each vertex, −1 of new ones. before: number of vertices before. kinds: of pairs, rising.
    of_edges: the kinds of pairs of two edges. rows: number of names of one vertex. value: of each name, (k,), moved
    along with it.
    """
    now, left = np.full(before, -1), 0
    for i in range(was.shape[0]):
        if was[i] >= 0:
            now[was[i]] = i
    for k in range(keys.shape[0]):
        key, kind = keys[k], 0
        for one in kinds:
            if key >= one:
                kind = one
        rest = key - kind
        if kind == of_edges[0] or kind == of_edges[1]:
            first, second = rest >> 39, min((rest >> 22) & 0x1FFFF, before - 1)
            if first >= before or now[first] < 0 or now[second] < 0:
                continue
            low, high = min(now[first], now[second]), max(now[first], now[second])
            out[left] = (low << 39 | high << 22 | (rest & 0x3FFFFF)) + kind
        else:
            vertex = rest >> 32 if kind > 0 else rest // rows
            if vertex >= before or now[vertex] < 0:
                continue
            out[left] = kind + (now[vertex] << 32 | (rest & 0xFFFFFFFF)) if kind > 0 else (
                rows * now[vertex] + rest % rows)
        value[left] = value[k]
        left += 1
    return left
