"""Solves with a factor in single precision for many columns at once, on all threads.

Columns come in strips, (strips, m, lanes). What a subtree says of rows above it stands apart until all have spoken, so
no answer depends on the number of threads.
"""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ...threads import inlined, kernel, share
from .blas import addresses, at, backward_rows, forward_rows
from .multifrontal import Long, Single
from .single import SingleFactor
from .supernodal import Supernodes

GROUPS = 2  #: parts of a strip, side by side at the top of the tree


class SingleColumns:
    """L⁻ᵀ L⁻¹ for strips of columns, without the factor's unit."""

    def __init__(self, inside: Supernodes, single: SingleFactor) -> None:
        """inside: of the factor `single`."""
        self._inside, self._single = inside, single
        first, rows_start, rows, trees = inside.first, inside.rows_start, inside.rows, inside.trees
        self._place: Index = inside.permutation[rows].astype(np.int32)
        self._target: Index = self._place.copy()
        above, begins, count = [np.zeros(0, dtype=np.int32)], [0], 0
        for begin, end in trees.reshape(-1, 2).tolist():
            # whatever a subtree reaches above it, its root reaches too
            root = end - 1
            beyond = rows[rows_start[root] + first[end] - first[root] : rows_start[end]]
            own = slice(rows_start[begin], rows_start[end])
            outside = rows[own] >= first[end]
            self._target[own][outside] = -1 - count - np.searchsorted(beyond, rows[own][outside])
            above.append(inside.permutation[beyond].astype(np.int32))
            count += len(beyond)
            begins.append(count)
        self._above: Index = np.concatenate(above)
        self._begins: Index = np.array(begins, dtype=np.int32)
        blas = addresses()
        assert blas is not None, "the factor was made without BLAS"
        self._blas = blas
        self._said = np.zeros((0, 0, 0), dtype=np.float32)
        self._works = np.zeros((0, 0), dtype=np.float32)

    def solve(self, y: Vec, count: int) -> Vec:
        """In place of y, (strips, m, lanes) in single precision, of which `count` columns are not zero."""
        inside, trees, strips = self._inside, len(self._inside.trees) // 2, len(y)
        works = self._room(strips, y.shape[2])
        arrays = (self._single.values, inside.first, inside.rows_start, inside.values_start)
        share(_forward_trees, strips * trees, y, self._said, count, *arrays, self._target, inside.trees, self._begins,
              *works)
        share(_through_top, strips * GROUPS, y, self._said, count, *arrays, self._place, inside.top, self._above,
              *works)
        share(_backward_trees, strips * trees, y, count, *arrays, self._place, inside.trees, *works)
        return y

    def backward(self, y: Single, count: int) -> Single:
        """L⁻ᵀ alone in place of y, as in `solve`."""
        inside, strips = self._inside, len(y)
        works = self._room(strips, y.shape[2])
        arrays = (self._single.values, inside.first, inside.rows_start, inside.values_start)
        share(_backward_top, strips * GROUPS, y, count, *arrays, self._place, inside.top, *works)
        share(_backward_trees, strips * len(inside.trees) // 2, y, count, *arrays, self._place, inside.trees, *works)
        return y

    def _room(self, strips: int, lanes: int) -> tuple[Long, Index, Single]:
        """What kernels work with on so many strips of so many columns."""
        if self._said.shape[::2] != (strips, lanes):
            pieces = strips * max(len(self._inside.trees) // 2, GROUPS)
            self._said = np.zeros((strips, len(self._above), lanes), dtype=np.float32)
            self._works = np.zeros((pieces, self._inside.longest * lanes), dtype=np.float32)
            self._ints = np.zeros((pieces, 8), dtype=np.int32)
        return self._blas, self._ints, self._works


INSIDE = "f4[::1], i4[::1], i4[::1], i4[::1], i4[::1]"  # L's values, first, rows_start, values_start; places of rows
WORKS = "i8[::1], i4[:,::1], f4[:,::1]"


@inlined
def _take(y, said, left, right, first, rows_start, target, s, ints, work):  # type: ignore[no-untyped-def]
    """A supernode's rows of columns left to right, and the sizes that BLAS asks for.

    target: row of y, or of `said` where it is negative: −1 − row.
    """
    own, length = rows_start[s], rows_start[s + 1] - rows_start[s]
    width = right - left
    ints[0] = first[s + 1] - first[s]
    ints[1], ints[2], ints[3], ints[4] = length - ints[0], length, width, width
    for r in range(length):
        t = target[own + r]
        row, into = (y[t] if t >= 0 else said[-1 - t])[left:right], work[r * width : (r + 1) * width]
        for c in range(width):
            into[c] = row[c]


@inlined
def _put(y, said, left, right, count, rows_start, target, s, work):  # type: ignore[no-untyped-def]
    """The first `count` of them back."""
    own, width = rows_start[s], right - left
    for r in range(count):
        t = target[own + r]
        row, of = (y[t] if t >= 0 else said[-1 - t])[left:right], work[r * width : (r + 1) * width]
        for c in range(width):
            row[c] = of[c]


@kernel(f"void(i8, i8, f4[:,:,::1], f4[:,:,::1], i8, {INSIDE}, i4[::1], i4[::1], {WORKS})")
def _forward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, said, count, values, first, rows_start, values_start, target, trees, begins, blas, all_ints, works,
):
    """L⁻¹ Y of pieces start to stop: strips and subtrees."""
    several = trees.shape[0] // 2
    for piece in range(start, stop):
        strip, tree = piece // several, piece % several
        ints, work = all_ints[piece], works[piece]
        said[strip, begins[tree] : begins[tree + 1]] = np.float32(0.0)
        width = min(y.shape[2], count - strip * y.shape[2])
        for s in range(trees[2 * tree], trees[2 * tree + 1]):
            _take(y[strip], said[strip], 0, width, first, rows_start, target, s, ints, work)
            forward_rows(blas, at(values, values_start[s]), at(work, 0), ints)
            _put(y[strip], said[strip], 0, width, ints[2], rows_start, target, s, work)


@kernel(f"void(i8, i8, f4[:,:,::1], i8, {INSIDE}, i4[::1], {WORKS})")
def _backward_top(  # type: ignore[no-untyped-def]
    start, stop, y, count, values, first, rows_start, values_start, place, top, blas, all_ints, works,
):
    """L⁻ᵀ Y of the supernodes above all subtrees, for pieces start to stop: strips and GROUPS of their columns."""
    for piece in range(start, stop):
        strip, group = piece // GROUPS, piece % GROUPS
        width = min(y.shape[2], count - strip * y.shape[2])
        left, right = group * width // GROUPS, (group + 1) * width // GROUPS
        if left == right:
            continue
        own, ints, work = y[strip], all_ints[piece], works[piece]
        for k in range(top.shape[0] - 1, -1, -1):
            s = top[k]
            _take(own, own, left, right, first, rows_start, place, s, ints, work)
            backward_rows(blas, at(values, values_start[s]), at(work, 0), ints)
            _put(own, own, left, right, ints[0], rows_start, place, s, work)


@kernel(f"void(i8, i8, f4[:,:,::1], f4[:,:,::1], i8, {INSIDE}, i4[::1], i4[::1], {WORKS})")
def _through_top(  # type: ignore[no-untyped-def]
    start, stop, y, said, count, values, first, rows_start, values_start, place, top, above, blas, all_ints, works,
):
    """L⁻ᵀ L⁻¹ of the supernodes above all subtrees, for pieces start to stop: strips and GROUPS of their columns."""
    for piece in range(start, stop):
        strip, group = piece // GROUPS, piece % GROUPS
        width = min(y.shape[2], count - strip * y.shape[2])
        left, right = group * width // GROUPS, (group + 1) * width // GROUPS
        if left == right:
            continue
        own, ints, work = y[strip], all_ints[piece], works[piece]
        for i in range(above.shape[0]):
            into, row = own[above[i]], said[strip, i]
            for c in range(left, right):
                into[c] += row[c]
        for k in range(top.shape[0]):
            s = top[k]
            _take(own, own, left, right, first, rows_start, place, s, ints, work)
            forward_rows(blas, at(values, values_start[s]), at(work, 0), ints)
            _put(own, own, left, right, ints[2], rows_start, place, s, work)
        _backward_top(piece, piece + 1, y, count, values, first, rows_start, values_start, place, top, blas, all_ints,
                      works)


@kernel(f"void(i8, i8, f4[:,:,::1], i8, {INSIDE}, i4[::1], {WORKS})")
def _backward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, count, values, first, rows_start, values_start, place, trees, blas, all_ints, works,
):
    """L⁻ᵀ Y of pieces start to stop: strips and subtrees."""
    several = trees.shape[0] // 2
    for piece in range(start, stop):
        strip, tree = piece // several, piece % several
        own, ints, work = y[strip], all_ints[piece], works[piece]
        width = min(y.shape[2], count - strip * y.shape[2])
        for s in range(trees[2 * tree + 1] - 1, trees[2 * tree] - 1, -1):
            _take(own, own, 0, width, first, rows_start, place, s, ints, work)
            backward_rows(blas, at(values, values_start[s]), at(work, 0), ints)
            _put(own, own, 0, width, ints[0], rows_start, place, s, work)
