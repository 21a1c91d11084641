"""Kernels of the symbolic factorization of a graph, given in the order of elimination.

A graph is stored column by column: start (n + 1,), rows (entries,), rows of column j after j, in any order. Where they
are unsigned, no index is tested for being negative: that is a third of the time of a loop over rows.
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel

#: two supernodes that follow each other are one up to so many columns, if so few of their values are zeros
SOME, MANY = 6, 16
ZEROS_OF_SOME, ZEROS_OF_MANY, ZEROS = 0.8, 0.1, 0.05  #: fractions of zeros: up to SOME columns, up to MANY, of more


@kernel("i8(i4[::1], i4[::1], i8, i4[::1], u4[::1])")
def graph_of_nodes(indptr, indices, nodes, start, rows):  # type: ignore[no-untyped-def]
    """Write the graph of nodes of three rows each and of the single rows after them; return its number of entries, −1
    where the matrix is not of this form.

    indptr, indices: the lower triangle by columns, rows rising. nodes: number of nodes.
    """
    count = 0
    for j in range(nodes):
        start[j] = count
        e, end = indptr[3 * j], indptr[3 * j + 1]
        length = end - e
        if (length < 3 or indptr[3 * j + 2] - end != length - 1 or indptr[3 * j + 3] - end != 2 * length - 3
                or indices[e + 2] != 3 * j + 2):
            return -1
        e += 3
        while e < end and indices[e] < 3 * nodes:
            if e + 2 >= end or indices[e] % 3 != 0 or indices[e + 2] != indices[e] + 2:
                return -1
            rows[count] = indices[e] // 3
            count += 1
            e += 3
        while e < end:
            rows[count] = indices[e] - 2 * nodes
            count += 1
            e += 1
    for j in range(nodes, start.shape[0] - 1):
        start[j] = count
        for e in range(indptr[j + 2 * nodes] + 1, indptr[j + 2 * nodes + 1]):
            rows[count] = indices[e] - 2 * nodes
            count += 1
    start[start.shape[0] - 1] = count
    return count


@kernel("void(i4[::1], u4[::1], i4[::1], i4[::1], u4[::1])")
def in_order(start, rows, order, across_start, across):  # type: ignore[no-untyped-def]
    """Write the graph with column k for order[k], row by row: for row k the columns before k in which it has
    entries."""
    n = order.shape[0]
    inverse, fill = np.empty(n, np.int32), np.zeros(n + 1, np.int32)
    for k in range(n):
        inverse[order[k]] = k
    for j in range(n):
        for i in rows[start[j] : start[j + 1]]:
            fill[max(inverse[j], inverse[i]) + 1] += 1
    for k in range(n):
        fill[k + 1] += fill[k]
    across_start[:] = fill
    for j in range(n):
        for i in rows[start[j] : start[j + 1]]:
            row = max(inverse[j], inverse[i])
            across[fill[row]] = min(inverse[j], inverse[i])
            fill[row] += 1


@kernel("void(i4[::1], u4[::1], i4[::1], i4[::1])")
def elimination_tree(across_start, across, parent, post):  # type: ignore[no-untyped-def]
    """Write the parent of each column, −1 for roots, and a postorder: post[k] is the column that comes k-th.
    [Liu 1990]"""
    n = parent.shape[0]
    none = np.uint32(n)
    ancestor = np.full(n, none, np.uint32)
    for k in range(n):
        parent[k] = -1
        column = np.uint32(k)
        for i in across[across_start[k] : across_start[k + 1]]:
            while i < column:  # up to the root of what is joined, which k becomes
                above = ancestor[i]
                ancestor[i] = column
                if above == none:
                    parent[i] = k
                i = above
    head, following = np.full(n, -1, np.int32), np.empty(n, np.int32)
    for j in range(n - 1, -1, -1):  # so that children come in their order
        if parent[j] != -1:
            following[j] = head[parent[j]]
            head[parent[j]] = j
    stack, count = np.empty(n, np.int32), 0
    for root in range(n):
        if parent[root] != -1:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            j = stack[top]
            child = head[j]
            if child == -1:
                post[count] = j
                count += 1
                top -= 1
            else:
                head[j] = following[child]
                top += 1
                stack[top] = child


@kernel("void(i4[::1], u4[::1], i4[::1], i4[::1], u4[::1])")
def by_columns(across_start, across, post, start, rows):  # type: ignore[no-untyped-def]
    """Write a graph that is stored row by row in compressed columns, with column k for post[k]; a postorder of its tree
    does not change which of two joined nodes comes first."""
    n = post.shape[0]
    inverse, fill = np.empty(n, np.int32), np.zeros(n + 1, np.int32)
    for k in range(n):
        inverse[post[k]] = k
    for i in across:
        fill[inverse[i] + 1] += 1
    for j in range(n):
        fill[j + 1] += fill[j]
    start[:] = fill
    for k in range(n):
        for i in across[across_start[k] : across_start[k + 1]]:
            column = inverse[i]
            rows[fill[column]] = inverse[k]
            fill[column] += 1


@kernel("void(i4[::1], i4[::1])")
def in_postorder(parent, post):  # type: ignore[no-untyped-def]
    """Renumber the tree `parent` in place, with column k for post[k]."""
    n = parent.shape[0]
    inverse, old = np.empty(n, np.int32), parent.copy()
    for k in range(n):
        inverse[post[k]] = k
    for k in range(n):
        above = old[post[k]]
        parent[k] = -1 if above == -1 else inverse[above]


@kernel("void(i4[::1], u4[::1], i4[::1], i4[::1])")
def column_counts(start, rows, parent, counts):  # type: ignore[no-untyped-def]
    """Write the number of entries of each column of L, the diagonal's among them, of a postordered graph.
    [Gilbert 1994]"""
    n = parent.shape[0]
    first, most, last = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    ancestor = np.arange(n).astype(np.int32)
    for k in range(n):  # the first descendant, and 1 for leaves
        counts[k] = 1 if first[k] == -1 else 0
        j = k
        while j != -1 and first[j] == -1:
            first[j] = k
            j = parent[j]
    for j in range(n):
        if parent[j] != -1:
            counts[parent[j]] -= 1
        for i in rows[start[j] : start[j + 1]]:
            if first[j] > most[i]:  # j is a leaf of row i's subtree
                counts[j] += 1
                most[i] = first[j]
                before = last[i]
                last[i] = j
                if before != -1:  # the least common ancestor of two leaves is counted once too often
                    q = before
                    while q != ancestor[q]:
                        q = ancestor[q]
                    while before != q:
                        above = ancestor[before]
                        ancestor[before] = q
                        before = above
                    counts[q] -= 1
        if parent[j] != -1:
            ancestor[j] = parent[j]
    for j in range(n):
        if parent[j] != -1:
            counts[parent[j]] += counts[j]


@kernel("i8(i4[::1], i4[::1], i4[::1], i4[::1])")
def join_columns(parent, counts, first, lengths):  # type: ignore[no-untyped-def]
    """Write the first column and the number of rows of each supernode; return the number of supernodes.

    Columns of one structure form a supernode; a supernode is then merged with its last child where that leaves few
    zeros. [Ashcraft 1989]
    """
    n = parent.shape[0]
    children = np.zeros(n, np.int32)
    for j in range(n):
        if parent[j] != -1:
            children[parent[j]] += 1
    begins = np.empty(n + 1, np.int32)
    owner = np.empty(n, np.int32)
    count = 0
    for j in range(n):
        if j == 0 or parent[j - 1] != j or counts[j - 1] != counts[j] + 1 or children[j] > 1:
            begins[count] = j
            count += 1
        owner[j] = count - 1
    begins[count] = n
    width, length, zeros = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count, np.float64)
    leader = np.arange(count)
    for s in range(count):
        width[s] = begins[s + 1] - begins[s]
        length[s] = counts[begins[s]]
    for s in range(count - 2, -1, -1):
        above = parent[begins[s + 1] - 1]
        if above == -1:
            continue
        p = owner[above]
        while leader[p] != p:
            leader[p] = leader[leader[p]]
            p = leader[p]
        if begins[p] != begins[s + 1]:
            continue  # something else stands between
        columns = width[s] + width[p]
        new = width[s] * (length[p] + width[s] - length[s])
        total = zeros[s] + zeros[p] + new
        size = columns * (columns + 1) / 2 + columns * (length[p] - width[p])
        part = total / size
        if (new == 0 or columns <= SOME and part < ZEROS_OF_SOME
                or columns <= MANY and part < ZEROS_OF_MANY or part < ZEROS):
            leader[p] = s
            zeros[s], width[s], length[s] = total, columns, width[s] + length[p]
    made = 0
    for s in range(count):
        if leader[s] == s:
            first[made], lengths[made] = begins[s], length[s]
            made += 1
    first[made] = n
    return made


@kernel("void(i4[::1], u4[::1], i4[::1], i4[::1], u4[::1])")
def supernode_rows(start, rows, first, row_start, out):  # type: ignore[no-untyped-def]
    """Write the rows of each supernode, ascending, its own columns first. row_start: where those of each one begin, (s
    + 1,)."""
    count = first.shape[0] - 1
    n, total = first[count], row_start[count]
    owner, seen = np.empty(n, np.int32), np.full(n, -1, np.int32)
    for s in range(count):
        owner[first[s] : first[s + 1]] = s
    head, following = np.full(count, -1, np.int32), np.empty(count, np.int32)
    mixed, fill = np.empty(total + 1, np.uint32), np.zeros(n, np.int32)
    for s in range(count):
        at = row_start[s]
        for j in range(first[s], first[s + 1]):
            mixed[at] = j
            seen[j] = s
            at += 1
        # each row is written, and stays where it is new: no processor predicts whether it is
        for i in rows[start[first[s]] : start[first[s + 1]]]:
            mixed[at] = i
            at += seen[i] != s
            seen[i] = s
        child = head[s]
        while child != -1:
            for i in mixed[row_start[child] + first[child + 1] - first[child] : row_start[child + 1]]:
                mixed[at] = i
                at += seen[i] != s
                seen[i] = s
            child = following[child]
        below = mixed[row_start[s] + first[s + 1] - first[s] : at]
        if below.shape[0] > 0:
            above = owner[below.min()]
            following[s] = head[above]
            head[above] = s
    # counting sort: dealt out to rows, then back
    for i in mixed[:total]:
        fill[i] += 1
    at = 0
    for i in range(n):
        at, fill[i] = at + fill[i], at
    dealt = np.empty(total, np.uint32)
    for s in range(count):
        for i in mixed[row_start[s] : row_start[s + 1]]:
            dealt[fill[i]] = s
            fill[i] += 1
    at, at_of = 0, row_start[:-1].copy()
    for i in range(n):
        for s in dealt[at : fill[i]]:
            out[at_of[s]] = i
            at_of[s] += 1
        at = fill[i]


@kernel("void(u4[::1], i4[::1], i4[::1], i4[::1])")
def spread_rows(node_rows, begins, widths, rows):  # type: ignore[no-untyped-def]
    """Write the scalar rows of each node, three or one. begins: first row of each node in L; widths: number of its
    rows."""
    at = 0
    for i in node_rows:
        rows[at] = begins[i]
        if widths[i] == 3:
            rows[at + 1], rows[at + 2] = begins[i] + 1, begins[i] + 2
        at += widths[i]
