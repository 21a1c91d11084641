"""Kernels of the multifrontal factorization: fronts of whole subtrees, and tiles of one front.

PLAN: values and updates; first, rows_start and values_start as in Supernodes; update_start: first entry of each
supernode's update matrix, which is square, with its lower triangle alone in use; children of each supernode; relative:
index of each row below a supernode among the rows of the parent; and of each column of L the entries of A: their index
in A's data and their row in the front.
"""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel
from .blas import at, bytes_of, cholesky, less_product, less_square, solve_right

KINDS = ("f4", "f8")  #: single and double precision; `blas` holds the addresses for the same
PLAN = ("{0}[::1], {0}[::1], i4[::1], i4[::1], i4[::1], i8[::1], i4[::1], i4[::1], u4[::1], i4[::1], u4[::1], "
        "u4[::1]")


def both(signature: str) -> list[str]:
    """Return a kernel's signatures in single and double precision; {0} in `signature` is the type."""
    return [signature.format(kind) for kind in KINDS]



@inline
def _assemble(  # type: ignore[no-untyped-def]
    s, begin, end, data, scale, values, updates, first, rows_start, values_start, update_start, children_start,
    children, relative, column_start, source, row_of,
):
    """Assemble columns begin to end of a front: entries of A times scale, then update matrices of the children, in a
    fixed order."""
    columns, length = first[s + 1] - first[s], rows_start[s + 1] - rows_start[s]
    below = length - columns
    base, own = np.int64(values_start[s]), update_start[s]
    for j in range(begin, min(end, columns)):
        column = values[base + j * length : base + (j + 1) * length]
        column[:] = 0.0
        for e in range(column_start[first[s] + j], column_start[first[s] + j + 1]):
            column[row_of[e]] = data[source[e]] * scale
    for j in range(max(begin, columns) - columns, end - columns):
        updates[own + j * below + j : own + (j + 1) * below] = 0.0
    for c in range(children_start[s], children_start[s + 1]):
        child = children[c]
        skipped = first[child + 1] - first[child]
        size = rows_start[child + 1] - rows_start[child] - skipped
        parent_rows = relative[rows_start[child] + skipped : rows_start[child + 1]]
        for j in range(np.searchsorted(parent_rows, begin), np.searchsorted(parent_rows, end)):
            update = updates[update_start[child] + j * size + j : update_start[child] + (j + 1) * size]
            into = np.int64(parent_rows[j])
            rows = parent_rows[j:]
            if into < columns:
                target = values[base + into * length : base + (into + 1) * length]
                for i in range(size - j):
                    target[rows[i]] += update[i]
            else:
                target = updates[own + (into - columns) * below : own + (into - columns + 1) * below]
                for i in range(size - j):
                    target[np.uint32(rows[i] - columns)] += update[i]


@kernel(both(f"void(i8, i8, i4[::1], i1[::1], i8[::1], i4[:,::1], i4[::1], f8[::1], {{0}}, {PLAN})"))
def factor_trees(  # type: ignore[no-untyped-def]
    start, stop, trees, made, blas, all_ints, failed, data, scale, values, updates, first, rows_start, values_start,
    update_start, children_start, children, relative, column_start, source, row_of,
):
    """Factor the fronts of subtrees start to stop that are to be factored. failed: set to 1 for a subtree that is not
    positive definite, (trees + 1,)."""
    for tree in range(start, stop):
        ints = all_ints[tree]
        for s in range(trees[2 * tree], trees[2 * tree + 1]):
            if made[s] == 0:
                continue
            columns, length = first[s + 1] - first[s], rows_start[s + 1] - rows_start[s]
            _assemble(s, 0, length, data, scale, values, updates, first, rows_start, values_start, update_start,
                      children_start, children, relative, column_start, source, row_of)
            block = at(values, values_start[s])
            ints[0], ints[1], ints[2], ints[3], ints[4] = columns, length - columns, length, 0, length - columns
            cholesky(blas, block, ints)
            if ints[3] != 0:
                failed[tree] = 1
                return
            if length > columns:
                solve_right(blas, block, block + bytes_of(values) * columns, ints)
                less_square(blas, block + bytes_of(values) * columns, at(updates, update_start[s]), ints)


@kernel(both(f"void(i8, i8, i8, i8, f8[::1], {{0}}, {PLAN})"))
def assemble_tiles(  # type: ignore[no-untyped-def]
    start, stop, s, tile, data, scale, values, updates, first, rows_start, values_start, update_start, children_start,
    children, relative, column_start, source, row_of,
):
    """Assemble the columns of the front s, `tile` columns a piece, for pieces start to stop."""
    length = rows_start[s + 1] - rows_start[s]
    _assemble(s, start * tile, min(stop * tile, length), data, scale, values, updates, first, rows_start, values_start,
              update_start, children_start, children, relative, column_start, source, row_of)


TILES = both("void(i8, i8, i8, i8, i8, i8, i8[::1], i4[:,::1], {0}[::1], i4[::1], i4[::1])")


@kernel(TILES)
def panel_tiles(  # type: ignore[no-untyped-def]
    start, stop, s, left, right, tile, blas, all_ints, values, rows_start, values_start,
):
    """Subtract the product of earlier columns from the columns left to right of the front s, `tile` rows from `left` on
    a piece."""
    length = rows_start[s + 1] - rows_start[s]
    block, each = at(values, values_start[s]), bytes_of(values)
    for k in range(start, stop):
        row, ints = left + k * tile, all_ints[k]
        ints[0], ints[1], ints[2], ints[3], ints[4] = left, min(tile, length - row), length, right - left, length
        less_product(blas, block + each * row, block + each * left, block + each * (left * length + row), ints)


@kernel(both("void(i8, i8, i8, i8, i8, i8[::1], i4[:,::1], i4[::1], {0}[::1], i4[::1], i4[::1])"))
def start_panel(  # type: ignore[no-untyped-def]
    start, stop, s, left, right, blas, all_ints, failed, values, rows_start, values_start,
):
    """Factor the triangle of the columns left to right of the front s, in one piece; failed[-1] is set where it is not
    positive definite."""
    length, ints = rows_start[s + 1] - rows_start[s], all_ints[0]
    ints[0], ints[2], ints[3] = right - left, length, 0
    cholesky(blas, at(values, values_start[s]) + bytes_of(values) * (left * length + left), ints)
    if ints[3] != 0:
        failed[-1] = 1


@kernel(TILES)
def solve_tiles(  # type: ignore[no-untyped-def]
    start, stop, s, left, right, tile, blas, all_ints, values, rows_start, values_start,
):
    """Solve for the columns left to right of the front s below their triangle, `tile` rows a piece."""
    length = rows_start[s + 1] - rows_start[s]
    panel = at(values, values_start[s]) + bytes_of(values) * left * length
    for k in range(start, stop):
        row, ints = right + k * tile, all_ints[k]
        ints[0], ints[1], ints[2] = right - left, min(tile, length - row), length
        solve_right(blas, panel + bytes_of(values) * left, panel + bytes_of(values) * row, ints)


@kernel(both("void(i8, i8, i8, i8, i8[::1], i4[:,::1], {0}[::1], {0}[::1], i4[::1], i4[::1], i4[::1], i8[::1])"))
def update_tiles(  # type: ignore[no-untyped-def]
    start, stop, s, tile, blas, all_ints, values, updates, first, rows_start, values_start, update_start,
):
    """Subtract B Bᵀ from the update matrix of the front s, B its rows below the triangle, by square tiles of the lower
    triangle, row by row."""
    columns, length = first[s + 1] - first[s], rows_start[s + 1] - rows_start[s]
    below = length - columns
    rows, update = at(values, values_start[s]) + bytes_of(values) * columns, at(updates, update_start[s])
    for k in range(start, stop):
        i = 0
        while (i + 1) * (i + 2) // 2 <= k:
            i += 1
        j, ints = k - i * (i + 1) // 2, all_ints[k]
        down, across = i * tile, j * tile
        ints[0], ints[1], ints[2], ints[4] = columns, min(tile, below - down), length, below
        target = update + bytes_of(values) * (across * below + down)
        if i == j:
            less_square(blas, rows + bytes_of(values) * down, target, ints)
        else:
            ints[3] = min(tile, below - across)
            less_product(blas, rows + bytes_of(values) * down, rows + bytes_of(values) * across, target, ints)
