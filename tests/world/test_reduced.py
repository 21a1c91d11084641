"""The reduced mass is Vᵀ M V, to the last byte whichever thread sums it."""

import numpy as np
import pytest

from solver import threads
from solver.parts.conjac.reduced_kernels import PIECES, weigh


@pytest.mark.parametrize("count, width", [(200, 12), (67, 1), (5, 3), (0, 2), (130, 0)])
def test_the_sum_is_that_of_matrices_with_any_number_of_threads(count, width):
    rng = np.random.default_rng(count)
    weights, rows = rng.uniform(0.1, 2.0, count), rng.normal(size=(count, width))
    sums_by_threads, before = [], threads.count()
    try:
        for many in (1, 2):
            threads.configure(many)
            sums = np.zeros((PIECES, width, width))
            threads.parallel_for(weigh, PIECES, weights, rows, sums)
            sums_by_threads.append(sums.sum(axis=0))
    finally:
        threads.configure(before)
    wanted = np.tril(rows.T @ (weights[:, None] * rows))
    assert np.abs(sums_by_threads[0] - wanted).max(initial=0.0) <= 1e-13 * (1.0 + np.abs(wanted).max(initial=0.0))
    assert np.array_equal(*sums_by_threads)
