"""Kernels of an orthonormal frame at each vertex, whose first directions its active rows fix, and of the matrix in
these frames.

A fixed direction's row and column of the matrix become those of the identity, so the pattern does not depend on which
rows are active. BLOCKS are the arrays of VertexPattern.blocks; vertices are indexed by their rank there, and vectors by
position.
"""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel

DEPENDENT = 1.0e-9  #: length that others leave of a row, relative to its own, up to which they imply it
BLOCKS = "i4[::1], i4[::1], i4[::1], i4[::1], i4[::1]"


@inline
def add_direction(row, size, basis, fixed, corner):  # type: ignore[no-untyped-def]
    """Add a row's direction to the first `fixed` columns of an orthonormal basis; return whether they did not span it.

    corner: lower triangle with rows = corner basisᵀ, of which row `fixed` is written.
    """
    whole, left = 0.0, np.zeros(5)
    for i in range(size):
        left[i] = row[i]
        whole += row[i] * row[i]
    for j in range(5):
        corner[fixed, j] = 0.0
    for _ in range(2):  # once more for what rounding left
        for j in range(fixed):
            along = 0.0
            for i in range(size):
                along += basis[i, j] * left[i]
            corner[fixed, j] += along
            for i in range(size):
                left[i] -= along * basis[i, j]
    rest = 0.0
    for i in range(size):
        rest += left[i] * left[i]
    rest = np.sqrt(rest)
    if fixed >= size or rest <= DEPENDENT * np.sqrt(whole):
        return False
    corner[fixed, fixed] = rest
    for i in range(size):
        basis[i, fixed] = left[i] / rest
    return True


@inline
def complete(size, basis, fixed):  # type: ignore[no-untyped-def]
    """Write the columns of an orthonormal basis after the first `fixed`, from the axes that are farthest from these."""
    for k in range(fixed, size):
        best, most = 0, -1.0
        for axis in range(size):
            inside = 0.0
            for j in range(k):
                inside += basis[axis, j] * basis[axis, j]
            if 1.0 - inside > most + 1.0e-12:
                best, most = axis, 1.0 - inside
        for i in range(size):
            basis[i, k] = 0.0
        basis[best, k] = 1.0
        for _ in range(2):
            for j in range(k):
                along = 0.0
                for i in range(size):
                    along += basis[i, j] * basis[i, k]
                for i in range(size):
                    basis[i, k] -= along * basis[i, j]
        length = 0.0
        for i in range(size):
            length += basis[i, k] * basis[i, k]
        length = np.sqrt(length)
        for i in range(size):
            basis[i, k] /= length


@kernel("void(i4[::1], i4[::1], f8[:,::1], i4[::1], b1[::1], i4[::1], i4[::1], f8[:,:,::1], f8[:,:,::1])")
def make_frames(touched, row_first, factor, start, active, member, fixed, frames, corners):  # type: ignore[no-untyped-def]
    """Write frames and corners, (n, 5, 5), of touched vertices, and the number of fixed directions of each, `fixed`,
    (n,).

    row_first: first row of each touched vertex, (t + 1,). member: written, the column of each row in its vertex' frame,
    (r,), −1 where the row is not active. A row that earlier ones imply becomes inactive.
    """
    for t in range(touched.shape[0]):
        v = touched[t]
        size, count = start[v + 1] - start[v], 0
        for r in range(row_first[t], row_first[t + 1]):
            member[r] = -1
            if active[r]:
                if add_direction(factor[r], size, frames[v], count, corners[v]):
                    member[r] = count
                    count += 1
                else:
                    active[r] = False
        complete(size, frames[v], count)
        fixed[v] = count


@kernel("void(i4[::1], i4[::1], i4[::1], i4[::1], f8[:,:,::1], f8[:,:,::1], i4[::1], f8[::1], f8[::1])")
def satisfy_rows(touched, row_first, member, fixed, frames, corners, start, target, u):  # type: ignore[no-untyped-def]
    """Write the u, (m,), that satisfies every active row and is zero in all other directions. target: (r,)."""
    along = np.empty(5)
    for i in range(u.shape[0]):
        u[i] = 0.0
    for t in range(touched.shape[0]):
        v = touched[t]
        for r in range(row_first[t], row_first[t + 1]):
            k = member[r]
            if k >= 0:
                along[k] = target[r]
                for j in range(k):
                    along[k] -= corners[v, k, j] * along[j]
                along[k] /= corners[v, k, k]
        for i in range(start[v + 1] - start[v]):
            for k in range(fixed[v]):
                u[start[v] + i] += frames[v, i, k] * along[k]


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], i4[::1], b1, f8[:,::1])")
def rotate_frames(touched, fixed, frames, start, back, x):  # type: ignore[no-untyped-def]
    """Turn x (m, c) into frames in place, Qᵀ x, or with `back` out of them, Q x; fixed directions become zero in both
    cases."""
    old = np.empty(5)
    for t in range(touched.shape[0]):
        v = touched[t]
        size = start[v + 1] - start[v]
        for c in range(x.shape[1]):
            for i in range(size):
                old[i] = x[start[v] + i, c]
            for i in range(size):
                total = 0.0
                if back:
                    for k in range(fixed[v], size):
                        total += frames[v, i, k] * old[k]
                elif i >= fixed[v]:
                    for k in range(size):
                        total += frames[v, k, i] * old[k]
                x[start[v] + i, c] = total


@kernel("void(i4[::1], i4[::1], f8[::1], f8[::1], f8[::1])")
def product(indptr, indices, values, x, out):  # type: ignore[no-untyped-def]
    """Write A x to `out`, both (m,), for a symmetric matrix given by the columns of its lower triangle, the diagonal
    first."""
    for i in range(x.shape[0]):
        out[i] = 0.0
    for c in range(x.shape[0]):
        # a sum of its own: one in memory would wait for the last write there
        value_at_column, own = x[c], values[indptr[c]] * x[c]
        for k in range(indptr[c] + 1, indptr[c + 1]):
            r, value = indices[k], values[k]
            out[r] += value * value_at_column
            own += value * x[r]
        out[c] += own


@kernel(f"void({BLOCKS}, f8[::1], i8, f8[::1], f8[::1])")
def product_at(first, block_row, before, start, indptr, values, v, x, out):  # type: ignore[no-untyped-def]
    """Write A x to `out`, (m,), for an x that is zero except at the unknowns of vertex v, which are given."""
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(v + 1):
        width = start[j + 1] - start[j]
        for k in range(first[j], first[j + 1]):
            i = block_row[k]
            if i != v and j != v:
                continue
            height = start[i + 1] - start[i]
            for c in range(width):
                offset = indptr[start[j] + c] + width - c + before[k]
                for r in range(c if i == j else 0, height):
                    value = values[offset + r]
                    if j == v:
                        out[start[i] + r] += value * x[c]
                    if i == v and (j != v or r != c):
                        out[start[j] + c] += value * x[r]


@kernel(f"void({BLOCKS}, f8[::1], i4[::1], f8[:,:,::1], f8[::1])")
def matrix_in_frames(first, block_row, before, start, indptr, values, fixed, frames, out):  # type: ignore[no-untyped-def]
    """Write Qᵀ A Q, with rows and columns of the identity in fixed directions, in the order of `values`, the entries of
    A."""
    block, half = np.empty((5, 5)), np.empty((5, 5))
    for i in range(values.shape[0]):
        out[i] = values[i]
    for j in range(first.shape[0] - 1):
        width, low = start[j + 1] - start[j], start[j]
        for k in range(first[j], first[j + 1]):
            i = block_row[k]
            if fixed[i] == 0 and fixed[j] == 0:
                continue
            height = start[i + 1] - start[i]
            for c in range(width):
                offset = indptr[low + c] + width - c + before[k]
                for r in range(height):
                    # only the lower half of the diagonal block is given
                    block[r, c] = values[offset + r] if i != j or r >= c else block[c, r]
            for r in range(height):
                for c in range(width):
                    half[r, c] = block[r, c]
                    if fixed[j] > 0:
                        half[r, c] = 0.0
                        for s in range(width):
                            half[r, c] += block[r, s] * frames[j, s, c]
            for c in range(width):
                offset = indptr[low + c] + width - c + before[k]
                for r in range(c if i == j else 0, height):
                    if r < fixed[i] or c < fixed[j]:
                        out[offset + r] = 1.0 if i == j and r == c else 0.0
                    elif fixed[i] > 0:
                        total = 0.0
                        for s in range(height):
                            total += frames[i, s, r] * half[s, c]
                        out[offset + r] = total
                    else:
                        out[offset + r] = half[r, c]


@kernel("void(i4[::1], i4[::1], i4[::1], i4[::1], f8[:,:,::1], f8[:,:,::1], i4[::1], f8[::1], f8[::1])")
def multipliers_of(touched, row_first, member, fixed, frames, corners, start, rest, out):  # type: ignore[no-untyped-def]
    """Write λ, (r,), with Σ λ row = `rest`, A u − b, in fixed directions; 0 for rows that are not active."""
    along = np.empty(5)
    for t in range(touched.shape[0]):
        v = touched[t]
        for k in range(fixed[v]):
            along[k] = 0.0
            for i in range(start[v + 1] - start[v]):
                along[k] += frames[v, i, k] * rest[start[v] + i]
        for r in range(row_first[t + 1] - 1, row_first[t] - 1, -1):
            k = member[r]
            out[r] = 0.0
            if k >= 0:
                out[r] = along[k] / corners[v, k, k]
                for j in range(k):
                    along[j] -= corners[v, k, j] * out[r]
