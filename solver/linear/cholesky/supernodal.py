"""Solves with a supernodal factor, L Y = B and Lᵀ Y = B, for a few columns at once, on all threads.

CHOLMOD's own solve reads L once as well, but on one thread and column by column through the right-hand sides; cvxopt
calls it once for each of them. A ConJac step needs a dozen columns of Lᵀ Y = B or more each time, its second largest
cost after the factorization; rows of contact and joints need both solves.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ...state import Index, Vec
from ...threads import kernel, parallel_for
from .plan_kernels import find_parents, gather_subtrees

GROUP = 16  #: most right-hand sides that are taken through a supernode together
MOST_GROUPS = 8  #: of right-hand sides, side by side at the top of the tree
SUBTREES = 12  #: no subtree costs more than one part in so many of the whole
SETUP = 400  #: overhead of a supernode, in values


class CholmodFactor(ctypes.Structure):
    """Layout of cholmod_factor of SuiteSparse 5, with 32 or 64 bit integers."""

    _fields_ = [
        ("n", ctypes.c_size_t), ("minor", ctypes.c_size_t),
        *[(name, ctypes.c_void_p) for name in ("Perm", "ColCount", "IPerm")], ("nzmax", ctypes.c_size_t),
        *[(name, ctypes.c_void_p) for name in ("p", "i", "x", "z", "nz", "next", "prev")],
        *[(name, ctypes.c_size_t) for name in ("nsuper", "ssize", "xsize", "maxcsize", "maxesize")],
        *[(name, ctypes.c_void_p) for name in ("super", "pi", "px", "s")],
        *[(name, ctypes.c_int) for name in ("ordering", "is_ll", "is_super", "is_monotonic", "itype", "xtype",
                                            "dtype")],
    ]


INTEGERS = {0: ctypes.c_int32, 2: ctypes.c_int64}  #: CHOLMOD_INT and CHOLMOD_LONG


class Supernodes(ABC):
    """Arrays of a supernodal factor, and solves with it."""

    nodes: int = 0  #: number of those whose unknowns come first, in whole 3 x 3 blocks, together in L too; 0 if unknown

    def __init__(self, first: Index, rows_start: Index, values_start: Index, rows: Index, permutation: Index) -> None:
        """first: first column of each supernode, (s + 1,). rows_start, values_start: where its rows and its values
        begin, (s + 1,), values in full columns. rows: ascending, its own columns first. permutation: row i of L is
        unknown permutation[i], (m,)."""
        self.first, self.rows_start, self.values_start = first, rows_start, values_start
        self.rows, self.permutation = rows, permutation
        self.parent = np.empty(len(first) - 1, dtype=np.int32)  #: owner of the first row below each one, −1 for roots
        self.relative = np.zeros(len(rows), dtype=np.int32)  #: index of each row below a supernode among its parent's
        find_parents(first, rows_start, rows.view(np.uint32), len(permutation), self.parent, self.relative)
        self.top, self.trees = _parts(first, rows_start, self.parent)  #: supernodes, borders of subtrees
        self.longest = int(np.diff(rows_start).max())  #: most rows of a supernode
        self._works = np.zeros((max(len(self.trees) // 2, MOST_GROUPS), self.longest * GROUP))

    @property
    @abstractmethod
    def values(self) -> Vec:
        """Return the values of L, supernode by supernode in full columns; writing them changes the factor."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether the values are those of a complete factor: a matrix that could not be factored leaves none, or
        some."""

    def corner(self, which: Index) -> Vec:
        """Return L in these rows and columns, ascending, (k,), as a dense matrix, (k, k)."""
        index = np.full(len(self.permutation), -1)
        index[which] = np.arange(len(which))
        out, values = np.zeros((len(which), len(which))), self.values
        for s in np.unique(np.searchsorted(self.first, which, "right") - 1):
            columns = index[self.first[s] : self.first[s + 1]]
            rows = index[self.rows[self.rows_start[s] : self.rows_start[s + 1]]]
            block = values[self.values_start[s] :][: len(columns) * len(rows)].reshape(len(columns), len(rows))
            out[np.ix_(rows[rows >= 0], columns[columns >= 0])] = block[np.ix_(columns >= 0, rows >= 0)].T
        return np.tril(out)

    def solve(self, rhs: Vec) -> Vec:
        """Return A⁻¹ rhs, (n, c), in the order of the unknowns, in new memory."""
        return self.other_half(self.half(rhs))

    def half(self, rhs: Vec) -> Vec:
        """Return L⁻¹ P rhs, (n, c), in new memory, P being the permutation; quick where few rows of `rhs` are not
        zero."""
        y = np.ascontiguousarray(rhs[self.permutation])
        groups = -(-y.shape[1] // GROUP)
        if groups > len(self._works):
            self._works = np.zeros((groups, self.longest * GROUP))
        inside = (self.values, self.first, self.rows_start, self.values_start, self.rows)
        parallel_for(forward, groups, y, groups, *inside, self._works)
        return y

    def other_half(self, y: Vec) -> Vec:
        """Return Pᵀ L⁻ᵀ y, (n, c), P being the permutation. y: of `half`, overwritten."""
        self.solve_lt(y)
        solution = np.empty_like(y)
        solution[self.permutation] = y
        return solution

    def solve_lt(self, rhs: Vec) -> Vec:
        """Overwrite `rhs`, (n, c), row-major, by L⁻ᵀ rhs, and return it.

        The top of the tree comes first, in parallel over groups of right-hand sides, then its subtrees in parallel. The
        result does not depend on the number of threads.
        """
        inside = (self.values, self.first, self.rows_start, self.values_start, self.rows)
        top, trees = self.top, self.trees
        width = rhs.shape[1]
        groups = min(max(2, -(-width // GROUP)), MOST_GROUPS, width)
        parallel_for(backward_top, groups, rhs, groups, *inside, top, self._works)
        parallel_for(backward_trees, len(trees) // 2, rhs, *inside, trees, self._works)
        return rhs


class OfCholmod(Supernodes):
    """Supernodes that view the arrays of a factor of CHOLMOD."""

    def __init__(self, raw: CholmodFactor) -> None:
        """raw: valid as long as the library's own object, which the caller must hold."""
        self._raw = raw
        super().__init__(*(_integers(raw, address, count) for address, count in (
            (raw.super, raw.nsuper + 1), (raw.pi, raw.nsuper + 1), (raw.px, raw.nsuper + 1), (raw.s, raw.ssize),
            (raw.Perm, raw.n))))

    @property
    def values(self) -> Vec:
        """Return a view of CHOLMOD's values of L, supernode by supernode in full columns."""
        return np.ctypeslib.as_array(ctypes.cast(self._raw.x, ctypes.POINTER(ctypes.c_double)), (self._raw.xsize,))

    @property
    def is_complete(self) -> bool:
        """Whether CHOLMOD's factor has values for all columns."""
        return bool(self._raw.x) and self._raw.xtype == 1 and self._raw.minor == self._raw.n


def _integers(raw: CholmodFactor, address: int, count: int) -> Index:
    kind = INTEGERS[raw.itype]
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), (count,)).astype(np.int32)


def _is_nested(raw: CholmodFactor) -> bool:
    """Whether columns and rows of a factor are within their bounds, so that kernels may use them."""
    first, starts = (_integers(raw, address, raw.nsuper + 1) for address in (raw.super, raw.pi))
    rows = _integers(raw, raw.s, raw.ssize)
    return bool(first[0] == 0 and first[-1] == raw.n and (np.diff(first) > 0).all() and starts[0] == 0
                and starts[-1] == raw.ssize and (np.diff(starts) >= np.diff(first)).all()
                and rows.min() >= 0 and rows.max() < raw.n)


def _parts(first: Index, rows_start: Index, parent: Index) -> tuple[Index, Index]:
    """Return supernodes at the top of the elimination tree, ascending, and borders of the subtrees below.

    Subtree k is the supernodes trees[2k] to trees[2k + 1], consecutive since CHOLMOD's order is a postorder; none costs
    more than a fraction of the whole.
    """
    count = len(parent)
    # reading it and setting it up, in values
    cost = np.diff(first).astype(np.int64) * np.diff(rows_start) + SETUP
    whole, start = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int32)
    gather_subtrees(parent, cost, whole, start)
    small = whole <= whole[parent < 0].sum() / SUBTREES
    roots = np.flatnonzero(small & ~np.append(small, False)[parent])
    # the largest first, so that no thread is left alone with it
    roots = roots[np.argsort(-whole[roots], kind="stable")]
    trees = np.stack([start[roots], roots + 1], axis=1).ravel()
    return np.flatnonzero(~small).astype(np.int32), trees.astype(np.int32)


def supernodes(address: int | None, size: int, solve_lt: Callable[[Vec], Vec]) -> Supernodes | None:
    """Return the arrays of CHOLMOD's numeric factor; None where it is not as expected.

    address: of the cholmod_factor, which Python's wrappers do not show, so its size and flags are verified, and a solve
    is compared with the library's own `solve_lt`. size: number of unknowns.
    """
    if not address:
        return None
    raw = CholmodFactor.from_address(address)
    flags = (raw.is_ll, raw.is_super, raw.xtype, raw.dtype)
    if raw.n != size or raw.minor != size or flags != (1, 1, 1, 0) or not 0 < raw.nsuper <= size:
        return None
    if raw.itype not in INTEGERS or raw.xsize >= 2**31:
        return None
    if not _is_nested(raw):
        return None
    inside = OfCholmod(raw)
    probe = np.cos(np.arange(3.0 * size)).reshape(size, 3)
    expected = solve_lt(probe.copy())
    solution = inside.solve_lt(probe)
    return inside if np.abs(solution - expected).max() <= 1.0e-8 * np.abs(expected).max() else None


@kernel("void(f8[:,::1], i8, i8, f8[::1], i4[::1], i4[::1], i4[::1], i4[::1], i8, f8[::1])",
        fastmath={"reassoc", "contract"})
def _solve_supernode(y, left, right, values, first, rows_start, values_start, rows, s, work):  # type: ignore[no-untyped-def]
    """Solve for Y of one supernode's rows from the rows below them, with columns left to right. y: (n, c)."""
    width = right - left
    begin, columns = first[s], first[s + 1] - first[s]
    own, length = rows_start[s], rows_start[s + 1] - rows_start[s]
    base = values_start[s]
    # each right-hand side on its own, so that products run along memory
    for r in range(length):
        row = y[rows[own + r]]
        for c in range(width):
            work[c * length + r] = row[left + c]

    # four columns a time from the last one up: everything below them is known. Two right-hand sides a time. Where
    # there are fewer the last one is taken twice, which costs less than code for the rest
    last = columns
    while last > 0:
        j = max(last - 4, 0)
        count, rest = last - j, length - last
        below = base + j * length + last
        at1, at2 = below + min(1, count - 1) * length, below + min(2, count - 1) * length
        at3 = below + (count - 1) * length
        # slices, since an index that might be negative keeps LLVM from making vectors of the sums
        p, q = values[below : below + rest], values[at1 : at1 + rest]
        t, u = values[at2 : at2 + rest], values[at3 : at3 + rest]
        for c in range(0, width, 2):
            x, z = c * length, min(c + 1, width - 1) * length
            e, f = work[x + last : x + length], work[z + last : z + length]
            a0, a1, a2, a3, b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for r in range(rest):
                a0 += p[r] * e[r]
                a1 += q[r] * e[r]
                a2 += t[r] * e[r]
                a3 += u[r] * e[r]
                b0 += p[r] * f[r]
                b1 += q[r] * f[r]
                b2 += t[r] * f[r]
                b3 += u[r] * f[r]
            e, f = work[x + j : x + last], work[z + j : z + last]
            if z == x:
                b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
            e[0] -= a0
            f[0] -= b0
            if count > 1:
                e[1] -= a1
                f[1] -= b1
            if count > 2:
                e[2] -= a2
                f[2] -= b2
            if count > 3:
                e[3] -= a3
                f[3] -= b3
        # the triangle of these columns
        for k in range(count - 1, -1, -1):
            column = values[base + (j + k) * length + j : base + (j + k) * length + last]
            pivot = 1.0 / column[k]
            for c in range(width):
                e = work[c * length + j : c * length + last]
                total = e[k]
                for r in range(k + 1, count):
                    total -= column[r] * e[r]
                e[k] = total * pivot
        last = j
    for r in range(columns):
        for c in range(width):
            y[begin + r, left + c] = work[c * length + r]


@kernel("void(i8, i8, f8[:,::1], i8, f8[::1], i4[::1], i4[::1], i4[::1], i4[::1], f8[:,::1])",
        fastmath={"reassoc", "contract"})
def forward(  # type: ignore[no-untyped-def]
    start, stop, y, groups, values, first, rows_start, values_start, rows, works,
):
    """Overwrite B by Y with L Y = B, for groups start to stop of the right-hand sides. y: (n, c). Arrays as in
    Supernodes."""
    for group in range(start, stop):
        left, right = group * y.shape[1] // groups, (group + 1) * y.shape[1] // groups
        width, work = right - left, works[group]
        for s in range(first.shape[0] - 1):
            columns, base = first[s + 1] - first[s], values_start[s]
            own, length = rows_start[s], rows_start[s + 1] - rows_start[s]
            any_nonzero = False
            for r in range(columns):
                for c in range(left, right):
                    any_nonzero = any_nonzero or y[first[s] + r, c] != 0.0
            if not any_nonzero:
                continue  # these rows of B are zero
            for r in range(length):
                row = y[rows[own + r]]
                for c in range(width):
                    work[c * length + r] = row[left + c]

            # four columns at a time: their triangle, then their contribution to all rows below. Where there are fewer
            # the last one is taken again, times zero
            for j in range(0, columns, 4):
                last = min(j + 4, columns)
                count, rest = last - j, length - last
                for k in range(j, last):
                    column = values[base + k * length + j : base + k * length + last]
                    pivot = 1.0 / column[k - j]
                    for c in range(width):
                        e = work[c * length + j : c * length + last]
                        e[k - j] *= pivot
                        for r in range(k - j + 1, count):
                            e[r] -= column[r] * e[k - j]
                below = base + j * length + last
                at1, at2 = below + min(1, count - 1) * length, below + min(2, count - 1) * length
                at3 = below + (count - 1) * length
                p, q = values[below : below + rest], values[at1 : at1 + rest]
                t, u = values[at2 : at2 + rest], values[at3 : at3 + rest]
                for c in range(width):
                    e, f = work[c * length + j : c * length + last], work[c * length + last : (c + 1) * length]
                    a0 = e[0]
                    a1 = e[1] if count > 1 else 0.0
                    a2 = e[2] if count > 2 else 0.0
                    a3 = e[3] if count > 3 else 0.0
                    for r in range(rest):
                        f[r] -= p[r] * a0 + q[r] * a1 + t[r] * a2 + u[r] * a3
            for r in range(length):
                row = y[rows[own + r]]
                for c in range(width):
                    row[left + c] = work[c * length + r]


@kernel("void(i8, i8, f8[:,::1], i8, f8[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], f8[:,::1])")
def backward_top(  # type: ignore[no-untyped-def]
    start, stop, y, groups, values, first, rows_start, values_start, rows, top, works,
):
    """Overwrite B by Y with Lᵀ Y = B in the supernodes `top`, for groups start to stop of the right-hand sides. y: (n,
    c)."""
    width = y.shape[1]
    for group in range(start, stop):
        for k in range(top.shape[0] - 1, -1, -1):
            for left in range(group * width // groups, (group + 1) * width // groups, GROUP):
                right = min(left + GROUP, (group + 1) * width // groups)
                _solve_supernode(y, left, right, values, first, rows_start, values_start, rows, top[k], works[group])


@kernel("void(i8, i8, f8[:,::1], f8[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], f8[:,::1])")
def backward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, rows, trees, works,
):
    """Overwrite B by Y with Lᵀ Y = B in whole subtrees start to stop, bounded by `trees`, after all above them. y: (n,
    c)."""
    for tree in range(start, stop):
        for s in range(trees[2 * tree + 1] - 1, trees[2 * tree] - 1, -1):
            for left in range(0, y.shape[1], GROUP):
                right = min(left + GROUP, y.shape[1])
                _solve_supernode(y, left, right, values, first, rows_start, values_start, rows, s, works[tree])
