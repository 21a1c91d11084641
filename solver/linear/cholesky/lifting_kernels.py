"""Reuse of an elimination order where elements come and go: only nodes that are joined across its tree are moved.

Two nodes whose columns are on one path of the elimination tree may be joined at little cost; two nodes of different
branches may not, as all columns above both on either path fill in. One of these is then moved out of its branch, right
before the column in which the branches meet, as a node of a separator is. [Liu 1990]
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("i8(i4[::1], i4[::1], i4[::1], u4[::1], i8, i4[::1])")
def lift_nodes(order, parent, start, rows, nodes, new_order):  # type: ignore[no-untyped-def]
    """Write the elimination order with nodes moved to new_order, (nodes,), and return how many nodes were moved.

    order, parent: node and parent of each column of a postordered tree, (n,), −1 for roots. start, rows: another graph
    of the same nodes, in compressed columns. Unknowns of no node, with numbers from `nodes` on, stay after all nodes.
    """
    n = parent.shape[0]
    # the first column below each one, and the last of each chain without branches, whose columns have the same one
    first, top, children, column_of = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(n, np.int32), np.empty(
        n, np.int32)
    for j in range(n):
        first[j], column_of[order[j]] = j, j
    for j in range(n):
        if parent[j] != -1:
            first[parent[j]] = min(first[parent[j]], first[j])
            children[parent[j]] += 1
    for j in range(n - 1, -1, -1):
        top[j] = top[parent[j]] if parent[j] != -1 and children[parent[j]] == 1 else j

    # joined across: both columns, and that in which their branches meet, n where they never do
    low, high, junction, count = np.empty(rows.shape[0], np.int32), np.empty(rows.shape[0], np.int32), np.empty(
        rows.shape[0], np.int32), 0
    for a in range(nodes):
        for e in range(start[a], start[a + 1]):
            if rows[e] >= nodes:
                continue
            i, j = min(column_of[a], column_of[rows[e]]), max(column_of[a], column_of[rows[e]])
            if first[j] <= i:
                continue
            c = parent[top[j]]
            while c != -1 and first[c] > i:
                c = parent[top[c]]
            low[count], high[count], junction[count] = i, j, n if c == -1 else c
            count += 1

    # from the highest junction down, since nodes that are lifted there are above those joined below
    begins = np.zeros(n + 2, np.int32)
    for e in range(count):
        begins[junction[e] + 1] += 1
    for c in range(n + 1):
        begins[c + 1] += begins[c]
    by_junction, fill = np.empty(count, np.int32), begins[:-1].copy()
    for e in range(count):
        by_junction[fill[junction[e]]] = e
        fill[junction[e]] += 1
    lift, joined, moved = np.full(n, -1, np.int32), np.zeros(n, np.int32), 0
    for c in range(n, -1, -1):
        most, left = 1, begins[c + 1]
        while most > 0 and left > begins[c]:
            # most frequently joined ones first; counts change as some are lifted
            for e in by_junction[begins[c]:left]:
                joined[low[e]], joined[high[e]] = 0, 0
            filled = begins[c]
            for k in range(begins[c], left):
                e = by_junction[k]
                if lift[low[e]] < c and lift[high[e]] < c:
                    by_junction[filled] = e
                    filled += 1
                    joined[low[e]] += 1
                    joined[high[e]] += 1
            left, most = filled, 0
            for e in by_junction[begins[c]:left]:
                most = max(most, joined[low[e]], joined[high[e]])
            for e in by_junction[begins[c]:left]:
                if lift[low[e]] < c and lift[high[e]] < c:
                    one = low[e] if joined[low[e]] > joined[high[e]] else high[e]
                    if joined[one] == most:
                        moved += lift[one] == -1
                        lift[one] = c

    # nodes that are lifted to a column come before it, in their former order
    before = np.zeros(n + 2, np.int32)
    for j in range(n):
        before[(j if lift[j] == -1 else lift[j]) + 1] += 1
    for c in range(n + 1):
        before[c + 1] += before[c]
    reordered = np.empty(n, np.int32)
    for j in range(n):
        if lift[j] != -1:
            reordered[before[lift[j]]] = order[j]
            before[lift[j]] += 1
    for j in range(n):
        if lift[j] == -1:
            reordered[before[j]] = order[j]
            before[j] += 1
    at = 0
    for k in range(n):
        if reordered[k] < nodes:
            new_order[at] = reordered[k]
            at += 1
    return moved
