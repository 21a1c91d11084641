"""Boxes of whole bodies, which of these have nothing of another one in them, and how nodes of one move beside each
other."""

from __future__ import annotations

import numpy as np

from ...threads import inlined, kernel


@kernel("void(f8[:,::1], f8[:,::1], i4[::1], f8, f8, f8[:,::1], f8[::1])")
def body_boxes(here, there, body, distance, share, out, more):  # type: ignore[no-untyped-def]
    """out (b, 6): lower and upper corner of the box around each body's nodes on straight ways between places, (n, 3)
    each, grown by `more` (b,): half a distance, and a share of the longest of its ways. body: of each node, (n,)."""
    for b in range(out.shape[0]):
        more[b] = 0.0
        for a in range(3):
            out[b, a], out[b, 3 + a] = np.inf, -np.inf
    for k in range(body.shape[0]):
        b, square = body[k], 0.0
        for a in range(3):
            out[b, a] = min(out[b, a], here[k, a], there[k, a])
            out[b, 3 + a] = max(out[b, 3 + a], here[k, a], there[k, a])
            square += (there[k, a] - here[k, a]) ** 2
        more[b] = max(more[b], square)
    for b in range(out.shape[0]):
        more[b] = 0.5 * distance + share * np.sqrt(more[b])
        for a in range(3):
            out[b, a] -= more[b]
            out[b, 3 + a] += more[b]


@inlined
def _disjoint(box, a, b):  # type: ignore[no-untyped-def]
    """Whether two boxes of (m, 6) have nothing in common."""
    return ((box[a, 0] > box[b, 3]) | (box[b, 0] > box[a, 3]) | (box[a, 1] > box[b, 4]) | (box[b, 1] > box[a, 4])
            | (box[a, 2] > box[b, 5]) | (box[b, 2] > box[a, 5]))


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], i8[::1], b1[:,::1], f8[:,::1], f8[::1], b1[::1])")
def near_others(here, there, triangles, starts, collide, box, more, out):  # type: ignore[no-untyped-def]
    """Mark bodies, out (b,), that have in their box a triangle's box of another one with which they collide, or the
    reverse: triangles of the smaller one are tested, since a bowl has all of them around it.

    triangles: (t, 3), those of a body from starts (b + 1,) on. collide: (b, b). box, more: as `body_boxes` leaves them.
    """
    size = np.empty(box.shape[0])
    for b in range(box.shape[0]):
        out[b] = False
        size[b] = box[b, 3] - box[b, 0] + box[b, 4] - box[b, 1] + box[b, 5] - box[b, 2]
    for a in range(box.shape[0]):
        for b in range(a):
            if (out[a] and out[b]) or not collide[a, b] or _disjoint(box, a, b):
                continue
            small, large = (a, b) if size[a] <= size[b] else (b, a)
            for t in range(starts[large], starts[large + 1]):
                inside = True
                for i in range(3):
                    low, high = np.inf, -np.inf
                    for c in range(3):
                        node = triangles[t, c]
                        low, high = min(low, here[node, i], there[node, i]), max(high, here[node, i], there[node, i])
                    inside &= low - more[large] <= box[small, 3 + i] and high + more[large] >= box[small, i]
                if inside:
                    out[a], out[b] = True, True
                    break


@kernel("void(f8[:,::1], f8[:,::1], i4[::1], f8[:,::1], f8[::1])")
def own_ways(here, there, body, together, out):  # type: ignore[no-untyped-def]
    """Lengths of ways between places, (n, 3) each, out (n,), all of one body's less the middle between the least and
    the largest along each axis, where the sum of their squares is less so: together (b, 3), else zero.

    body: of each node, (n,).
    """
    count = together.shape[0]
    ends, own, about = np.empty((count, 6)), np.zeros(count), np.zeros(count)
    for b in range(count):
        for a in range(3):
            ends[b, a], ends[b, 3 + a] = np.inf, -np.inf
    for k in range(body.shape[0]):
        b = body[k]
        for a in range(3):
            way = there[k, a] - here[k, a]
            ends[b, a], ends[b, 3 + a] = min(ends[b, a], way), max(ends[b, 3 + a], way)
    for b in range(count):
        for a in range(3):
            together[b, a] = 0.5 * (ends[b, a] + ends[b, 3 + a]) if ends[b, 3 + a] - ends[b, a] < np.inf else 0.0
    for k in range(body.shape[0]):
        b = body[k]
        for a in range(3):
            way = there[k, a] - here[k, a]
            own[b] += way * way
            about[b] += (way - together[b, a]) ** 2
    for b in range(count):
        if not about[b] < own[b]:
            for a in range(3):
                together[b, a] = 0.0
    for k in range(body.shape[0]):
        square = 0.0
        for a in range(3):
            square += (there[k, a] - here[k, a] - together[body[k], a]) ** 2
        out[k] = np.sqrt(square)
