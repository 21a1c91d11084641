"""Eigenvectors of a few rows."""

from __future__ import annotations

import numpy as np
import pytest

from solver.forces.definite_kernels import eigen


def matrices(size: int) -> np.ndarray:
    """Symmetric ones: any, of rank one, with values that repeat, of which one is 1e12 times the others, nothing."""
    rng = np.random.default_rng(size)
    some = rng.normal(size=(40, size, size))
    frames = np.linalg.qr(some)[0]
    many = some + some.transpose(0, 2, 1)
    one = np.einsum("ki,kj->kij", some[:, 0], some[:, 0])
    values = np.where(np.arange(size) < size // 2, -1.0, 2.0)
    repeated = np.einsum("kij,j,klj->kil", frames, values, frames)
    steep = np.einsum("kij,j,klj->kil", frames, np.where(np.arange(size) == 0, 1.0e12, 1.0), frames)
    return np.concatenate([many, one, repeated, steep, [np.zeros((size, size)), np.eye(size), np.diag(values)]])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9, 12])
def test_rows_and_values_make_the_matrix_again(size):
    work, rows, values = np.zeros((12, 12)), np.full((12, 12), np.nan), np.full(12, np.nan)
    for matrix in matrices(size):
        work[:size, :size] = matrix
        eigen(work, size, rows, values)
        found, known = rows[:size, :size], np.linalg.eigvalsh(matrix)
        largest = max(np.abs(known).max(), 1.0e-300)
        assert np.abs(found @ found.T - np.eye(size)).max() < 1e-13
        assert np.abs(np.einsum("ki,k,kj->ij", found, values[:size], found) - matrix).max() < 1e-13 * largest
        assert np.sort(values[:size]) == pytest.approx(known, abs=1e-13 * largest)


def test_what_is_no_number_ends():
    work, rows, values = np.full((12, 12), np.nan), np.empty((12, 12)), np.empty(12)
    eigen(work, 9, rows, values)
    assert np.isnan(values[:9]).any()
