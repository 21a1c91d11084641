"""Symmetric matrices of a few rows without what is negative in them."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

SWEEPS = 40


@kernel("void(f8[:,::1], i8, f8[:,::1], f8[::1])")
def eigen(matrix, size, vectors, values):  # type: ignore[no-untyped-def]
    """Eigenvectors (columns) and eigenvalues of a symmetric matrix of this size, which is overwritten. (Jacobi's
    rotations.)"""
    for i in range(size):
        for j in range(size):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        off, whole = 0.0, 0.0
        for i in range(size):
            for j in range(size):
                whole += matrix[i, j] * matrix[i, j]
                if i != j:
                    off += matrix[i, j] * matrix[i, j]
        if off <= 1.0e-30 * whole:
            break
        least = 1.0e-17 * np.sqrt(whole)
        for p in range(size - 1):
            for q in range(p + 1, size):
                if abs(matrix[p, q]) <= least:
                    continue
                theta = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + np.sqrt(theta * theta + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for i in range(size):
                    left, right = matrix[i, p], matrix[i, q]
                    matrix[i, p], matrix[i, q] = c * left - s * right, s * left + c * right
                for i in range(size):
                    left, right = matrix[p, i], matrix[q, i]
                    matrix[p, i], matrix[q, i] = c * left - s * right, s * left + c * right
                for i in range(size):
                    left, right = vectors[i, p], vectors[i, q]
                    vectors[i, p], vectors[i, q] = c * left - s * right, s * left + c * right
    for i in range(size):
        values[i] = matrix[i, i]


@kernel("void(f8[:,::1], f8[:,::1], f8[:,::1], f8[::1])")
def make_definite(matrix, part, vectors, values):  # type: ignore[no-untyped-def]
    """A matrix (12, 12) of four nodes, which says nothing of their moving together, without what is negative; the rest
    is room."""
    # how the second node, the third and the fourth move against the mean of those before
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
    way = np.empty(12)
    for j in range(9):
        if values[j] <= 0.0:
            continue
        for i in range(3):
            for a in range(4):
                total = own[a - 1] * vectors[3 * a - 3 + i, j] if a > 0 else 0.0
                for k in range(a, 3):
                    total += other[k] * vectors[3 * k + i, j]
                way[3 * a + i] = total
        for p in range(12):
            for q in range(12):
                matrix[p, q] += values[j] * way[p] * way[q]
