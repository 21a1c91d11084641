"""Solves with the leading block of a factor in single precision, for a few right-hand sides that read it together."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ...threads import inline, kernel, parallel_for
from .single import SingleFactor
from .supernodal import Supernodes

FEW = 3  #: slots of right-hand sides, for which the kernels are written
#: slots between them in a kernel's work, more than any supernode has rows: LLVM makes no vectors where it does not
#: know this
STRIDE = 8208


class SingleFew:
    """Solver with A_qq, the block of all unknowns but the last ones, for a few columns, to about six digits of L."""

    def __init__(self, inside: Supernodes, retained: int, single: SingleFactor | None = None,
                 rows: Index | None = None) -> None:
        """inside: of the factor to copy. retained: number of the unknowns that are eliminated last. single: the factor
        itself, where it was computed in single precision. rows: unknown of each row of right-hand sides and solutions,
        (q,); None: as they are numbered."""
        self.single = SingleFactor(inside) if single is None else single  #: the copy, which solves for all unknowns
        self._inside = inside
        size = len(inside.permutation)
        row_of_unknown = np.empty(size, dtype=np.int32)
        row_of_unknown[inside.permutation] = np.arange(size)
        self._rows: Index
        self._rows, self._fixed = row_of_unknown[: size - retained], inside.permutation >= size - retained
        if rows is not None:
            self._rows = self._rows[rows]
        trees = len(inside.trees) // 2
        self._y = np.zeros((trees + 1, FEW, size), dtype=np.float32)
        self._works, self._scale = np.zeros((trees + 1, FEW * STRIDE), dtype=np.float32), np.zeros(FEW)

    @staticmethod
    def can_copy(inside: Supernodes) -> bool:
        """Whether no supernode of a factor is longer than the memory of the kernels."""
        return inside.longest <= STRIDE

    def of(self, inside: Supernodes) -> bool:
        """Whether this solver is on the supernodes `inside`."""
        return inside is self._inside

    def solve(self, rhs: Vec) -> Vec:
        """Return A_qq⁻¹ rhs, (q, c), for at most FEW columns, with the digits of single precision."""
        inside, y, works = self._inside, self._y, self._works
        _load(rhs, self._rows, y[-1], self._scale)
        arrays = (self.single.values, inside.first, inside.rows_start, inside.values_start, inside.rows)
        parallel_for(_forward_trees, len(y) - 1, y, *arrays, inside.trees, self.single.above, works)
        _through_top(y, self._fixed, *arrays, inside.top, self.single.above, works[-1])
        parallel_for(_backward_trees, len(y) - 1, y, self._fixed, *arrays, inside.trees, works)
        out: Vec = np.empty(rhs.shape)
        _unload(y[-1], self._rows, self._scale, self.single.unit, out)
        return out


INSIDE = "f4[::1], i4[::1], i4[::1], i4[::1], i4[::1]"  # L's values, first, rows_start, values_start, rows


@inline
def _less(work, row, a, b, c):  # type: ignore[no-untyped-def]
    """Subtract a, b and c from the three columns of a row of work."""
    work[row] -= a
    work[row + STRIDE] -= b
    work[row + 2 * STRIDE] -= c


@kernel("void(f8[:,::1], i4[::1], f4[:,::1], f8[::1])")
def _load(rhs, rows, y, scale):  # type: ignore[no-untyped-def]
    """Write right-hand sides to these rows of Y, each column over a power of two: they may be tiny, and single
    precision ends at 1e-38."""
    for c in range(rhs.shape[1]):
        largest = 1.0e-300
        for r in range(rhs.shape[0]):
            largest = max(largest, abs(rhs[r, c]))
        scale[c] = 2.0 ** np.ceil(np.log2(largest))
    for r in range(rhs.shape[0]):
        for c in range(rhs.shape[1]):
            y[c, rows[r]] = rhs[r, c] / scale[c]


@kernel("void(f4[:,::1], i4[::1], f8[::1], f8, f8[:,::1])")
def _unload(y, rows, scale, unit, out):  # type: ignore[no-untyped-def]
    """Write the solutions of the unscaled matrix to `out`."""
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[r, c] = y[c, rows[r]] * (scale[c] * unit)


@inline
def _take(y, work, rows, own, length):  # type: ignore[no-untyped-def]
    """Copy a supernode's rows to work, column by column, so that products run along memory."""
    a, b, c = y[0], y[1], y[2]
    for r in range(length):
        i = rows[own + r]
        work[r] = a[i]
        work[r + STRIDE] = b[i]
        work[r + 2 * STRIDE] = c[i]


@kernel(f"void(f4[:,::1], {INSIDE}, i8, f4[::1])", fastmath={"reassoc", "contract"})
def _forward(y, values, first, rows_start, values_start, rows, s, work):  # type: ignore[no-untyped-def]
    """Overwrite one supernode's own rows of Y by those of L⁻¹ Y, and subtract their contribution from the rows below.
    y: (FEW, m)."""
    columns, own, base = first[s + 1] - first[s], rows_start[s], values_start[s]
    length, nothing = rows_start[s + 1] - own, np.float32(0.0)
    _take(y, work, rows, own, length)
    # four columns at a time: their triangle, then their contribution to all rows below. Where there are fewer the last
    # one is taken again, times zero
    for j in range(0, columns, 4):
        last = min(j + 4, columns)
        count, rest = last - j, length - last
        for k in range(j, last):
            column = values[base + k * length : base + k * length + last]
            pivot = np.float32(1.0) / column[k]
            a0, b0, c0 = work[k] * pivot, work[k + STRIDE] * pivot, work[k + 2 * STRIDE] * pivot
            work[k], work[k + STRIDE], work[k + 2 * STRIDE] = a0, b0, c0
            for r in range(k + 1, last):
                value = column[r]
                work[r] -= value * a0
                work[r + STRIDE] -= value * b0
                work[r + 2 * STRIDE] -= value * c0
        below = base + j * length + last
        at1, at2 = below + min(1, count - 1) * length, below + min(2, count - 1) * length
        at3 = below + (count - 1) * length
        p, q = values[below : below + rest], values[at1 : at1 + rest]
        t, u = values[at2 : at2 + rest], values[at3 : at3 + rest]
        a0, b0, c0 = work[j], work[j + STRIDE], work[j + 2 * STRIDE]
        a1 = b1 = c1 = a2 = b2 = c2 = a3 = b3 = c3 = nothing
        if count > 1:
            a1, b1, c1 = work[j + 1], work[j + 1 + STRIDE], work[j + 1 + 2 * STRIDE]
        if count > 2:
            a2, b2, c2 = work[j + 2], work[j + 2 + STRIDE], work[j + 2 + 2 * STRIDE]
        if count > 3:
            a3, b3, c3 = work[j + 3], work[j + 3 + STRIDE], work[j + 3 + 2 * STRIDE]
        e = work[last:]
        for r in range(rest):
            e[r] -= p[r] * a0 + q[r] * a1 + t[r] * a2 + u[r] * a3
            e[r + STRIDE] -= p[r] * b0 + q[r] * b1 + t[r] * b2 + u[r] * b3
            e[r + 2 * STRIDE] -= p[r] * c0 + q[r] * c1 + t[r] * c2 + u[r] * c3
    a, b, c = y[0], y[1], y[2]
    for r in range(length):
        i = rows[own + r]
        a[i] = work[r]
        b[i] = work[r + STRIDE]
        c[i] = work[r + 2 * STRIDE]


@kernel(f"void(f4[:,::1], {INSIDE}, i8, f4[::1])", fastmath={"reassoc", "contract"})
def _backward(y, values, first, rows_start, values_start, rows, s, work):  # type: ignore[no-untyped-def]
    """Overwrite one supernode's own rows of Y by those of L⁻ᵀ Y, given the rows below them. y: (FEW, m)."""
    columns, own, base = first[s + 1] - first[s], rows_start[s], values_start[s]
    length = rows_start[s + 1] - own
    _take(y, work, rows, own, length)
    last = columns
    while last > 0:
        j = max(last - 4, 0)
        count, rest = last - j, length - last
        below = base + j * length + last
        at1, at2 = below + min(1, count - 1) * length, below + min(2, count - 1) * length
        at3 = below + (count - 1) * length
        p, q = values[below : below + rest], values[at1 : at1 + rest]
        t, u = values[at2 : at2 + rest], values[at3 : at3 + rest]
        e = work[last:]
        a0, a1, a2, a3 = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        b0, b1, b2, b3 = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        c0, c1, c2, c3 = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for r in range(rest):
            x, y0, z = e[r], e[r + STRIDE], e[r + 2 * STRIDE]
            a0 += p[r] * x
            a1 += q[r] * x
            a2 += t[r] * x
            a3 += u[r] * x
            b0 += p[r] * y0
            b1 += q[r] * y0
            b2 += t[r] * y0
            b3 += u[r] * y0
            c0 += p[r] * z
            c1 += q[r] * z
            c2 += t[r] * z
            c3 += u[r] * z
        _less(work, j, a0, b0, c0)
        if count > 1:
            _less(work, j + 1, a1, b1, c1)
        if count > 2:
            _less(work, j + 2, a2, b2, c2)
        if count > 3:
            _less(work, j + 3, a3, b3, c3)
        for k in range(last - 1, j - 1, -1):
            column = values[base + k * length : base + k * length + last]
            pivot = np.float32(1.0) / column[k]
            x, y0, z = work[k], work[k + STRIDE], work[k + 2 * STRIDE]
            for r in range(k + 1, last):
                value = column[r]
                x -= value * work[r]
                y0 -= value * work[r + STRIDE]
                z -= value * work[r + 2 * STRIDE]
            work[k], work[k + STRIDE], work[k + 2 * STRIDE] = x * pivot, y0 * pivot, z * pivot
        last = j
    begin, a, b, c = first[s], y[0], y[1], y[2]
    for r in range(columns):
        a[begin + r] = work[r]
        b[begin + r] = work[r + STRIDE]
        c[begin + r] = work[r + 2 * STRIDE]


@kernel(f"void(i8, i8, f4[:,:,::1], {INSIDE}, i4[::1], i4[::1], f4[:,::1])")
def _forward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, rows, trees, above, works,
):
    """Write L⁻¹ Y of subtrees start to stop to a y of their own, with the contribution to the rows `above` all of
    them."""
    shared = y[y.shape[0] - 1]
    for tree in range(start, stop):
        own = y[tree]
        begin, end = first[trees[2 * tree]], first[trees[2 * tree + 1]]
        for c in range(own.shape[0]):
            for i in above:
                own[c, i] = 0.0
            for i in range(begin, end):
                own[c, i] = shared[c, i]
        for s in range(trees[2 * tree], trees[2 * tree + 1]):
            _forward(own, values, first, rows_start, values_start, rows, s, works[tree])


@kernel(f"void(f4[:,:,::1], b1[::1], {INSIDE}, i4[::1], i4[::1], f4[::1])")
def _through_top(  # type: ignore[no-untyped-def]
    y, fixed, values, first, rows_start, values_start, rows, top, above, work,
):
    """Overwrite the last y by L⁻ᵀ L⁻¹ Y in the supernodes above all subtrees, with some rows fixed at zero; fixed:
    (m,)."""
    shared = y[y.shape[0] - 1]
    for tree in range(y.shape[0] - 1):
        own = y[tree]
        for c in range(own.shape[0]):
            for i in above:
                shared[c, i] += own[c, i]
    for k in range(top.shape[0]):
        _forward(shared, values, first, rows_start, values_start, rows, top[k], work)
    for c in range(shared.shape[0]):
        for i in above:
            if fixed[i]:
                shared[c, i] = 0.0
    for k in range(top.shape[0] - 1, -1, -1):
        _backward(shared, values, first, rows_start, values_start, rows, top[k], work)


@kernel(f"void(i8, i8, f4[:,:,::1], b1[::1], {INSIDE}, i4[::1], f4[:,::1])")
def _backward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, fixed, values, first, rows_start, values_start, rows, trees, works,
):
    """Write L⁻ᵀ Y of subtrees start to stop to the last y, with some rows fixed at zero; fixed: (m,)."""
    shared = y[y.shape[0] - 1]
    for tree in range(start, stop):
        own = y[tree]
        for c in range(own.shape[0]):
            for i in range(first[trees[2 * tree]], first[trees[2 * tree + 1]]):
                shared[c, i] = 0.0 if fixed[i] else own[c, i]
        for s in range(trees[2 * tree + 1] - 1, trees[2 * tree] - 1, -1):
            _backward(shared, values, first, rows_start, values_start, rows, s, works[tree])
