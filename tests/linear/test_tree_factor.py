"""The elimination over a tree of joints against the same system solved densely."""

import numpy as np
import pytest
from random_trees import RandomTree, random_tree

from solver.linear.tree.factor import BodyNotPositiveDefinite, TreeFactor


def factored(tree: RandomTree) -> TreeFactor:
    factor = TreeFactor(tree.parent, tree.dof)
    factor.factor(*tree.blocks)
    return factor


def agrees(tree: RandomTree, b: np.ndarray, tolerance: float = 1e-12) -> None:
    u, A = factored(tree).solve(b), tree.dense()
    assert u.shape == b.shape
    scale = np.abs(A).sum(axis=1).max() * np.abs(u).max() + np.abs(b).max()
    assert np.abs(A @ u - b).max() <= tolerance * scale
    wanted = np.linalg.solve(A, b)
    assert np.abs(u - wanted).max() <= tolerance * max(1.0, np.linalg.cond(A) / 1e4) * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_as_a_dense_solve(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(int(rng.integers(2, 40)), rng)
    agrees(tree, rng.normal(size=tree.dof[-1]))


@pytest.mark.parametrize("columns", [1, 2, 7, 30])
def test_many_right_hand_sides(columns):
    rng = np.random.default_rng(columns)
    tree = random_tree(15, rng)
    agrees(tree, rng.normal(size=(tree.dof[-1], columns)))


def test_a_solve_leaves_nothing_behind_and_keeps_what_it_was_given():
    rng = np.random.default_rng(4)
    tree = random_tree(15, rng)
    b, factor = rng.normal(size=tree.dof[-1]), factored(tree)
    copied, once = b.copy(), factor.solve(b)
    assert np.array_equal(factor.solve(b), once)
    assert np.array_equal(b, copied)


def test_columns_need_not_be_contiguous():
    rng = np.random.default_rng(3)
    tree = random_tree(9, rng)
    b = rng.normal(size=(4, tree.dof[-1])).T
    assert np.array_equal(factored(tree).solve(b), factored(tree).solve(np.ascontiguousarray(b)))


@pytest.mark.parametrize("rates", [1, 2, 3, 6])
def test_one_body(rates):
    rng = np.random.default_rng(rates)
    agrees(random_tree(1, rng, rates=(rates,)), rng.normal(size=rates))


def test_a_chain_of_fifty_hinges():
    rng = np.random.default_rng(5)
    tree = random_tree(50, rng, rates=(1,), roots=0.0)
    tree.parent[:] = np.arange(-1, 49)
    agrees(tree, rng.normal(size=50))


def test_all_joints_fixed_have_no_rates():
    rng = np.random.default_rng(6)
    factor = factored(random_tree(5, rng, rates=(0,)))
    assert factor.solve(np.zeros(0)).shape == (0,)
    assert factor.solve(np.zeros((0, 3))).shape == (0, 3)


def test_a_fixed_joint_passes_on_what_hangs_on_it():
    """A rotor behind a fixed joint: the same as one body with both inertias."""
    rng = np.random.default_rng(7)
    tree = random_tree(3, rng, rates=(1,), roots=0.0)
    tree.parent[:], tree.dof[:] = [-1, 0, 1], [0, 1, 1, 2]
    tree.S = tree.S[:2].copy()
    agrees(tree, rng.normal(size=2))


def test_without_springs_it_is_the_articulated_body_recursion():
    rng = np.random.default_rng(8)
    tree = random_tree(20, rng, springs=0.0, joint_springs=0.0)
    assert not tree.below.any() and not tree.reduced.any()
    agrees(tree, rng.normal(size=tree.dof[-1]))


def test_another_factor_forgets_the_last_one():
    rng = np.random.default_rng(9)
    first = random_tree(12, rng)
    again = random_tree(12, rng)
    again.parent, again.dof = first.parent, first.dof
    again.S = rng.normal(size=first.S.shape)
    again.below[first.parent < 0] = np.nan  # of a root it is not read
    again.diagonal = again.diagonal + 500.0 * np.eye(6)
    factor = factored(first)
    factor.solve(np.ones((first.dof[-1], 4)))
    factor.factor(*again.blocks)
    b = rng.normal(size=first.dof[-1])
    u = factor.solve(b)
    again.below[first.parent < 0] = 0.0
    assert np.abs(again.dense() @ u - b).max() < 1e-9
    assert factor.factored == 2


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_a_pivot_that_is_not_positive_names_the_body(value):
    rng = np.random.default_rng(10)
    tree = random_tree(6, rng, rates=(1,), roots=0.0, springs=0.0, joint_springs=0.0)
    tree.parent[:] = [-1, 0, 1, 1, 3, 3]
    tree.diagonal[4] = value * np.eye(6)
    with pytest.raises(BodyNotPositiveDefinite) as caught:
        factored(tree)
    assert caught.value.body == 4


def test_a_tree_out_of_order_is_refused():
    with pytest.raises(ValueError, match="parent"):
        TreeFactor(np.array([1, -1]), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="six"):
        TreeFactor(np.array([-1]), np.array([0, 7]))
