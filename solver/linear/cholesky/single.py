"""Supernodal factor in single precision, computed and applied on all threads: half the bytes to read.

For directions, which need not be exact: preconditioners and quasi-Newton methods.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...pool import KernelStage
from ...state import Index, Vec
from ...threads import kernel, parallel_for, parallel_stages
from ..interface import NotPositiveDefinite
from .front_layout import FrontLayout
from .multifrontal import Entries, Multifrontal, Single, Workspace, multifrontal
from .supernodal import Supernodes

PIECES = 32  #: of the unknowns
LEAST_PIVOT = 1.0e-5  #: of the diagonal's entry: less leaves no digit of it


class SingleFactor:
    """Cholesky factor in single precision that solves for one right-hand side, to about six digits of L."""

    def __init__(self, inside: Supernodes, workspace: Workspace | None = None, layout: FrontLayout | None = None,
                 unit: float = 1.0, entries: Entries | None = None) -> None:
        """inside: supernodes of the factor to copy, or whose pattern to factor on. workspace: memory in single
        precision, new where left out; a former factor in it is invalid afterwards, except for fronts that `layout` does
        not mark. layout: memory layout of fronts. unit: scale of the matrix in the fronts that remain valid. entries:
        positions of the entries of the next matrix, where their search has begun."""
        self._inside, self._workspace = inside, Workspace(np.float32) if workspace is None else workspace
        self.unit = unit  #: this is the factor of `unit` times the matrix
        self._fronts: Multifrontal | None = None
        self._looked_for_fronts = False
        self._layout, self._entries = layout, entries
        self._starts = inside.values_start if layout is None else layout.in_values.starts.astype(np.int32)
        self._values = self._workspace.values(int(inside.values_start[-1] if layout is None else layout.in_values.most))
        trees, first = len(inside.trees) // 2, inside.first
        columns = [np.arange(first[s], first[s + 1], dtype=np.int32) for s in inside.top]
        #: rows that no subtree owns
        self.above: Index = np.concatenate([np.zeros(0, dtype=np.int32), *columns])
        # a subtree's contribution to rows above it is separate until all are done; the last row is the solution
        self._y = np.zeros((trees + 1, len(inside.permutation)), dtype=np.float32)
        self._works = np.zeros((trees + 1, inside.longest), dtype=np.float32)
        lengths = np.diff(inside.rows_start)
        owner = np.repeat(np.arange(len(lengths)), np.diff(first))
        own = np.arange(len(inside.permutation)) - first[owner]
        self._pivots = self._starts[owner] + own * (lengths[owner] + 1)

    def copy(self) -> None:
        """Copy the present values of the double precision factor."""
        self._values[:] = self._inside.values
        self.unit = 1.0

    def can_factor(self, lower: sp.csc_matrix) -> bool:
        """Whether `factor` can be used for `lower`: not where BLAS cannot be reached, memory would be short or the
        pattern is another than that of the first matrix of a call."""
        if not self._looked_for_fronts:
            entries, self._entries = self._entries, None
            if entries is None or not entries.of(self._inside, lower):
                entries = self._workspace.entries(self._inside, lower)
            self._fronts, self._looked_for_fronts = multifrontal(
                self._inside, lower, np.float32, self._workspace.updates, layout=self._layout, entries=entries), True
        return self._fronts is not None and self._fronts.is_of(lower)

    def factor(self, lower: sp.csc_matrix) -> None:
        """Factor the matrix with this lower triangle (m, m) in single precision throughout, or the fronts that are to
        be factored.

        Raises NotPositiveDefinite, also where a pivot cancels in rounding, and ValueError where `can_factor` is not
        true.
        """
        if not self.can_factor(lower) or self._fronts is None:
            raise ValueError("this factor can only be copied")
        pivots, unknowns = self._pivots, self._inside.permutation
        if self._layout is not None and not self._layout.made.all():
            made = self._layout.unknowns[unknowns]
            pivots, unknowns = pivots[made], unknowns[made]
        else:
            self.unit = _unit(lower)
        if not self._fronts.factor(lower.data, self.unit, self._values):
            raise NotPositiveDefinite("a front has a pivot that is not positive")
        cancelled = np.empty(PIECES, dtype=bool)
        parallel_for(_any_cancelled, PIECES, self._values, pivots, lower.data, lower.indptr, unknowns,
                     LEAST_PIVOT * self.unit, cancelled)
        if cancelled.any():
            raise NotPositiveDefinite("a pivot is lost in single precision")

    def use_layout(self, at: FrontLayout) -> None:
        """Use the memory layout `at` from now on, of which not all fronts are factored next."""
        self._layout = at
        if self._fronts is not None:
            self._fronts.use_layout(at)

    @property
    def values(self) -> Single:
        """Return the values of L in the order of Supernodes."""
        return self._values

    def of(self, inside: Supernodes) -> bool:
        """Whether this factor is on the supernodes `inside`."""
        return inside is self._inside

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (m,), with the digits of single precision."""
        inside, y, works = self._inside, self._y, self._works
        # right sides may be tiny, and single precision ends at 1e-38
        scale = 2.0 ** np.ceil(np.log2(max(float(np.abs(rhs).max(initial=0.0)), 1.0e-300)))
        arrays = (self._values, inside.first, inside.rows_start, self._starts, inside.rows)
        out: Vec = np.empty(len(rhs))
        parallel_stages("solve", len(self._values), max(len(y) - 1, PIECES), iter((
            KernelStage(_load, PIECES, (rhs, inside.permutation, 1.0 / scale, y[-1])),
            KernelStage(forward_trees, len(y) - 1, (y, *arrays, inside.trees, self.above, works)),
            KernelStage(through_top, 1, (y, *arrays, inside.top, self.above, works[-1]), self._bytes_of_top),
            KernelStage(backward_trees, len(y) - 1, (y, *arrays, inside.trees, works)),
            KernelStage(_unload, PIECES, (y[-1], inside.permutation, scale * self.unit, out)))))
        return out

    def _bytes_of_top(self) -> int:
        """Return the bytes of L above all subtrees."""
        first, rows_start, top = self._inside.first, self._inside.rows_start, self._inside.top
        return int((np.diff(first)[top] * np.diff(rows_start)[top]).sum()) * self._values.itemsize


def _unit(lower: sp.csc_matrix) -> float:
    """Return a power of two that scales the diagonal of a matrix to the range of single precision."""
    largest = float(np.abs(lower.data[lower.indptr[:-1]]).max(initial=0.0))
    return 2.0 ** -round(np.log2(largest)) if 0.0 < largest < np.inf else 1.0


@kernel("void(i8, i8, f8[::1], i4[::1], f8, f4[::1])")
def _load(start, stop, rhs, permutation, scale, y):  # type: ignore[no-untyped-def]
    """Write scaled right-hand sides in the order of L's rows."""
    count = permutation.shape[0]
    for i in range(start * count // PIECES, stop * count // PIECES):
        y[i] = rhs[permutation[i]] * scale


@kernel("void(i8, i8, f4[::1], i4[::1], f8, f8[::1])")
def _unload(start, stop, y, permutation, scale, out):  # type: ignore[no-untyped-def]
    """Write scaled solutions in the order of the unknowns."""
    count = permutation.shape[0]
    for i in range(start * count // PIECES, stop * count // PIECES):
        out[permutation[i]] = y[i] * scale


@kernel("void(i8, i8, f4[::1], i8[::1], f8[::1], i4[::1], i4[::1], f8, b1[::1])")
def _any_cancelled(start, stop, values, pivots, data, indptr, unknowns, least, cancelled):  # type: ignore[no-untyped-def]
    """Write for each piece of the unknowns whether the square of a pivot is less than `least` times its diagonal entry.
    pivots: indices into values."""
    count = pivots.shape[0]
    for piece in range(start, stop):
        cancelled[piece] = False
        for i in range(piece * count // PIECES, (piece + 1) * count // PIECES):
            pivot = np.float64(values[pivots[i]])
            if not pivot * pivot >= least * data[indptr[unknowns[i]]]:
                cancelled[piece] = True


SIGNATURE = "void(f4[::1], f4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i8, f4[::1])"


@kernel(SIGNATURE, fastmath={"reassoc", "contract"})
def _forward(y, values, first, rows_start, values_start, rows, s, work):  # type: ignore[no-untyped-def]
    """Overwrite one supernode's own rows of y by those of L⁻¹ y, and subtract their contribution from the rows below.
    Arrays as in Supernodes."""
    columns, own = first[s + 1] - first[s], rows_start[s]
    length, base = rows_start[s + 1] - own, values_start[s]
    for r in range(length):
        work[r] = y[rows[own + r]]
    j = 0
    while j < columns:
        size = min(4, columns - j)
        # the triangle of four columns, then their contribution to all rows below
        for k in range(j, j + size):
            column = values[base + k * length : base + (k + 1) * length]
            work[k] /= column[k]
            for r in range(k + 1, j + size):
                work[r] -= column[r] * work[k]
        below = j + size
        rest = length - below
        at0 = base + j * length + below
        e = work[below:length]
        p = values[at0 : at0 + rest]
        if size == 4:
            q, t = values[at0 + length : at0 + length + rest], values[at0 + 2 * length : at0 + 2 * length + rest]
            u = values[at0 + 3 * length : at0 + 3 * length + rest]
            a, b, c, d = work[j], work[j + 1], work[j + 2], work[j + 3]
            for r in range(rest):
                e[r] -= p[r] * a + q[r] * b + t[r] * c + u[r] * d
        else:
            for k in range(size):
                p = values[at0 + k * length : at0 + k * length + rest]
                a = work[j + k]
                for r in range(rest):
                    e[r] -= p[r] * a
        j += size
    for r in range(length):
        y[rows[own + r]] = work[r]


@kernel(SIGNATURE, fastmath={"reassoc", "contract"})
def _backward(y, values, first, rows_start, values_start, rows, s, work):  # type: ignore[no-untyped-def]
    """Overwrite one supernode's own rows of y by those of L⁻ᵀ y, given the rows below them. Arrays as in Supernodes."""
    columns, own = first[s + 1] - first[s], rows_start[s]
    length, base = rows_start[s + 1] - own, values_start[s]
    for r in range(length):
        work[r] = y[rows[own + r]]
    last = columns
    while last > 0:
        j = max(last - 4, 0)
        size, rest = last - j, length - last
        at0 = base + j * length + last
        at1, at2 = at0 + min(1, size - 1) * length, at0 + min(2, size - 1) * length
        at3 = at0 + (size - 1) * length
        e = work[last:length]
        p, q = values[at0 : at0 + rest], values[at1 : at1 + rest]
        t, u = values[at2 : at2 + rest], values[at3 : at3 + rest]
        a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for r in range(rest):
            a += p[r] * e[r]
            b += q[r] * e[r]
            c += t[r] * e[r]
            d += u[r] * e[r]
        work[j] -= a
        if size > 1:
            work[j + 1] -= b
        if size > 2:
            work[j + 2] -= c
        if size > 3:
            work[j + 3] -= d
        for k in range(last - 1, j - 1, -1):
            column = values[base + k * length : base + (k + 1) * length]
            total = work[k]
            for r in range(k + 1, last):
                total -= column[r] * work[r]
            work[k] = total / column[k]
        last = j
    for r in range(columns):
        y[rows[own + r]] = work[r]


@kernel("void(i8, i8, f4[:,::1], f4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], f4[:,::1])")
def forward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, rows, trees, above, works,
):
    """Write L⁻¹ y of subtrees start to stop to rows of y of their own, with the contribution to the rows `above` all of
    them.

    y: (trees + 1, m), with right-hand sides in its last row. Other arrays as in Supernodes.
    """
    shared = y[y.shape[0] - 1]
    for tree in range(start, stop):
        own = y[tree]
        for i in above:
            own[i] = 0.0
        for i in range(first[trees[2 * tree]], first[trees[2 * tree + 1]]):
            own[i] = shared[i]
        for s in range(trees[2 * tree], trees[2 * tree + 1]):
            _forward(own, values, first, rows_start, values_start, rows, s, works[tree])


@kernel("void(i8, i8, f4[:,::1], f4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], f4[::1])")
def through_top(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, rows, top, above, work,
):
    """Overwrite the last row of y by L⁻ᵀ L⁻¹ y in the supernodes above all subtrees, in one piece, after
    `forward_trees`."""
    shared = y[y.shape[0] - 1]
    for tree in range(y.shape[0] - 1):
        own = y[tree]
        for i in above:
            shared[i] += own[i]
    for k in range(top.shape[0]):
        _forward(shared, values, first, rows_start, values_start, rows, top[k], work)
    for k in range(top.shape[0] - 1, -1, -1):
        _backward(shared, values, first, rows_start, values_start, rows, top[k], work)


@kernel("void(i8, i8, f4[:,::1], f4[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], f4[:,::1])")
def backward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, rows, trees, works,
):
    """Write L⁻ᵀ y of subtrees start to stop to the last row of y, after `through_top`."""
    shared = y[y.shape[0] - 1]
    for tree in range(start, stop):
        own = y[tree]
        for i in range(first[trees[2 * tree]], first[trees[2 * tree + 1]]):
            shared[i] = own[i]
        for s in range(trees[2 * tree + 1] - 1, trees[2 * tree] - 1, -1):
            _backward(shared, values, first, rows_start, values_start, rows, s, works[tree])
