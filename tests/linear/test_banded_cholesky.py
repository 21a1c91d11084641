"""The banded factor of ropes: the other solver's answers, and its own where the pattern is another one."""

import numpy as np
import pytest
import scipy.sparse as sp

from solver.linear.banded_cholesky import BandedCholesky
from solver.linear.choose import choose
from solver.linear.interface import NotPositiveDefinite


def chain(count, reach=2, extra=()):
    """A symmetric definite matrix of nodes in a shuffled row, and the graph of these."""
    rng = np.random.default_rng(3)
    row = rng.permutation(count)
    pairs = [(row[i], row[i + k]) for k in range(1, reach + 1) for i in range(count - k)] + list(extra)
    graph = sp.lil_matrix((count, count))
    for i, j in pairs:
        graph[i, j] = graph[j, i] = 1.0
    graph = graph.tocsc()
    blocks = sp.kron(graph, np.full((3, 3), -0.05)) + sp.identity(3 * count) * 5.0
    return sp.csc_matrix(blocks), graph


def ordered(matrix, order):
    every = (3 * order[:, None] + np.arange(3)).ravel()
    lower = sp.csc_matrix(sp.tril(matrix[every][:, every]))
    lower.sort_indices()
    return lower, every


def test_a_chain_is_solved_and_a_pattern_with_more_too():
    matrix, graph = chain(200)
    solver = BandedCholesky(choose("auto"))
    lower, every = ordered(matrix, solver.order(graph))
    solver.analyse(lower, 0)
    solver.factor(lower)
    right = np.random.default_rng(0).standard_normal((600, 2))
    assert solver._band is not None and solver.showing() is None
    dense = matrix.toarray()[np.ix_(every, every)]
    assert np.allclose(solver.solve(right), np.linalg.solve(dense, right), atol=1e-13)
    assert np.allclose(solver.solve(right[:, 0]), np.linalg.solve(dense, right[:, 0]), atol=1e-13)
    # two of them touch: another pattern of the same unknowns
    touching, _ = chain(200, extra=[(3, 150)])
    lower = ordered(touching, every[::3] // 3)[0]
    solver.factor(lower)
    assert solver._band is None and solver.factored == 2
    dense = touching.toarray()[np.ix_(every, every)]
    assert np.allclose(solver.solve(right), np.linalg.solve(dense, right), atol=1e-12)


def test_a_wide_band_is_left_to_the_other_solver():
    matrix, graph = chain(60, reach=9)
    solver = BandedCholesky(choose("auto"))
    lower, every = ordered(matrix, solver.order(graph))
    solver.analyse(lower, 0)
    solver.factor(lower)
    right = np.ones(180)
    assert solver._band is None
    assert np.allclose(matrix.toarray()[np.ix_(every, every)] @ solver.solve(right), right, atol=1e-11)


def test_what_is_not_definite_is_refused():
    matrix, graph = chain(20)
    solver = BandedCholesky(choose("auto"))
    lower, _ = ordered(matrix - 9.0 * sp.identity(60), solver.order(graph))
    solver.analyse(lower, 0)
    with pytest.raises(NotPositiveDefinite):
        solver.factor(lower)
