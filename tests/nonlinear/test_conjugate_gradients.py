"""Conjugate gradients and the products they are made of, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp

from solver import threads  # noqa: F401
from solver.assembly.product import Product
from solver.linear.secant_pairs import SecantPairs
from solver.nonlinear.conjugate_gradients import ConjugateGradients

SIZE = 60


@pytest.fixture
def spd():
    root = sp.random(SIZE, SIZE, 0.1, random_state=1, format="csc")
    whole = (root @ root.T + sp.identity(SIZE)).tocsc()
    lower = sp.tril(whole, format="csc")
    lower.sort_indices()
    return whole.toarray(), lower


def test_the_product_is_the_dense_one(spd):
    whole, lower = spd
    x = np.random.default_rng(0).normal(size=SIZE)
    product = Product(lower)
    assert np.abs(product(x) - whole @ x).max() <= 1e-13


def test_it_solves_as_a_direct_solver(spd):
    whole, lower = spd
    right = np.random.default_rng(1).normal(size=SIZE)
    known = np.linalg.solve(whole, right)
    cg = ConjugateGradients(1e-12, 500)
    for precondition in (lambda r: r, lambda r: r / whole.diagonal()):
        assert np.abs(cg.solve(Product(lower), right, precondition) - known).max() <= 1e-10
        assert not cg.negative_curvature
    inverse = np.linalg.inv(whole)
    assert np.abs(cg.solve(Product(lower), right, lambda r: inverse @ r) - known).max() <= 1e-10
    assert cg.taken <= 2


def test_negative_curvature_ends_it_with_a_descent(spd):
    whole, lower = spd
    shift = 1.5 * np.linalg.eigvalsh(whole)[5]
    lower = (lower - shift * sp.identity(SIZE)).tocsc()
    right = np.random.default_rng(2).normal(size=SIZE)
    cg = ConjugateGradients(1e-12, 500)
    found = cg.solve(Product(lower), right, lambda r: r)
    assert cg.negative_curvature and found @ right > 0.0


def test_pairs_make_the_matrix_their_own(spd):
    """With exact steps the update is BFGS's: on a quadratic it meets the last pair's secant exactly."""
    whole, _ = spd
    rng = np.random.default_rng(5)
    pairs = SecantPairs(3)
    pairs.clear(SIZE)
    for _ in range(5):
        step = rng.normal(size=SIZE)
        pairs.add(step, whole @ step)
    assert len(pairs) == 3
    assert np.abs(pairs.direction(whole @ step, lambda r: r.copy()) + step).max() <= 1e-12
    pairs.add(step, -step)
    assert len(pairs) == 3
