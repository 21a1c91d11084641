"""Kernels for the graph of vertices of a matrix and the positions of its entries in an elimination order."""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel

#: first neighbour of each vertex (n + 1,), and the neighbours
ADJACENCY = "Tuple((i4[::1], i4[::1]))"
#: first block of each column of blocks (n + 1,), rank of its rows, rows before it; indptr and indices of the triangle
PATTERN = "Tuple((i4[::1], i4[::1], i4[::1], i4[::1], i4[::1]))"


@inline
def sort(values, begin, end):  # type: ignore[no-untyped-def]
    """Sort a few values, from begin to end, in place."""
    for k in range(begin + 1, end):
        value, slot = values[k], k
        while slot > begin and values[slot - 1] > value:
            values[slot] = values[slot - 1]
            slot -= 1
        values[slot] = value


@kernel("b1(i4[:,::1], i4[::1], i4[::1], i4[::1])")
def owners_of(unknowns, owner, local, sizes):  # type: ignore[no-untyped-def]
    """Write the vertex of each unknown, (m,), its number among the vertex' own, (m,), and the number of unknowns of
    each vertex, (n,). Return whether each unknown has exactly one vertex and no row of `unknowns`, (n, 5), has an
    unknown after a −1."""
    owner[:] = -1
    count = 0
    for v in range(unknowns.shape[0]):
        sizes[v] = 0
        for k in range(unknowns.shape[1]):
            one = unknowns[v, k]
            if one < 0:
                continue
            if sizes[v] < k or one >= owner.shape[0] or owner[one] >= 0:
                return False
            owner[one], local[one] = v, k
            sizes[v] += 1
            count += 1
    return count == owner.shape[0]


@kernel(f"{ADJACENCY}(i4[::1], i4[::1], i4[::1], i4[:,::1])")
def neighbours(indptr, indices, owner, unknowns):  # type: ignore[no-untyped-def]
    """Return the neighbours of each vertex by entries below the diagonal, each once and ascending, as an ADJACENCY."""
    count = unknowns.shape[0]
    first, seen = np.zeros(count + 1, np.int32), np.empty(count, np.int32)
    at, joined = np.empty(0, np.int32), np.empty(0, np.int32)
    for sweep in range(2):
        seen[:] = -1
        for b in range(count):
            for k in range(unknowns.shape[1]):
                column = unknowns[b, k]
                if column < 0:
                    break
                for entry in range(indptr[column], indptr[column + 1]):
                    a = owner[indices[entry]]
                    if indices[entry] <= column or a == b or seen[a] == b:
                        continue
                    seen[a] = b
                    if sweep == 0:
                        first[a + 1] += 1
                        first[b + 1] += 1
                    else:
                        joined[at[a]], joined[at[b]] = b, a
                        at[a] += 1
                        at[b] += 1
        if sweep == 0:
            for v in range(count):
                first[v + 1] += first[v]
            at, joined = first[:-1].copy(), np.empty(first[-1], np.int32)

    # a pair may have been found from both sides
    once, end = np.zeros(count + 1, np.int32), 0
    for v in range(count):
        sort(joined, first[v], first[v + 1])
        last = -1
        for k in range(first[v], first[v + 1]):
            a = joined[k]
            if a != last:
                joined[end] = a
                end += 1
                last = a
        once[v + 1] = end
    return once, joined[:end].copy()


@kernel(f"{PATTERN}(i4[::1], i4[::1], i4[::1], i4[::1], i4[::1])")
def pattern_of(first_neighbour, neighbour, rank, vertex, start):  # type: ignore[no-untyped-def]
    """Return the lower triangle in whole blocks, as a PATTERN: in each block column the diagonal block first, the
    others by rank."""
    count = rank.shape[0]
    first = np.zeros(count + 1, np.int32)
    for j in range(count):
        v = vertex[j]
        first[j + 1] = first[j] + 1
        for k in range(first_neighbour[v], first_neighbour[v + 1]):
            first[j + 1] += rank[neighbour[k]] > j
    row, before = np.empty(first[-1], np.int32), np.empty(first[-1], np.int32)
    indptr, total = np.zeros(start[-1] + 1, np.int32), 0
    for j in range(count):
        v, at, width = vertex[j], first[j] + 1, start[j + 1] - start[j]
        row[first[j]] = j
        for k in range(first_neighbour[v], first_neighbour[v + 1]):
            if rank[neighbour[k]] > j:
                row[at] = rank[neighbour[k]]
                at += 1
        sort(row, first[j] + 1, at)
        rows = 0
        for k in range(first[j], at):
            before[k] = rows - width
            rows += start[row[k] + 1] - start[row[k]]
        for c in range(width):
            total += rows - c
            indptr[start[j] + c + 1] = total
    indices = np.empty(total, np.int32)
    for j in range(count):
        for c in range(start[j + 1] - start[j]):
            entry = indptr[start[j] + c]
            for k in range(first[j], first[j + 1]):
                for r in range(start[row[k]] + (c if row[k] == j else 0), start[row[k] + 1]):
                    indices[entry] = r
                    entry += 1
    return first, row, before, indptr, indices


@kernel(f"i8({', '.join(['i4[::1]'] * 12)})")
def find_entries(  # type: ignore[no-untyped-def]
    indptr, indices, owner, rank, row_of, start, first, row, before, own, lower, to,
):
    """Write the indices of the entries on and below the diagonal, `lower`, and their positions in the triangle, `to`;
    return their number.

    own: indptr of the triangle. Entries that the order brings above the diagonal are transposed.
    """
    count = 0
    for column in range(indptr.shape[0] - 1):
        last, block = -1, 0  # entries of one vertex are consecutive
        for entry in range(indptr[column], indptr[column + 1]):
            if indices[entry] < column:
                continue
            p, q = row_of[indices[entry]], row_of[column]
            i, j = rank[owner[indices[entry]]], rank[owner[column]]
            if p < q:
                p, q, i, j = q, p, j, i
            if owner[indices[entry]] != last:
                low, high = first[j], first[j + 1] - 1
                while low < high:
                    middle = (low + high) // 2
                    if row[middle] < i:
                        low = middle + 1
                    else:
                        high = middle
                last, block = owner[indices[entry]], low
            lower[count] = entry
            to[count] = own[q] + (start[j + 1] - start[j]) - (q - start[j]) + before[block] + p - start[i]
            count += 1
    return count
