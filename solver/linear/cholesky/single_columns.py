"""Solves with a factor in single precision for many columns at once, on all threads.

Columns come in strips, (strips, m, lanes). The contribution of a subtree to rows above it is stored separately until
all subtrees are done, so no result depends on the number of threads.
"""

from __future__ import annotations

import numpy as np

from ...state import Index
from ...threads import inline, kernel, parallel_for
from ..blocks import LANES
from .lanes import backward_lanes, forward_lanes
from .multifrontal import Single
from .single import SingleFactor
from .supernodal import Supernodes


class SingleColumns:
    """Solver with a factor in single precision for strips of columns, without the factor's unit."""

    def __init__(self, inside: Supernodes, single: SingleFactor) -> None:
        """inside: of the factor `single`."""
        self._inside, self._single = inside, single
        first, rows_start, rows, trees = inside.first, inside.rows_start, inside.rows, inside.trees
        self._unknowns: Index = inside.permutation[rows].astype(np.int32)
        self._target: Index = self._unknowns.copy()
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
        self._updates = np.zeros((0, len(self._above), LANES), dtype=np.float32)
        self._works = np.zeros((0, inside.longest * LANES), dtype=np.float32)

    def solve(self, y: Single) -> Single:
        """Overwrite y, (strips, m, LANES), in the order of the unknowns, by L⁻ᵀ L⁻¹ y, and return it."""
        inside, trees, strips = self._inside, len(self._inside.trees) // 2, len(y)
        works = self._work_arrays(strips)
        arrays = (self._single.values, inside.first, inside.rows_start, inside.values_start)
        parallel_for(_forward_trees, trees, y, self._updates, *arrays, self._target, inside.trees, self._begins, works)
        parallel_for(_through_top, strips, y, self._updates, *arrays, self._unknowns, inside.top, self._above, works)
        parallel_for(_backward_trees, trees, y, *arrays, self._unknowns, inside.trees, works)
        return y

    def backward(self, y: Single) -> Single:
        """Overwrite y, (strips, m, LANES), in the order of the unknowns, by L⁻ᵀ y, and return it."""
        inside, strips = self._inside, len(y)
        works = self._work_arrays(strips)
        arrays = (self._single.values, inside.first, inside.rows_start, inside.values_start)
        parallel_for(_backward_top, strips, y, *arrays, self._unknowns, inside.top, works)
        parallel_for(_backward_trees, len(inside.trees) // 2, y, *arrays, self._unknowns, inside.trees, works)
        return y

    def _work_arrays(self, strips: int) -> Single:
        """Return scratch memory of the kernels for this number of strips."""
        if len(self._updates) != strips:
            self._updates = np.zeros((strips, *self._updates.shape[1:]), dtype=np.float32)
            self._works = np.zeros((max(len(self._inside.trees) // 2, strips), self._works.shape[1]), dtype=np.float32)
        return self._works


# L's values, first, rows_start, values_start; unknown of each row
INSIDE = "f4[::1], i4[::1], i4[::1], i4[::1], i4[::1]"


@inline
def _take(y, updates, rows_start, target, s, work):  # type: ignore[no-untyped-def]
    """Copy a supernode's rows to work. target: row of y, or of `updates` where it is negative: −1 − row."""
    own = rows_start[s]
    for r in range(rows_start[s + 1] - own):
        t = target[own + r]
        row, into = y[t] if t >= 0 else updates[-1 - t], work[r * LANES : (r + 1) * LANES]
        for c in range(LANES):
            into[c] = row[c]


@inline
def _put(y, updates, count, rows_start, target, s, work):  # type: ignore[no-untyped-def]
    """Copy the first `count` rows of a supernode back from work."""
    own = rows_start[s]
    for r in range(count):
        t = target[own + r]
        row, of = y[t] if t >= 0 else updates[-1 - t], work[r * LANES : (r + 1) * LANES]
        for c in range(LANES):
            row[c] = of[c]


@inline
def _forward(y, updates, values, first, rows_start, values_start, target, s, work):  # type: ignore[no-untyped-def]
    """Overwrite one supernode's own rows of Y by those of L⁻¹ Y, and subtract their contribution from the rows
    below."""
    length = rows_start[s + 1] - rows_start[s]
    _take(y, updates, rows_start, target, s, work)
    forward_lanes(values, values_start[s], length, first[s + 1] - first[s], work)
    _put(y, updates, length, rows_start, target, s, work)


@inline
def _backward(y, values, first, rows_start, values_start, unknowns, s, work):  # type: ignore[no-untyped-def]
    """Overwrite one supernode's own rows of Y by those of L⁻ᵀ Y, given the rows below them."""
    columns = first[s + 1] - first[s]
    _take(y, y, rows_start, unknowns, s, work)
    backward_lanes(values, values_start[s], rows_start[s + 1] - rows_start[s], columns, work)
    _put(y, y, columns, rows_start, unknowns, s, work)


@kernel(f"void(i8, i8, f4[:,:,::1], f4[:,:,::1], {INSIDE}, i4[::1], i4[::1], f4[:,::1])")
def _forward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, updates, values, first, rows_start, values_start, target, trees, begins, works,
):
    """Overwrite Y by L⁻¹ Y in subtrees start to stop."""
    for tree in range(start, stop):
        for strip in range(y.shape[0]):
            updates[strip, begins[tree] : begins[tree + 1]] = np.float32(0.0)
        for s in range(trees[2 * tree], trees[2 * tree + 1]):
            # all strips while this part of L is at hand
            for strip in range(y.shape[0]):
                _forward(y[strip], updates[strip], values, first, rows_start, values_start, target, s, works[tree])


@kernel(f"void(i8, i8, f4[:,:,::1], {INSIDE}, i4[::1], f4[:,::1])")
def _backward_top(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, unknowns, top, works,
):
    """Overwrite Y by L⁻ᵀ Y in the supernodes above all subtrees, for strips start to stop."""
    for strip in range(start, stop):
        for k in range(top.shape[0] - 1, -1, -1):
            _backward(y[strip], values, first, rows_start, values_start, unknowns, top[k], works[strip])


@kernel(f"void(i8, i8, f4[:,:,::1], f4[:,:,::1], {INSIDE}, i4[::1], i4[::1], f4[:,::1])")
def _through_top(  # type: ignore[no-untyped-def]
    start, stop, y, updates, values, first, rows_start, values_start, unknowns, top, above, works,
):
    """Overwrite Y by L⁻ᵀ L⁻¹ Y in the supernodes above all subtrees, for strips start to stop."""
    for strip in range(start, stop):
        own = y[strip]
        for i in range(above.shape[0]):
            into, row = own[above[i]], updates[strip, i]
            for c in range(LANES):
                into[c] += row[c]
        for k in range(top.shape[0]):
            _forward(own, own, values, first, rows_start, values_start, unknowns, top[k], works[strip])
        _backward_top(strip, strip + 1, y, values, first, rows_start, values_start, unknowns, top, works)


@kernel(f"void(i8, i8, f4[:,:,::1], {INSIDE}, i4[::1], f4[:,::1])")
def _backward_trees(  # type: ignore[no-untyped-def]
    start, stop, y, values, first, rows_start, values_start, unknowns, trees, works,
):
    """Overwrite Y by L⁻ᵀ Y in subtrees start to stop."""
    for tree in range(start, stop):
        for s in range(trees[2 * tree + 1] - 1, trees[2 * tree] - 1, -1):
            for strip in range(y.shape[0]):
                _backward(y[strip], values, first, rows_start, values_start, unknowns, s, works[tree])
