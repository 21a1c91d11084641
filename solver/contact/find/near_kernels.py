"""Which points and triangles, and which edges, are near each other: boxes swept along one axis, then distances.

The IPC Toolkit finds them too, but hands over each pair as a Python object, which costs a hundred times the search.
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel
from .distance_kernels import SQUARE, WORK, nearest_in_triangle, nearest_on_edges


@kernel("void(f8[:,::1], i4[:,::1], f8, f8[:,::1])")
def boxes(x, corners, grown, out):  # type: ignore[no-untyped-def]
    """out (k, 6): lower and upper corner of the box around each row of nodes (k, c), grown by some metres."""
    for k in range(corners.shape[0]):
        for a in range(3):
            low = high = x[corners[k, 0], a]
            for c in range(1, corners.shape[1]):
                low, high = min(low, x[corners[k, c], a]), max(high, x[corners[k, c], a])
            out[k, a], out[k, 3 + a] = low - grown, high + grown


@kernel("i8(f8[:,::1], i8[::1], i8, i8, f8[:,::1], i4[:,::1], i4[::1], f8, i4[:,::1])")
def near_pairs(box, order, axis, points, x, corners, group, distance, out):  # type: ignore[no-untyped-def]
    """Pairs of rows nearer than a distance, as far as out (k, 2) has room; says how many there are.

    box: (m, 6), by their lower ends along `axis`. order: row of each. points: that many rows of corners (m, 3) are
    points, each its node thrice, the others are triangles, and points pair with these; where there are none rows are
    edges, (m, 2). group: of each node, −1 is none; nodes of one do not touch each other.
    """
    square = distance * distance
    work, nodes = np.empty(WORK), np.empty(4, dtype=np.int32)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    count = 0
    for i in range(order.shape[0]):
        end = box[i, axis + 3]
        low1, high1, low2, high2 = box[i, first], box[i, first + 3], box[i, second], box[i, second + 3]
        for j in range(i + 1, order.shape[0]):
            if box[j, axis] > end:
                break
            if box[j, first] > high1 or low1 > box[j, first + 3] or box[j, second] > high2 or low2 > box[j, second + 3]:
                continue
            s, t = order[i], order[j]
            if points > 0 and (s < points) == (t < points):
                continue
            p, q = min(s, t), max(s, t)
            if points > 0:
                nodes[0], nodes[1], nodes[2], nodes[3] = corners[p, 0], corners[q, 0], corners[q, 1], corners[q, 2]
                joined = nodes[0] == nodes[1] or nodes[0] == nodes[2] or nodes[0] == nodes[3]
            else:
                nodes[0], nodes[1], nodes[2], nodes[3] = corners[p, 0], corners[p, 1], corners[q, 0], corners[q, 1]
                joined = (nodes[0] == nodes[2] or nodes[0] == nodes[3] or nodes[1] == nodes[2]
                          or nodes[1] == nodes[3])
            own = group[nodes[0]]
            if joined or (own >= 0 and group[nodes[1]] == own and group[nodes[2]] == own and group[nodes[3]] == own):
                continue
            if points > 0:
                nearest_in_triangle(x, nodes, work)
            else:
                nearest_on_edges(x, nodes, work)
            if work[SQUARE] > square:
                continue
            if count < out.shape[0]:
                out[count, 0], out[count, 1] = p, q
            count += 1
    return count
