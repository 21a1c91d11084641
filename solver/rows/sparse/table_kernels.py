"""Kernel that sorts rows of single vertices by the rank of these."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("i8(i4[::1], b1[::1], f8[:,::1], f8[::1], i4[::1], i4[::1], f8[::1], i4[::1], i4[::1], i4[::1], f8[:,::1],"
        " f8[::1])")
def sort_rows(  # type: ignore[no-untyped-def]
        rank, equal, factor, target, start, order, length, ranks, touched, first, unit, goal):
    """Sort rows (r,) by the rank of their vertex, equations first, and scale them to length one. Return the number of
    vertices that have rows.

    start: first unknown of each rank, (n + 1,); entries of a row beyond those of its vertex are left out. Writes order,
    length, ranks, goal (r,) and unit (r, 5), in the new order; touched (t,), first (t + 1,).
    """
    many = start.shape[0] - 1
    offset = np.zeros(2 * many + 1, np.int64)
    for r in range(rank.shape[0]):
        offset[2 * rank[r] + (0 if equal[r] else 1) + 1] += 1
    for i in range(2 * many):
        offset[i + 1] += offset[i]
    for r in range(rank.shape[0]):
        bucket = 2 * rank[r] + (0 if equal[r] else 1)
        order[offset[bucket]] = r
        offset[bucket] += 1
    count = 0
    for k in range(rank.shape[0]):
        r = order[k]
        if count == 0 or touched[count - 1] != rank[r]:
            touched[count], first[count] = rank[r], k
            count += 1
        ranks[k] = rank[r]
        size, square = start[rank[r] + 1] - start[rank[r]], 0.0
        for i in range(min(size, factor.shape[1])):
            square += factor[r, i] * factor[r, i]
        length[k] = np.sqrt(square) if square > 0.0 else 1.0
        for i in range(factor.shape[1]):
            unit[k, i] = factor[r, i] / length[k] if i < size else 0.0
        goal[k] = target[r] / length[k]
    first[count] = rank.shape[0]
    return count
