"""Kernels that find which fronts of one factor remain valid in another, and memory for all others."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

SUPERNODES = "i4[::1], i4[::1], i4[::1], i4[::1], i4[::1]"


@kernel(f"void({SUPERNODES}, b1[::1], {SUPERNODES}, i4[::1], i4[::1], i1[::1], i8[::1], i8, i1[::1], "
        "i4[::1], i1[::1])")
def find_valid_fronts(  # type: ignore[no-untyped-def]
    first, rows_start, rows, permutation, parent, changed, old_first, old_rows_start, old_rows, old_permutation,
    old_parent, row_of_unknown, owner, old_stores_update, whole, least, made, before, stores_update,
):
    """Write which supernodes are to be factored, `made`, the old one that begins with the same unknown or −1, `before`,
    and which keep their update matrices, `stores_update`, (s,) each: those whose parent with its subtree, `whole`,
    costs more than `least`.

    A supernode remains valid where the old one has equal columns, none of them changed, equal rows, and children that
    all remain valid, and where its parent does so or it keeps its update matrix. row_of_unknown: row of each unknown in
    the old L. owner: old supernode of each row.
    """
    count = parent.shape[0]
    children, old_children = np.zeros(count, np.int32), np.zeros(old_parent.shape[0], np.int32)
    for s in range(count):
        if parent[s] >= 0:
            children[parent[s]] += 1
    for s in range(old_parent.shape[0]):
        if old_parent[s] >= 0:
            old_children[old_parent[s]] += 1
    made[:] = 0
    for s in range(count):
        columns, length = first[s + 1] - first[s], rows_start[s + 1] - rows_start[s]
        begin = row_of_unknown[permutation[first[s]]]
        t = owner[begin]
        before[s] = t if old_first[t] == begin else -1
        if before[s] < 0 or children[s] != old_children[t] or columns != old_first[t + 1] - begin or \
                length != old_rows_start[t + 1] - old_rows_start[t]:
            made[s] = 1
        if made[s] == 0:
            for r in range(length):
                unknown = permutation[rows[rows_start[s] + r]]
                if unknown != old_permutation[old_rows[old_rows_start[t] + r]] or (r < columns and changed[unknown]):
                    made[s] = 1
                    break
        if made[s] == 1 and parent[s] >= 0:
            made[parent[s]] = 1
    for s in range(count - 1, -1, -1):
        if made[s] == 1:
            stores_update[s] = parent[s] < 0 or whole[parent[s]] > least
        else:
            stores_update[s] = old_stores_update[before[s]]
            if parent[s] >= 0 and made[parent[s]] == 1 and stores_update[s] == 0:
                made[s] = 1


@kernel("i8(i8[::1], i4[::1], i8[::1], i8[::1], i8[:,::1], i8, i8[::1], i8[::1], i8[:,::1])")
def find_memory(sizes, before, old_starts, old_capacities, vacant, end, starts, capacities, left):  # type: ignore[no-untyped-def]
    """Write the first entries and capacities of memory blocks of these sizes, (s,); return the end of all.

    A supernode takes the block of the old one `before`, if that is large enough; or else the smallest vacant block that
    is, or one after all others. vacant: unused blocks, first entries and capacities, (v, 2). left: unused blocks
    afterwards, with capacities of −1 for none, (v + t, 2).
    """
    old, vacancies = old_starts.shape[0], vacant.shape[0]
    is_free = np.ones(old, np.bool_)
    for s in range(sizes.shape[0]):
        capacities[s] = -1
        if before[s] >= 0 and old_capacities[before[s]] >= sizes[s]:
            starts[s], capacities[s] = old_starts[before[s]], old_capacities[before[s]]
            is_free[before[s]] = False
    count = vacancies
    for k in range(vacancies):
        left[k, 0], left[k, 1] = vacant[k, 0], vacant[k, 1]
    for t in range(old):
        if is_free[t] and old_capacities[t] > 0:
            left[count, 0], left[count, 1] = old_starts[t], old_capacities[t]
            count += 1
    left[count:, 1] = -1
    for s in range(sizes.shape[0]):
        if capacities[s] >= 0:
            continue
        best = -1
        for k in range(count):
            if left[k, 1] >= sizes[s] and (best < 0 or left[k, 1] < left[best, 1]):
                best = k
        if best < 0:
            starts[s], capacities[s] = end, sizes[s]
            end += sizes[s]
        else:
            # what it does not need stays vacant
            starts[s], capacities[s] = left[best, 0], sizes[s]
            left[best, 0], left[best, 1] = left[best, 0] + sizes[s], left[best, 1] - sizes[s]
    return end
