"""Eigenvalues and positive semi-definite projection of small symmetric matrices."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

TRIES = 30  #: largest number of QR steps for each row of a matrix: far more than needed
EPSILON = 2.0**-53


@kernel("void(f8[:,::1], i8, f8[:,::1], f8[::1], f8[::1])")
def tridiagonal(matrix, size, rows, diagonal, off_diagonal):  # type: ignore[no-untyped-def]
    """Reduce a symmetric matrix A (size, size) to a tridiagonal T, Qᵀ T Q = A, by Householder reflections; overwrite A.

    Writes Q into rows (≥ size, ≥ size), the diagonal of T into diagonal and its off-diagonal into beside, both (≥
    size,).
    """
    for k in range(size):
        for j in range(size):
            rows[k, j] = 1.0 if k == j else 0.0
    for k in range(size - 2):
        # the reflection v of column k is stored below the diagonal, 2 / vᵀv on the diagonal, T's entry right of it
        head, square = matrix[k + 1, k], 0.0
        for i in range(k + 2, size):
            square += matrix[i, k] * matrix[i, k]
        diagonal[k] = matrix[k, k]
        if square == 0.0:
            matrix[k, k], matrix[k, k + 1] = 0.0, head
            continue
        norm = np.sqrt(head * head + square)
        reflected = -norm if head > 0.0 else norm
        twice = 1.0 / (norm * (norm + abs(head)))
        matrix[k + 1, k] = head - reflected
        along = 0.0
        for i in range(k + 1, size):
            total = 0.0
            for j in range(k + 1, size):
                total += matrix[i, j] * matrix[j, k]
            diagonal[i] = twice * total
            along += diagonal[i] * matrix[i, k]
        along *= 0.5 * twice
        for i in range(k + 1, size):
            diagonal[i] -= along * matrix[i, k]
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                matrix[i, j] -= matrix[i, k] * diagonal[j] + diagonal[i] * matrix[j, k]
        matrix[k, k], matrix[k, k + 1] = twice, reflected
    for k in range(size - 3, -1, -1):
        for i in range(k + 1, size):
            total = 0.0
            for j in range(k + 1, size):
                total += rows[i, j] * matrix[j, k]
            total *= matrix[k, k]
            for j in range(k + 1, size):
                rows[i, j] -= total * matrix[j, k]
    for k in range(max(size - 2, 0), size):
        diagonal[k] = matrix[k, k]
    for k in range(size - 1):
        off_diagonal[k] = matrix[k, k + 1]


@kernel("void(f8[:,::1], i8, f8[:,::1], f8[::1])")
def eigen(matrix, size, rows, values):  # type: ignore[no-untyped-def]
    """Write eigenvectors (rows) and eigenvalues of a symmetric matrix (size, size), which is overwritten.

    Implicit QR steps with Wilkinson's shift on the tridiagonal form. size: at most 12. Writes rows (≥ size, ≥ size) and
    values (≥ size,), in no order.
    """
    off_diagonal = np.empty(12)
    tridiagonal(matrix, size, rows, values, off_diagonal)
    last = size - 1
    for _ in range(TRIES * size):
        while last > 0 and abs(off_diagonal[last - 1]) <= EPSILON * (abs(values[last - 1]) + abs(values[last])):
            last -= 1
        if last <= 0:
            break
        first = last - 1
        while first > 0 and abs(off_diagonal[first - 1]) > EPSILON * (abs(values[first - 1]) + abs(values[first])):
            first -= 1
        gap, square = 0.5 * (values[last - 1] - values[last]), off_diagonal[last - 1] * off_diagonal[last - 1]
        root = np.sqrt(gap * gap + square)
        x, z = values[first] - values[last] + square / (gap + (root if gap >= 0.0 else -root)), off_diagonal[first]
        for k in range(first, last):
            r = np.sqrt(x * x + z * z)
            c, s = (x / r, z / r) if r > 0.0 else (1.0, 0.0)
            if k > first:
                off_diagonal[k - 1] = r
            one, two, between = values[k], values[k + 1], off_diagonal[k]
            values[k] = c * c * one + 2.0 * c * s * between + s * s * two
            values[k + 1] = s * s * one - 2.0 * c * s * between + c * c * two
            off_diagonal[k] = c * s * (two - one) + (c * c - s * s) * between
            if k < last - 1:
                x, z = off_diagonal[k], s * off_diagonal[k + 1]
                off_diagonal[k + 1] *= c
            for i in range(size):
                left, right = rows[k, i], rows[k + 1, i]
                rows[k, i], rows[k + 1, i] = c * left + s * right, c * right - s * left


@kernel("void(f8[:,::1], f8[:,::1], f8[:,::1], f8[::1])")
def make_definite(matrix, part, vectors, values):  # type: ignore[no-untyped-def]
    """Replace a symmetric matrix (12, 12) of four nodes by its positive semi-definite projection.

    The matrix must have the three translations of all four nodes in its null space. part (≥ 9, ≥ 9), vectors (≥ 12, ≥
    9) and values (≥ 9,) are scratch.
    """
    # basis of relative motion: the second, third and fourth node against the mean of the nodes before
    own, other = np.empty(3), np.empty(3)
    for k in range(3):
        own[k], other[k] = -np.sqrt((k + 1.0) / (k + 2.0)), 1.0 / np.sqrt((k + 1.0) * (k + 2.0))
    for p in range(12):
        for k in range(3):
            for i in range(3):
                total = own[k] * matrix[p, 3 * k + 3 + i]
                for a in range(k + 1):
                    total += other[k] * matrix[p, 3 * a + i]
                vectors[p, 3 * k + i] = total
    for k in range(3):
        for i in range(3):
            for q in range(9):
                total = own[k] * vectors[3 * k + 3 + i, q]
                for a in range(k + 1):
                    total += other[k] * vectors[3 * a + i, q]
                part[3 * k + i, q] = total
    eigen(part, 9, vectors, values)
    for p in range(12):
        for q in range(12):
            matrix[p, q] = 0.0
    column = np.empty(12)
    for j in range(9):
        if values[j] <= 0.0:
            continue
        for i in range(3):
            for a in range(4):
                total = own[a - 1] * vectors[j, 3 * a - 3 + i] if a > 0 else 0.0
                for k in range(a, 3):
                    total += other[k] * vectors[j, 3 * k + i]
                column[3 * a + i] = total
        for p in range(12):
            for q in range(12):
                matrix[p, q] += values[j] * column[p] * column[q]
