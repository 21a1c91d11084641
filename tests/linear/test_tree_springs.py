"""Springs between bodies that are not parent and child, against the same system solved densely."""

import numpy as np
import pytest
from random_trees import RandomTree, random_tree

from solver.errors import StepFailed
from solver.linear.interface import NotPositiveDefinite
from solver.linear.tree import springs as tree_springs
from solver.linear.tree.factor import TreeFactor


@pytest.fixture(params=["border", "gradients alone"])
def way(request, monkeypatch):
    if request.param != "border":
        monkeypatch.setattr(tree_springs, "BORDER", 0)
    return request.param


def factored(tree: RandomTree) -> TreeFactor:
    factor = TreeFactor(tree.parent, tree.dof)
    factor.factor(*tree.blocks)
    return factor


def residual(tree: RandomTree, u: np.ndarray, b: np.ndarray) -> float:
    A = tree.dense()
    return float(np.abs(A @ u - b).max() / (np.abs(A).sum(axis=1).max() * np.abs(u).max() + np.abs(b).max()))


@pytest.mark.parametrize("count, stiffness, directions", [(1, 1.0, 1), (3, 1e4, 1), (8, 1e3, 3), (40, 10.0, 2)])
def test_far_springs_as_a_dense_solve(way, count, stiffness, directions):
    rng = np.random.default_rng(count)
    tree = random_tree(25, rng, rates=(0, 1, 1, 3, 6))
    tree.tie(count, rng, stiffness, directions)
    for b in (rng.normal(size=tree.dof[-1]), rng.normal(size=(tree.dof[-1], 5))):
        u = factored(tree).solve(b)
        assert u.shape == b.shape
        assert residual(tree, u, b) < 1e-12


def test_a_border_leaves_nothing_to_iterate(way):
    rng = np.random.default_rng(0)
    tree = random_tree(30, rng)
    tree.tie(10, rng, 1e4)
    factor = factored(tree)
    assert factor.iterations == 0
    b = rng.normal(size=tree.dof[-1])
    assert residual(tree, factor.solve(b), b) < 1e-12
    assert factor.iterations <= 2 if way == "border" else factor.iterations > 5


def test_without_far_springs_nothing_iterates():
    rng = np.random.default_rng(1)
    tree = random_tree(10, rng)
    tree.tie(2, rng, 1.0)
    factor = factored(tree)
    tree.pairs, tree.far = tree.pairs[:0], tree.far[:0]
    factor.factor(*tree.blocks)
    b = rng.normal(size=tree.dof[-1])
    assert residual(tree, factor.solve(b), b) < 1e-14
    assert factor.iterations == 0


def test_blocks_of_nothing_cost_nothing(way):
    rng = np.random.default_rng(2)
    tree = random_tree(10, rng)
    tree.tie(2, rng, 0.0)
    b = rng.normal(size=tree.dof[-1])
    assert residual(tree, factored(tree).solve(b), b) < 1e-14
    assert not factored(tree).solve(np.zeros(tree.dof[-1])).any()


def test_one_right_hand_side_may_be_nothing(way):
    rng = np.random.default_rng(3)
    tree = random_tree(10, rng)
    tree.tie(3, rng, 50.0)
    b = rng.normal(size=(tree.dof[-1], 3))
    b[:, 1] = 0.0
    u = factored(tree).solve(b)
    assert not u[:, 1].any()
    assert residual(tree, u, b) < 1e-12


def test_it_is_refused_where_it_does_not_converge(monkeypatch):
    monkeypatch.setattr(tree_springs, "BORDER", 0)
    monkeypatch.setattr(tree_springs, "MOST", 5)
    rng = np.random.default_rng(4)
    tree = random_tree(40, rng)
    tree.tie(20, rng, 1e6)
    with pytest.raises(StepFailed, match="after 5 iterations"):
        factored(tree).solve(rng.normal(size=tree.dof[-1]))


def test_springs_that_make_it_indefinite_are_refused(way):
    """Off the diagonal ten times what is on it: a spring that pushes."""
    rng = np.random.default_rng(5)
    tree = random_tree(12, rng, rates=(1, 2))
    tree.tie(1, rng, 1e3)
    tree.far *= 10.0
    assert np.linalg.eigvalsh(tree.dense())[0] < 0.0
    with pytest.raises(NotPositiveDefinite, match="far bodies"):
        factored(tree).solve(rng.normal(size=tree.dof[-1]))
