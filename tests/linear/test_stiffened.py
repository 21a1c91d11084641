"""A small dense matrix on some unknowns of a factor: against the sum solved whole."""

import numpy as np
import pytest

from solver.linear.woodbury import WoodburyUpdate


class Dense:
    """A factor of anything."""

    factored = 0

    def factor(self, matrix):
        self.factored += 1
        self.matrix = matrix

    def solve(self, b):
        return np.linalg.solve(self.matrix, b)


def definite(random, size, rank=None):
    root = random.normal(size=(size, size if rank is None else rank))
    return root @ root.T


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rank", [4, 2, 0])
def test_the_sum_is_solved(scale, rank):
    random = np.random.default_rng(3)
    rates = np.array([7, 1, 4, 2], np.int32)
    A, G = definite(random, 9) + np.eye(9), scale * definite(random, 4, rank)
    both = A.copy()
    both[np.ix_(rates, rates)] += G
    factor = WoodburyUpdate(Dense())
    factor.add(rates, G)
    factor.factor(A)
    for b in (random.normal(size=9), random.normal(size=(9, 3))):
        assert np.abs(factor.solve(b) - np.linalg.solve(both, b)).max() <= 1e-9 * np.abs(b).max()
    # the next step has another matrix, and soft bodies may be gone
    factor.add(rates[:0], np.zeros((0, 0)))
    factor.factor(2.0 * A)
    assert np.abs(factor.solve(b) - np.linalg.solve(2.0 * A, b)).max() <= 1e-12 and factor.factored == 2
    factor.add(rates, 3.0 * G)
    factor.factor(A)
    both = A.copy()
    both[np.ix_(rates, rates)] += 3.0 * G
    assert np.abs(factor.solve(b) - np.linalg.solve(both, b)).max() <= 1e-9 * np.abs(b).max()


def test_what_is_not_finite_goes_through():
    """The caller judges a step that blows up: ConJac would report its own failure."""
    random = np.random.default_rng(4)
    factor = WoodburyUpdate(Dense())
    factor.add(np.array([1, 2], np.int32), definite(random, 2))
    factor.factor(definite(random, 5) + np.eye(5))
    assert not np.isfinite(factor.solve(np.array([np.inf, 1.0, 2.0, 3.0, 4.0]))).any()
