"""Kernels of a pattern to which elements are added: their pairs of nodes by column, merged with the pairs of the
pattern.

Blocks of the lower triangle are numbered column by column: column × (number of nodes) + row. A pair of an element's
corners gives one block, as it is or transposed; where its other corner has no row, or is eliminated earlier, it is a
source of the diagonal block.
"""

from __future__ import annotations

import numpy as np

from ..threads import kernel

PAIRS = np.array([[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]])  #: corners of each


@kernel("i8(i4[:,::1], i8[::1], i8, i8, i8[::1], i4[::1])")
def pair_sources(nodes, position, size, number, key, source):  # type: ignore[no-untyped-def]
    """Write the key, 2 block + (1 where transposed), ascending, and the source, 6 element + pair, of each contribution
    of elements; return their number.

    nodes: (s, 4). position: row of each node, −1 for none; size: number of rows. number: of the first element. key,
    source: (12 s,).
    """
    # counting sort, first by rows and then by columns: each is stable
    rows, columns, count = np.zeros(2 * size + 1, np.int32), np.zeros(size + 1, np.int32), 0
    low, column_of = np.empty(key.shape[0], np.int32), np.empty(key.shape[0], np.int32)
    given, by_row = np.empty(key.shape[0], np.int32), np.empty(key.shape[0], np.int32)
    for pair in range(6):
        for transposed in range(2):
            for e in range(nodes.shape[0]):
                row, column = (position[nodes[e, PAIRS[pair, transposed]]],
                               position[nodes[e, PAIRS[pair, 1 - transposed]]])
                if column >= 0:
                    low[count], column_of[count] = 2 * max(row, column) + transposed, column
                    given[count] = 6 * (number + e) + pair
                    rows[low[count] + 1] += 1
                    columns[column + 1] += 1
                    count += 1
    for j in range(2 * size):
        rows[j + 1] += rows[j]
    for j in range(size):
        columns[j + 1] += columns[j]
    for k in range(count):
        by_row[rows[low[k]]] = k
        rows[low[k]] += 1
    for i in range(count):
        k = by_row[i]
        at = columns[column_of[k]]
        key[at], source[at] = 2 * np.int64(column_of[k]) * size + low[k], given[k]
        columns[column_of[k]] += 1
    return count


@kernel("i8(i8[::1], i4[::1], i4[::1], i8[::1], i4[::1], i8, i8[::1], i4[::1], i4[::1])")
def merge(base, start, sources, key, given, count, block, new_start, new_sources):  # type: ignore[no-untyped-def]
    """Write the blocks of a pattern and of additional elements, ascending, the first source of each and all sources;
    return the number of blocks.

    base, start, sources: of the Pattern. key, given: of the additional elements, the first `count` entries. These
    follow the sources of the pattern, so that the order of its sums does not change.
    """
    made, taken, at, b = 0, 0, 0, 0
    while b < base.shape[0] or taken < count:
        # blocks without additional sources, all at once
        begin, following = b, key[taken] >> 1 if taken < count else np.int64(-1)
        while b < base.shape[0] and (taken == count or base[b] < following):
            b += 1
        # (slices, whose indices LLVM knows to rise from nothing: these loops are vectors then)
        moved = at - start[2 * begin]
        was, now = base[begin:b], block[made : made + b - begin]
        for k in range(was.shape[0]):
            now[k] = was[k]
        old_starts, new_starts = start[2 * begin : 2 * b], new_start[2 * made : 2 * (made + b - begin)]
        for k in range(old_starts.shape[0]):
            new_starts[k] = old_starts[k] + moved
        given_before, given_now = sources[start[2 * begin] : start[2 * b]], new_sources[at : start[2 * b] + moved]
        for k in range(given_before.shape[0]):
            given_now[k] = given_before[k]
        made, at = made + b - begin, start[2 * b] + moved
        if taken == count:
            break
        # a block with additional sources, whether it is new or not
        block[made] = following
        is_known = b < base.shape[0] and base[b] == following
        for transposed in range(2):
            new_start[2 * made + transposed] = at
            if is_known:
                for k in range(start[2 * b + transposed], start[2 * b + transposed + 1]):
                    new_sources[at] = sources[k]
                    at += 1
            while taken < count and key[taken] == 2 * following + transposed:
                new_sources[at] = given[taken]
                at += 1
                taken += 1
        made, b = made + 1, b + is_known
    new_start[2 * made] = at
    return made


@kernel("void(i8[::1], i4[::1], i8[::1], i4[::1])")
def widen(base, start, block, out):  # type: ignore[no-untyped-def]
    """Write the first source of each of a larger set of blocks, (2 blocks + 1,), which includes all blocks `base` of a
    Pattern; the other blocks have no sources."""
    b = 0
    for k in range(block.shape[0]):
        is_known = b < base.shape[0] and base[b] == block[k]
        out[2 * k] = start[2 * b]
        out[2 * k + 1] = start[2 * b + 1] if is_known else start[2 * b]
        b += is_known
    out[2 * block.shape[0]] = start[2 * b]


@kernel("void(i8[::1], i8, i4[::1], i4[::1])")
def begin_columns(block, border, column_start, indptr):  # type: ignore[no-untyped-def]
    """Write the first block of each column of nodes, (p + 1,), and the first entry of each scalar column, with the
    border's last, (3 p + border + 1,)."""
    size, b, at = column_start.shape[0] - 1, 0, 0
    for j in range(size):
        column_start[j] = b
        while b < block.shape[0] and block[b] < (j + 1) * size:
            b += 1
        for c in range(3):
            indptr[3 * j + c] = at
            at += 3 * (b - column_start[j]) - c + border
    column_start[size] = b
    for k in range(border + 1):
        indptr[3 * size + k] = at
        at += border - k
