"""Kernel of the reduced mass, which reads the rows once, on all threads."""

from __future__ import annotations

from ...threads import kernel

PIECES = 16  #: of the rows; each has a sum of its own


@kernel("void(i8, i8, f8[::1], f8[:,::1], f8[:,:,::1])")
def weigh(start, stop, weights, rows, sums):  # type: ignore[no-untyped-def]
    """Add the lower triangle of Vᵀ diag(w) V over pieces `start` to `stop` of V's rows to sums, (PIECES, r, r), which
    are zero, piece by piece. weights: w, (n,). rows: V, (n, r)."""
    count, width = rows.shape
    for piece in range(start, stop):
        out, first, end = sums[piece], piece * count // PIECES, (piece + 1) * count // PIECES
        fours = first + (end - first) // 4 * 4
        for i in range(first, fours, 4):  # so that a sum is read and written once for four rows
            p, q, r, s = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            for a in range(width):
                e, f = weights[i] * p[a], weights[i + 1] * q[a]
                g, h = weights[i + 2] * r[a], weights[i + 3] * s[a]
                into = out[a]
                for b in range(a + 1):
                    into[b] += e * p[b] + f * q[b] + g * r[b] + h * s[b]
        for i in range(fours, end):
            for a in range(width):
                for b in range(a + 1):
                    out[a, b] += weights[i] * rows[i, a] * rows[i, b]
