"""Cholesky's factor of a few dozen rows with diagonal pivoting: LAPACK's dpstrf without the overhead of its call."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

NOT_FINITE, CONTRADICT = -1, -2  #: what `factor_rows` says instead of a rank
TINY = float(np.finfo(float).tiny)
NOTHING = 1.0e-14  #: response of a row relative to the largest, up to which no rate moves it


@kernel("i8(f8[:,::1], f8[:,::1], f8[::1], f8, f8, f8[:,::1], f8[::1], i8[::1])", fastmath={"contract", "reassoc"})
def factor_rows(G, Y, compliance, dependent, softened, L, scale, order):  # type: ignore[no-untyped-def]
    """Factor W = G Y + Σ, scaled to a diagonal of ones: W[order][:, order] = L Lᵀ. Return its rank, NOT_FINITE or
    CONTRADICT.

    G: (r, m). Y: (m, r). compliance: (r,). dependent: a pivot up to which elimination ends: the remaining rows in
    `order` depend on those before them, and all of W is factored again with `softened` added to its diagonal. Writes L,
    (r, r), scale, (r,), 0 for rows that no rate moves, and order, (r,).
    """
    count, rates = G.shape
    W = np.zeros((count, count))
    largest, total = 0.0, 0.0
    for i in range(count):
        for k in range(rates):
            g = G[i, k]
            if g != 0.0:  # a row has entries only from its bodies to the root
                for j in range(i + 1):
                    W[i, j] += g * Y[k, j]
        W[i, i] += compliance[i]
        for j in range(i + 1):
            total += W[i, j]
        largest = max(largest, W[i, i])
    if not np.isfinite(total):
        return NOT_FINITE
    for i in range(count):
        moved = W[i, i] > max(NOTHING * largest, TINY)
        scale[i] = 1.0 / np.sqrt(W[i, i]) if moved else 0.0
        order[i] = i
    left = np.empty(count)
    for i in range(count):
        for j in range(i):
            W[i, j] *= scale[i] * scale[j]
            W[j, i] = W[i, j]
        W[i, i] = 1.0
        left[i] = 1.0
    for k in range(count):
        best = k
        for i in range(k + 1, count):
            if left[i] > left[best]:
                best = i
        if left[best] <= dependent:
            break
        if best != k:
            order[k], order[best] = order[best], order[k]
            left[k], left[best] = left[best], left[k]
            for j in range(k):
                L[k, j], L[best, j] = L[best, j], L[k, j]
        pivot = np.sqrt(left[k])
        L[k, k] = pivot
        for i in range(k + 1, count):
            value = W[order[i], order[k]]
            for j in range(k):
                value -= L[i, j] * L[k, j]
            L[i, k] = value / pivot
            left[i] -= L[i, k] * L[i, k]
    else:
        return count
    rank = k
    for i in range(count):
        for j in range(i + 1):
            value = W[order[i], order[j]]
            if i == j:
                value += softened
            for q in range(j):
                value -= L[i, q] * L[j, q]
            if j < i:
                L[i, j] = value / L[j, j]
            elif value > 0.0:
                L[i, i] = np.sqrt(value)
            else:
                return CONTRADICT
    return rank


@kernel("void(f8[:,::1], f8[::1], i8[::1], f8[:,::1], f8[:,::1])", fastmath={"contract", "reassoc"})
def solve_rows(L, scale, order, missing, out):  # type: ignore[no-untyped-def]
    """Write W⁻¹ missing to `out`, both (r, c), with L, scale and order of `factor_rows`."""
    count, columns = missing.shape
    x = np.empty((count, columns))
    for i in range(count):
        row, factor = order[i], scale[order[i]]
        for c in range(columns):
            x[i, c] = factor * missing[row, c]
        for j in range(i):
            for c in range(columns):
                x[i, c] -= L[i, j] * x[j, c]
        for c in range(columns):
            x[i, c] /= L[i, i]
    for i in range(count - 1, -1, -1):
        row, factor = order[i], scale[order[i]]
        for c in range(columns):
            x[i, c] /= L[i, i]
            out[row, c] = factor * x[i, c]
        for j in range(i):
            for c in range(columns):
                x[j, c] -= L[i, j] * x[i, c]
