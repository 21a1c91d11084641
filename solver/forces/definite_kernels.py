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
        for p in range(size - 1):
            for q in range(p + 1, size):
                if abs(matrix[p, q]) < 1.0e-150:
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


@kernel("void(f8[:,::1], i8, f8[:,::1], f8[:,::1], f8[:,::1], f8[::1])")
def project_in(matrix, size, basis, part, vectors, values):  # type: ignore[no-untyped-def]
    """The matrix (12, 12), which acts in the span of the first rows of `basis` alone, without what is negative."""
    for i in range(size):
        for j in range(size):
            total = 0.0
            for p in range(12):
                along = 0.0
                for q in range(12):
                    along += matrix[p, q] * basis[j, q]
                total += basis[i, p] * along
            part[i, j] = total
    eigen(part, size, vectors, values)
    for p in range(12):
        for q in range(12):
            matrix[p, q] = 0.0
    for k in range(size):
        if values[k] <= 0.0:
            continue
        for p in range(12):
            left = 0.0
            for i in range(size):
                left += basis[i, p] * vectors[i, k]
            part[0, p] = left
        for p in range(12):
            for q in range(12):
                matrix[p, q] += values[k] * part[0, p] * part[0, q]
