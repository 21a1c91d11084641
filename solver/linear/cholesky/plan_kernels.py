"""Kernels that find positions in memory for a multifrontal factorization. The arrays are those of Supernodes."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("void(i4[::1], i4[::1], u4[::1], i8, i4[::1], i4[::1])")
def find_parents(first, rows_start, rows, columns, parent, relative):  # type: ignore[no-untyped-def]
    """Write the parent of each supernode, −1 for roots, and the index of each row below a supernode among the parent's
    rows.

    The parent owns the first row below a supernode. columns: number of columns of L.
    """
    count = parent.shape[0]
    owner, within = np.empty(columns, np.int32), np.empty(columns, np.int32)
    for s in range(count):
        owner[first[s] : first[s + 1]] = s
    head, following = np.full(count, -1, np.int32), np.empty(count, np.int32)
    for s in range(count):
        below = rows_start[s] + first[s + 1] - first[s]
        parent[s] = owner[rows[below]] if below < rows_start[s + 1] else -1
        if parent[s] != -1:
            following[s] = head[parent[s]]
            head[parent[s]] = s
    for s in range(count):
        child = head[s]
        if child != -1:
            own = rows[rows_start[s] : rows_start[s + 1]]
            for k in range(own.shape[0]):
                within[own[k]] = k
        while child != -1:
            below = rows_start[child] + first[child + 1] - first[child]
            child_rows, parent_rows = rows[below : rows_start[child + 1]], relative[below : rows_start[child + 1]]
            for k in range(child_rows.shape[0]):
                parent_rows[k] = within[child_rows[k]]
            child = following[child]


@kernel("void(i4[::1], i8[::1], i8[::1], i4[::1])")
def gather_subtrees(parent, cost, whole, start):  # type: ignore[no-untyped-def]
    """Write the cost of each supernode with its subtree, and the first supernode of that subtree, which is consecutive,
    (s,) each."""
    for s in range(parent.shape[0]):
        whole[s], start[s] = cost[s], s
    for s in range(parent.shape[0]):
        if parent[s] >= 0:
            whole[parent[s]] += whole[s]
            start[parent[s]] = min(start[parent[s]], start[s])


@kernel("i8(i4[::1], i8[::1], i4[::1], i4[::1], i1[::1], i8[::1], i8[::1])")
def stack_subtrees(parent, sizes, trees, top, depth, of_children, start):  # type: ignore[no-untyped-def]
    """Write the first entry of the update matrix of each supernode, (s,); return the size of all, in values.

    Each subtree has two stacks, one for even and one for odd depths: when a front is assembled its children are on top
    of one stack, and its own update matrix goes onto the other. depth, of_children: zeros, (s,), scratch.
    """
    for s in range(parent.shape[0]):
        if parent[s] >= 0:
            of_children[parent[s]] += sizes[s]
    total = 0
    for k in range(trees.shape[0] // 2):
        begin, end = trees[2 * k], trees[2 * k + 1]
        for s in range(end - 2, begin - 1, -1):
            depth[s] = 1 - depth[parent[s]]
        even, odd, most_even, most_odd = 0, 0, 0, 0
        for s in range(begin, end):
            if depth[s] == 0:
                odd -= of_children[s]
                start[s] = even
                even += sizes[s]
                most_even = max(most_even, even)
            else:
                even -= of_children[s]
                start[s] = odd
                odd += sizes[s]
                most_odd = max(most_odd, odd)
        for s in range(begin, end):
            start[s] += total + (most_even if depth[s] == 1 else 0)
        total += most_even + most_odd
    for k in range(top.shape[0]):
        start[top[k]] = total
        total += sizes[top[k]]
    return total


@kernel("void(i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1])")
def locate_entries(  # type: ignore[no-untyped-def]
    indptr, indices, inverse, first, rows_start, rows, within, column_start, source, row_of,
):
    """Write the first entry of A of each column of L, (m + 1,), and of each entry its index in A's data and its row in
    the front.

    inverse: row of L of each unknown, (m,). within: scratch, (m,).
    """
    size = inverse.shape[0]
    for j in range(size + 1):
        column_start[j] = 0
    for j in range(size):
        for e in range(indptr[j], indptr[j + 1]):
            column_start[min(inverse[j], inverse[indices[e]]) + 1] += 1
    for j in range(size):
        column_start[j + 1] += column_start[j]
        within[j] = column_start[j]
    for j in range(size):
        for e in range(indptr[j], indptr[j + 1]):
            i = inverse[indices[e]]
            column = min(inverse[j], i)
            source[within[column]] = e
            row_of[within[column]] = max(inverse[j], i)
            within[column] += 1
    for s in range(first.shape[0] - 1):
        for e in range(rows_start[s], rows_start[s + 1]):
            within[rows[e]] = e - rows_start[s]
        for e in range(column_start[first[s]], column_start[first[s + 1]]):
            row_of[e] = within[row_of[e]]


@kernel("void(i4[::1], u4[::1], i8, u4[::1], u4[::1], i4[::1], i4[::1], u4[::1], i4[::1], i4[::1], i4[::1])")
def locate_node_entries(  # type: ignore[no-untyped-def]
    indptr, indices, nodes, permutation, inverse, first, rows_start, rows, column_start, source, row_of,
):
    """Write the arrays of `locate_entries` for a matrix whose first unknowns are those of `nodes` nodes, three each, in
    whole 3 x 3 blocks that are consecutive in L too.

    permutation: unknown of each row of L; inverse: row of L of each unknown.
    """
    size = column_start.shape[0] - 1
    fill = np.zeros(nodes + 1, np.int32)
    for j in range(nodes):
        for i in indices[indptr[3 * j] + 3 : indptr[3 * j + 1] : 3]:
            if i >= 3 * nodes:
                break
            fill[(j if inverse[3 * j] < inverse[i] else i // 3) + 1] += 1
    for j in range(nodes):
        fill[j + 1] += fill[j]
    begins = fill.copy()
    # of the blocks in a node's columns of L: the node in whose column of A they are, and where in its first column
    column_node, where = np.empty(begins[nodes], np.uint32), np.empty(begins[nodes], np.int32)
    for j in range(nodes):
        at = 3
        for i in indices[indptr[3 * j] + 3 : indptr[3 * j + 1] : 3]:
            if i >= 3 * nodes:
                break
            earlier = np.uint32(j if inverse[3 * j] < inverse[i] else i // 3)
            column_node[fill[earlier]], where[fill[earlier]] = j, at
            fill[earlier] += 1
            at += 3
    within = np.empty(size, np.int32)
    at = 0
    for s in range(first.shape[0] - 1):
        own = rows[rows_start[s] : rows_start[s + 1]]
        for k in range(own.shape[0]):
            within[own[k]] = k
        column = first[s]
        while column < first[s + 1]:
            u = permutation[column]
            if u >= 3 * nodes:
                column_start[column] = at
                for e in range(indptr[u], indptr[u + 1]):
                    source[at], row_of[at] = e, within[inverse[indices[e]]]
                    at += 1
                column += 1
                continue
            # the three columns of a node at once, block by block
            j, singles = u // 3, 0
            while indices[indptr[u + 1] - 1 - singles] >= 3 * nodes:
                singles += 1
            length = 3 * (begins[j + 1] - begins[j]) + singles
            starts = at, at + 3 + length, at + 5 + 2 * length
            ends = starts[1], starts[2], starts[2] + 1 + length
            for c in range(3):
                column_start[column + c] = starts[c]
                for r in range(c, 3):
                    source[starts[c] + r - c], row_of[starts[c] + r - c] = indptr[u + c] + r - c, within[inverse[u]] + r
            one, two, three = (source[starts[0] + 3 : ends[0]], source[starts[1] + 2 : ends[1]],
                               source[starts[2] + 1 : ends[2]])
            row_one, row_two, row_three = (row_of[starts[0] + 3 : ends[0]], row_of[starts[1] + 2 : ends[1]],
                                           row_of[starts[2] + 1 : ends[2]])
            at = 0
            for k in range(begins[j], begins[j + 1]):
                v = 3 * column_node[k]
                a, b, c = indptr[v] + where[k], indptr[v + 1] + where[k] - 1, indptr[v + 2] + where[k] - 2
                if v == u:
                    other = within[inverse[indices[a]]]
                    for r in range(3):
                        one[at + r], two[at + r], three[at + r] = a + r, b + r, c + r
                else:  # it stands there as its transpose
                    other = within[inverse[v]]
                    one[at], one[at + 1], one[at + 2] = a, b, c
                    two[at], two[at + 1], two[at + 2] = a + 1, b + 1, c + 1
                    three[at], three[at + 1], three[at + 2] = a + 2, b + 2, c + 2
                for r in range(3):
                    row_one[at + r] = row_two[at + r] = row_three[at + r] = other + r
                at += 3
            for t in range(singles):
                other = within[inverse[indices[indptr[u + 1] - 1 - t]]]
                one[at + t], row_one[at + t] = indptr[u + 1] - 1 - t, other
                two[at + t], row_two[at + t] = indptr[u + 2] - 1 - t, other
                three[at + t], row_three[at + t] = indptr[u + 3] - 1 - t, other
            at, column = ends[2], column + 3
    column_start[size] = at
