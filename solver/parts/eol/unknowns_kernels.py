"""Kernels of the pairs of vertices that elements join, and of the pattern of the matrix over their rates."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

CORNERS = 4  #: of an element, the last again where there are three


@kernel("Tuple((i4[::1], i4[::1], i4[:,::1]))(i4[:,::1], i8)")
def pairs_of(elements, count):  # type: ignore[no-untyped-def]
    """Return pairs of `count` vertices that elements, (p, 4), join, each vertex with itself too, and the slots of each
    element's pairs.

    The pairs are the larger (b,) and the smaller vertex (b,), sorted by the smaller and then by the larger. Slots are
    numbers of an element's pairs (0, 0), (1, 0), (1, 1), (2, 0), … among them, (p, 10); −1 − slot where the first node
    is the smaller.
    """
    first = np.zeros(count + 1, np.int64)
    for e in range(elements.shape[0]):
        for a in range(CORNERS):
            first[elements[e, a] + 1] = 1
    for e in range(elements.shape[0]):
        for a in range(CORNERS):
            for b in range(a):
                first[min(elements[e, a], elements[e, b]) + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    # each once; few vertices are around one, itself the smallest
    larger, many = np.empty(first[-1], np.int32), np.zeros(count, np.int64)
    total = 0
    for i in range(count):
        if first[i + 1] > first[i]:
            larger[first[i]] = i
            many[i] = 1
            total += 1
    for e in range(elements.shape[0]):
        for a in range(CORNERS):
            for b in range(a):
                if elements[e, a] == elements[e, b]:
                    continue
                low, high = min(elements[e, a], elements[e, b]), max(elements[e, a], elements[e, b])
                entry = first[low] + many[low]
                while entry > first[low] and larger[entry - 1] > high:
                    entry -= 1
                if entry > first[low] and larger[entry - 1] == high:
                    continue
                for k in range(first[low] + many[low], entry, -1):
                    larger[k] = larger[k - 1]
                larger[entry] = high
                many[low] += 1
                total += 1
    once, high, low = np.zeros(count + 1, np.int64), np.empty(total, np.int32), np.empty(total, np.int32)
    for i in range(count):
        once[i + 1] = once[i] + many[i]
        high[once[i] : once[i + 1]] = larger[first[i] : first[i] + many[i]]
        low[once[i] : once[i + 1]] = i

    slots = np.empty((elements.shape[0], CORNERS * (CORNERS + 1) // 2), np.int32)
    for e in range(elements.shape[0]):
        k = 0
        for a in range(CORNERS):
            for b in range(a + 1):
                row, column = elements[e, a], elements[e, b]
                smaller, other = min(row, column), max(row, column)
                entry = once[smaller]
                while other != smaller and high[entry] != other:
                    entry += 1
                slots[e, k] = entry if row >= column else -1 - entry
                k += 1
    return high, low, slots


@kernel("Tuple((i4[::1], i4[::1], i8[::1]))(i4[::1], i4[::1], i4[::1])")
def lower_of(high, low, first):  # type: ignore[no-untyped-def]
    """Return indptr (m + 1,) and row indices of the lower triangle of blocks at pairs in the order of `pairs_of`, and
    the number of each value in the blocks, (b, 5, 5). first: of each vertex' rates, (n + 1,)."""
    blocks, size = high.shape[0], first[-1]
    indptr, total = np.zeros(size + 1, np.int32), 0
    begin = 0
    for sweep in range(2):
        begin, total = 0, 0
        if sweep == 0:
            rows, values = np.empty(0, np.int32), np.empty(0, np.int64)
        else:
            rows, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int64)
        while begin < blocks:
            end = begin
            while end < blocks and low[end] == low[begin]:
                end += 1
            for c in range(first[low[begin] + 1] - first[low[begin]]):
                for k in range(begin, end):
                    top = first[high[k]]
                    for i in range(c if high[k] == low[k] else 0, first[high[k] + 1] - top):
                        if sweep == 1:
                            rows[total], values[total] = top + i, 25 * k + 5 * i + c
                        total += 1
                indptr[first[low[begin]] + c + 1] = total
            begin = end
        # columns of vertices that nothing joins
        for c in range(size):
            indptr[c + 1] = max(indptr[c + 1], indptr[c])
    return indptr, rows, values
