"""Simplification of a surface by collapses of edges onto one of their ends; removed vertices are near the remaining
triangles."""

from __future__ import annotations

import numpy as np

from ..threads import kernel
from .closest_kernels import nearest_on

RING = 24  #: triangles around a vertex at most; one with more stays
LEAST_COSINE = 0.5  #: cosine of the angle by which a triangle may turn in a collapse
LEAST_QUALITY = 0.15  #: of a new triangle, 1 where its sides are equal; or that of the worst one before
RUNGS = 3  #: tolerances, each twice as large as the one before, so that what is flat goes first

_CORNERS = "i4[:,::1], i4[::1], i4[::1]"  #: triangles (t, 3), head (n,), after (3 t,)


@kernel(f"i8({_CORNERS}, i8, i4[::1], i4[::1])")
def ring(triangles, head, after, vertex, slots, around):  # type: ignore[no-untyped-def]
    """Write the corners at a vertex, 3 t + k of triangle t, (RING,), and its neighbours in order, (RING,), and return
    their number; 0 where its triangles are no closed fan, or more than RING.

    head: a corner of each vertex. after: the next corner of the same vertex; −1: none. Removed triangles are negative.
    """
    count, slot = 0, head[vertex]
    while slot >= 0:
        if triangles[slot // 3, 0] >= 0:
            if count == RING:
                return 0
            slots[count] = slot
            count += 1
        slot = after[slot]
    for i in range(count):
        start = -1 if i == 0 else triangles[slots[i - 1] // 3, (slots[i - 1] + 2 - 3 * (slots[i - 1] // 3)) % 3]
        next_slot = -1
        for j in range(i, count):
            begins = triangles[slots[j] // 3, (slots[j] + 1 - 3 * (slots[j] // 3)) % 3]
            if i == 0 or begins == start:
                next_slot = j
                break
        if next_slot < 0:
            return 0
        slots[i], slots[next_slot] = slots[next_slot], slots[i]
        around[i] = triangles[slots[i] // 3, (slots[i] + 1 - 3 * (slots[i] // 3)) % 3]
        for j in range(i):
            if around[j] == around[i]:
                return 0
    if count < 3:
        return 0
    last = slots[count - 1]
    return count if triangles[last // 3, (last + 2 - 3 * (last // 3)) % 3] == around[0] else 0


@kernel(f"b1({_CORNERS}, i8, i8, i4[::1], i8)")
def is_linked(triangles, head, after, vertex, into, around, count):  # type: ignore[no-untyped-def]
    """Return whether a collapse of a vertex onto a neighbour would join separate parts: vertices other than the two
    opposite to their edge are neighbours of both, or a triangle would coincide with another one."""
    common = 0
    for i in range(count):
        near = around[i]
        if near == into:
            continue
        slot, is_neighbour = head[into], False
        while slot >= 0 and not is_neighbour:
            t = slot // 3
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            if a >= 0 and (a == near or b == near or c == near):
                is_neighbour = True
            slot = after[slot]
        common += is_neighbour
    if common != 2:
        return True
    slot = head[into]
    while count == 3 and slot >= 0:
        t = slot // 3
        of_ring = triangles[t, 0] >= 0
        for k in range(3):
            one = triangles[t, k]
            of_ring = of_ring and (one == around[0] or one == around[1] or one == around[2])
        if of_ring:
            return True
        slot = after[slot]
    return False


@kernel("void(f8[:,::1], i8, i8, i8, f8[::1])")
def shape(x, a, b, c, out):  # type: ignore[no-untyped-def]
    """Write the unit normal of a triangle and its quality, 1 where its sides are equal, into out (4,). x: (n, 3)."""
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    uu, vv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2
    ww = uu + vv - 2.0 * (u0 * v0 + u1 * v1 + u2 * v2)
    scale = 1.0 / size if size > 0.0 else 0.0
    out[0], out[1], out[2] = n0 * scale, n1 * scale, n2 * scale
    out[3] = 2.0 * np.sqrt(3.0) * size / (uu + vv + ww) if size > 0.0 else 0.0


@kernel(f"f8(f8[:,::1], {_CORNERS}, i8, i8, i4[::1], i8, i4[::1], i8, f8, f8, f8[:,::1])")
def price(x, triangles, head, after, vertex, onto, around, count, points, many, tolerance, longest, work):  # type: ignore[no-untyped-def]
    """Return the cost of a collapse of a vertex onto its neighbour `around[onto]`, in [0, 2]; infinite where it is not
    admissible.

    points: removed vertices near the triangles around, the first `many`. tolerance: largest distance of these and of
    the vertex from the remaining triangles [m]. longest: largest length of a new edge [m]. work: memory, (2, 4).
    """
    into, least, least_before = around[onto], 1.0, 1.0
    for i in range(count):
        a, b = around[i], around[(i + 1) % count]
        shape(x, vertex, a, b, work[0])
        least_before = min(least_before, work[0, 3])
        if i == onto or (i + 1) % count == onto:
            continue
        shape(x, into, a, b, work[1])
        cosine = work[0, 0] * work[1, 0] + work[0, 1] * work[1, 1] + work[0, 2] * work[1, 2]
        if cosine < LEAST_COSINE:
            return np.inf
        least = min(least, work[1, 3])
        for end in (a, b):
            away = (x[end, 0] - x[into, 0]) ** 2 + (x[end, 1] - x[into, 1]) ** 2 + (x[end, 2] - x[into, 2]) ** 2
            if away > longest * longest:
                return np.inf
    if least < LEAST_QUALITY and least < least_before:
        return np.inf
    if is_linked(triangles, head, after, vertex, into, around, count):
        return np.inf
    worst, most = 0.0, tolerance * tolerance
    for k in range(many + 1):
        p = vertex if k == many else points[k]
        best = np.inf
        for i in range(count):
            if i == onto or (i + 1) % count == onto:
                continue
            _, _, away = nearest_on(x[p, 0], x[p, 1], x[p, 2], x, into, around[i], around[(i + 1) % count])
            best = min(best, away)
        worst = max(worst, best)
        if worst > most:
            return np.inf
    return np.sqrt(worst) / tolerance + 1.0 - least


@kernel(f"void(f8[:,::1], {_CORNERS}, i8, i8, i4[::1], i4[::1], i8, i4[::1], i8, i4[::1], i4[::1])")
def collapse(x, triangles, head, after, vertex, onto, slots, around, count, points, many, first, following):  # type: ignore[no-untyped-def]
    """Collapse a vertex onto its neighbour `around[onto]`, and assign the vertex and these points to the nearest new
    triangles.

    first: a point of each triangle, (t,). following: the next point of the same triangle, (n,); −1: none.
    """
    into = around[onto]
    for i in range(count):
        t = slots[i] // 3
        first[t] = -1
        if i == onto or (i + 1) % count == onto:
            triangles[t, 0] = triangles[t, 1] = triangles[t, 2] = -1
        else:
            triangles[t, slots[i] - 3 * t] = into
            after[slots[i]] = head[into]
            head[into] = slots[i]
    head[vertex] = -1
    for k in range(many + 1):
        p = vertex if k == many else points[k]
        best, nearest = np.inf, -1
        for i in range(count):
            t = slots[i] // 3
            if triangles[t, 0] < 0:
                continue
            _, _, away = nearest_on(x[p, 0], x[p, 1], x[p, 2], x, triangles[t, 0], triangles[t, 1], triangles[t, 2])
            if away < best:
                best, nearest = away, t
        following[p] = first[nearest]
        first[nearest] = p


@kernel(f"void(f8[:,::1], {_CORNERS}, f8, f8, i4[::1], i4[::1], i4[::1])")
def collapse_edges(x, triangles, head, after, tolerance, longest, first, following, of):  # type: ignore[no-untyped-def]
    """Collapse edges onto one of their ends where every removed vertex is within a tolerance [m] of the remaining
    triangles and no new edge is longer than `longest` [m]: the flattest first, and no two neighbours in one sweep.

    triangles: (t, 3), negative where they are removed. first, following: points of triangles, −1 at first. of: the
    triangle nearest to each removed vertex, −1 for others, (n,).
    """
    slots, around, work = np.empty(RING, np.int32), np.empty(RING, np.int32), np.empty((2, 4))
    points, changed, number = np.empty(len(x), np.int32), np.zeros(len(x), np.int32), 0
    for rung in range(RUNGS):
        within = tolerance * 0.5 ** (RUNGS - 1 - rung)
        removed = 1
        while removed > 0:
            number += 1
            removed = 0
            for vertex in range(len(x)):
                if head[vertex] < 0 or changed[vertex] == number:
                    continue
                count = ring(triangles, head, after, vertex, slots, around)
                many = 0
                for i in range(count):
                    p = first[slots[i] // 3]
                    while p >= 0:
                        points[many] = p
                        many += 1
                        p = following[p]
                best, onto = np.inf, -1
                for i in range(count):
                    cost = price(x, triangles, head, after, vertex, i, around, count, points, many, within, longest,
                                 work)
                    if cost < best:
                        best, onto = cost, i
                if onto < 0:
                    continue
                collapse(x, triangles, head, after, vertex, onto, slots, around, count, points, many, first, following)
                removed += 1
                for i in range(count):
                    changed[around[i]] = number
    for t in range(len(triangles)):
        p = first[t]
        while p >= 0:
            of[p] = t
            p = following[p]
