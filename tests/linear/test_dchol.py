"""The rate of a Cholesky factor: the block columns of the thesis, and two factorizations of CHOLMOD."""

import numpy as np
import pytest
import scipy.sparse as sp
from installed import installed

from solver import catalogue, threads  # noqa: F401
from solver.linear.cholesky.dchol import dchol
from solver.linear.interface import inside_of

SIZES = [[12], [1] * 12, [3, 4, 5], [6, 1, 5]]


def moving(seed=0, size=12):
    rng = np.random.default_rng(seed)
    root, turn = rng.normal(size=(2, size, size))
    return root @ root.T + size * np.eye(size), turn + turn.T


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_rate_by_blocks_fits_the_matrix(sizes):
    a, rate = moving()
    lower, turning = dchol(a, rate, sizes)
    assert np.abs(lower @ lower.T - a).max() <= 1e-12
    assert np.abs(turning @ lower.T + lower @ turning.T - rate).max() <= 1e-12
    assert np.abs(np.triu(lower, 1)).max() == 0.0 and np.abs(np.triu(turning, 1)).max() == 0.0


def test_it_is_the_slope_of_numpys_factor():
    a, rate = moving(1)
    step = 1e-6
    slope = (np.linalg.cholesky(a + step * rate) - np.linalg.cholesky(a - step * rate)) / (2 * step)
    assert np.abs(dchol(a, rate, [5, 7])[1] - slope).max() <= 1e-8


def test_what_is_not_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        dchol(-np.eye(4), np.eye(4), [2, 2])


def dense(linear, size):
    """L of the values that stand there, (size, size), and its permutation, from the library's own backward solve."""
    inverse = linear._solve_lt(np.eye(size))
    return np.linalg.inv(inverse).T


@pytest.mark.parametrize("key", ["cholmod", "cvxopt"])
def test_cholmods_factor_moves_by_the_same_rate(key):
    """Two factorizations in one order; written back, the library solves with the extrapolated factor."""
    size = 60
    root = sp.random(size, size, 0.06, random_state=2, format="csc")
    turn = root.copy()
    turn.data = np.random.default_rng(1).normal(size=len(root.data))
    a = (root @ root.T + sp.identity(size)).tocsc()
    rate = (root @ turn.T + turn @ root.T).tocsc()
    pattern = sp.tril(abs(a) + abs(rate) + abs(turn @ turn.T), format="csc")
    pattern.sort_indices()

    def values(moment):
        exact = (a + moment * rate).toarray()
        out = pattern.copy()
        columns = np.repeat(np.arange(size), np.diff(out.indptr))
        out.data[:] = exact[out.indices, columns]
        return out

    linear, step, ahead = installed(key)(), 1e-6, 0.05
    linear.analyse(values(0.0), 0)
    linear.factor(values(0.0))
    inside = inside_of(linear)
    first, known = inside.values.copy(), dense(linear, size)
    linear.factor(values(step))
    measured = (inside.values - first) / step
    inside.values[:] = first + ahead * measured

    # the order that CHOLMOD took: rows of L Lᵀ against those of A
    whole = a.toarray()
    permutation = [int(np.argmin([np.abs(np.sort((known @ known.T)[row]) - np.sort(whole[i])).max()
                                  for i in range(size)])) for row in range(size)]
    extrapolated = dense(linear, size)
    assert np.abs(known @ known.T - whole[np.ix_(permutation, permutation)]).max() <= 1e-12
    own = np.ix_(permutation, permutation)
    turning = dchol(whole[own], rate.toarray()[own], [size])[1]
    assert np.abs(extrapolated - (known + ahead * turning)).max() <= 1e-5 * np.abs(turning).max()

    right = np.random.default_rng(3).normal(size=size)
    found = linear.solve(right)
    back = np.empty(size)
    back[permutation] = np.linalg.solve(extrapolated @ extrapolated.T, right[permutation])
    assert np.abs(found - back).max() <= 1e-10
