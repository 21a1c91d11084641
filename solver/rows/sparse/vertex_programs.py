"""Kernel that chooses the active rows of a vertex while all others are at rest: a program of at most five unknowns."""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel
from .frames import BLOCKS, add_direction, complete

TRIED = 8  #: rows of one vertex whose combinations are all tried


@inline
def with_rows(first, last, factor, target, equal, pool, chosen, size, D, force, basis, corner, own, w):  # type: ignore[no-untyped-def]
    """Write w = argmin ½ wᵀ D w − wᵀ force under the equations and the chosen rows. Return False where others imply a
    chosen row.

    pool: rows that correspond to the bits of `chosen`. own: written, the multipliers of these rows, (TRIED,).
    """
    count = 0
    row_at, along = np.empty(5, np.int64), np.zeros(5)
    for r in range(first, last):
        if equal[r] and add_direction(factor[r], size, basis, count, corner):
            row_at[count] = -1
            along[count] = target[r]
            count += 1
    for p in range(TRIED):
        own[p] = 0.0
        if chosen >> p & 1:
            r = pool[p]
            if not add_direction(factor[r], size, basis, count, corner):
                return False
            row_at[count] = p
            along[count] = target[r]
            count += 1
    for k in range(count):
        for j in range(k):
            along[k] -= corner[k, j] * along[j]
        along[k] /= corner[k, k]
    complete(size, basis, count)
    for i in range(size):
        w[i] = 0.0
        for k in range(count):
            w[i] += basis[i, k] * along[k]

    # the free directions, a dense system by Cholesky's elimination
    free = size - count
    system, largest = np.zeros((5, 6)), 0.0
    for i in range(size):
        largest = max(largest, D[i, i])
    for a in range(free):
        for b in range(free):
            for i in range(size):
                for j in range(size):
                    system[a, b] += basis[i, count + a] * D[i, j] * basis[j, count + b]
        system[a, a] += 1.0e-12 * largest
        for i in range(size):
            left = force[i]
            for j in range(size):
                left -= D[i, j] * w[j]
            system[a, 5] += basis[i, count + a] * left
    for c in range(free):
        for r in range(c + 1, free):
            ratio = system[r, c] / system[c, c]
            for j in range(c, free):
                system[r, j] -= ratio * system[c, j]
            system[r, 5] -= ratio * system[c, 5]
    for r in range(free - 1, -1, -1):
        for j in range(r + 1, free):
            system[r, 5] -= system[r, j] * system[j, 5]
        system[r, 5] /= system[r, r]
        for i in range(size):
            w[i] += basis[i, count + r] * system[r, 5]

    for k in range(count):
        along[k] = 0.0
        for i in range(size):
            left = -force[i]
            for j in range(size):
                left += D[i, j] * w[j]
            along[k] += basis[i, k] * left
    for k in range(count - 1, -1, -1):
        multiplier = along[k] / corner[k, k]
        for j in range(k):
            along[j] -= corner[k, j] * multiplier
        if row_at[k] >= 0:
            own[row_at[k]] = multiplier
    return True


@inline
def gap_of(row, target, u, low, size):  # type: ignore[no-untyped-def]
    """Return row · u − target of a row (5,) over `size` unknowns of u from `low` on."""
    total = -target
    for i in range(size):
        total += row[i] * u[low + i]
    return total


@kernel(f"i8({BLOCKS}, f8[::1], i4[::1], i4[::1], f8[:,::1], f8[::1], b1[::1], f8[::1], f8[::1], f8[::1], f8, b1[::1])")
def choose_rows(  # type: ignore[no-untyped-def]
    first, block_row, before, start, indptr, values, touched, row_first, factor, target, equal, u, multiplier,
    gap_tolerance, force_tolerance, active,
):
    """Update the active rows of every vertex where one is violated or has a negative multiplier; return the number of
    these vertices.

    values: of A. u: solution for the present active rows, (m,), with their multipliers, (r,). gap_tolerance: (r,).
    Forces of a vertex' neighbours and of rows over several vertices are those of that solution. So u is the minimum
    where no vertex changes, and the next solution is the minimum where the changed vertices have no neighbours in
    common.
    """
    changed = 0
    D, basis, corner = np.empty((5, 5)), np.empty((5, 5)), np.empty((5, 5))
    force, w, own = np.empty(5), np.empty(5), np.empty(TRIED)
    pool, violated = np.empty(TRIED, np.int64), np.empty(TRIED)
    for t in range(touched.shape[0]):
        v = touched[t]
        low, size = start[v], start[v + 1] - start[v]
        wrong, count = False, 0
        for r in range(row_first[t], row_first[t + 1]):
            if equal[r]:
                continue
            gap = gap_of(factor[r], target[r], u, low, size)
            if active[r]:
                wrong = wrong or multiplier[r] < -force_tolerance
                gap = -np.inf
            elif gap < -gap_tolerance[r]:
                wrong = True
            # the rows that matter most, sorted by gap
            at = count
            while at > 0 and violated[at - 1] > gap:
                at -= 1
            if at < TRIED:
                for k in range(min(count, TRIED - 1), at, -1):
                    pool[k], violated[k] = pool[k - 1], violated[k - 1]
                pool[at], violated[at] = r, gap
                count = min(count + 1, TRIED)
        if not wrong:
            continue

        for c in range(size):
            for r in range(c, size):
                D[r, c] = values[indptr[low + c] + r - c]
                D[c, r] = D[r, c]
        weight = 0.0
        for i in range(size):
            weight += D[i, i] / size
            force[i] = 0.0
            for j in range(size):
                force[i] += D[i, j] * u[low + j]
        for r in range(row_first[t], row_first[t + 1]):
            for i in range(size):
                force[i] -= factor[r, i] * multiplier[r]

        best, least = 0, np.inf
        for chosen in range(1 << count):
            if not with_rows(row_first[t], row_first[t + 1], factor, target, equal, pool, chosen, size, D, force, basis,
                             corner, own, w):
                continue
            worst = 0.0  # what is exceeded and what pulls, both as lengths
            for p in range(count):
                if chosen >> p & 1:
                    worst = max(worst, (-own[p] - 0.1 * force_tolerance) / weight)
                else:
                    r = pool[p]
                    worst = max(worst, -gap_of(factor[r], target[r], w, 0, size) - 0.1 * gap_tolerance[r])
            if worst < least:
                best, least = chosen, worst
            if worst <= 0.0:
                break
        differs = False
        for p in range(count):
            now = (best >> p & 1) == 1
            differs = differs or now != active[pool[p]]
            active[pool[p]] = now
        if differs or wrong:
            changed += 1
    return changed
