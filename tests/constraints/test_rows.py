"""Rows on twists and rates, and those that hold both ways, against dense algebra."""

import numpy as np
import pytest
from plain_trees import random_tree

from solver.constraints.rows import Rows, concatenate_rows, no_rows, on_bodies, on_rates
from solver.rows.bilateral import Bilateral
from solver.rows.tables import DenseRows


def random_rows(rng, tree, count):
    body = rng.integers(-1, tree.n, size=(count, 2)).astype(np.int32)
    rate = rng.integers(-1, tree.n, size=count).astype(np.int32)
    factor = np.where(rate >= 0, rng.normal(size=count), 0.0)
    return Rows(body, rng.normal(size=(count, 2, 6)), rate, factor, rng.normal(size=count), np.zeros(count),
                np.arange(count, dtype=np.int32))


@pytest.fixture(params=range(3))
def case(request):
    rng = np.random.default_rng(request.param)
    tree = random_tree(rng, 9)
    q, u = rng.normal(size=9), rng.normal(size=9)
    X = tree.posture(q)[1]
    return rng, tree, random_rows(rng, tree, 5), X, u


def responding(tree, X):
    A = tree.mass(X)
    return A, lambda b: np.linalg.solve(A, b)


def test_a_jacobian_gives_the_rows_velocities(case):
    _, tree, rows, X, u = case
    J = tree.jacobian(X)
    twist = (J @ u).reshape(-1, 6)
    R = rows.jacobian(tree.parent, tree.dof, X, tree.S)
    assert R @ u == pytest.approx(rows.velocity(twist, u), rel=1e-12)
    dense = np.zeros((len(rows), tree.n))
    for r in range(len(rows)):
        for side in range(2):
            b = rows.body[r, side]
            if b >= 0:
                dense[r] += rows.wrench[r, side] @ J[6 * b:6 * b + 6]
        if rows.rate[r] >= 0:
            dense[r, rows.rate[r]] += rows.rate_factor[r]
    assert pytest.approx(dense, abs=1e-12) == R


def test_a_multipliers_wrenches_do_the_work_of_its_row(case):
    rng, tree, rows, X, _ = case
    multiplier = rng.normal(size=len(rows))
    on_rates_alone = np.zeros(tree.n)
    np.add.at(on_rates_alone, rows.rate[rows.rate >= 0], (rows.rate_factor * multiplier)[rows.rate >= 0])
    R = rows.jacobian(tree.parent, tree.dof, X, tree.S)
    wrenches = rows.wrenches(multiplier, tree.n)
    assert tree.jacobian(X).T @ wrenches.ravel() + on_rates_alone == pytest.approx(R.T @ multiplier, rel=1e-11)


@pytest.mark.parametrize("compliance", [0.0, 0.3])
def test_bilateral_rows_solve_the_whole_system(case, compliance):
    rng, tree, rows, X, _ = case
    A, respond = responding(tree, X)
    G, b = rows.jacobian(tree.parent, tree.dof, X, tree.S), rng.normal(size=tree.n)
    sigma = np.full(len(rows), compliance)
    u, multiplier = Bilateral(DenseRows.equations(G, rows.target, sigma), respond).solve(respond(b))
    whole = np.block([[A, -G.T], [G, np.diag(sigma)]])
    expected = np.linalg.solve(whole, np.concatenate([b, rows.target]))
    assert np.concatenate([u, multiplier]) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_what_is_left_answers_without_breaking_the_rows(case):
    rng, tree, rows, X, _ = case
    _, respond = responding(tree, X)
    G = rows.jacobian(tree.parent, tree.dof, X, tree.S)
    bilateral = Bilateral(DenseRows.equations(G), respond)
    answer = bilateral.respond(np.eye(tree.n))
    assert np.abs(G @ answer).max() < 1e-9 * np.abs(G).max() * np.abs(answer).max()
    assert answer == pytest.approx(answer.T, abs=1e-10)


def test_rows_listed_twice_are_named_and_still_hold(case):
    rng, tree, rows, X, _ = case
    _, respond = responding(tree, X)
    twice = concatenate_rows([rows, rows])
    G = twice.jacobian(tree.parent, tree.dof, X, tree.S)
    solver = Bilateral(DenseRows.equations(G, twice.target), respond)
    assert len(solver.redundant) == len(rows)
    u, multiplier = solver.solve(rng.normal(size=tree.n))
    assert G @ u == pytest.approx(twice.target, abs=1e-6)
    # two that say the same share what they carry
    assert multiplier[:5] == pytest.approx(multiplier[5:], rel=1e-3, abs=1e-6)


def test_a_row_that_nothing_moves_is_left_out(case):
    _, tree, rows, X, _ = case
    _, respond = responding(tree, X)
    G = rows.jacobian(tree.parent, tree.dof, X, tree.S)
    G[2] = 0.0
    solver = Bilateral(DenseRows.equations(G, rows.target), respond)
    assert list(solver.redundant) == [2]
    u, multiplier = solver.solve(np.zeros(tree.n))
    assert multiplier[2] == 0.0 and np.delete(G @ u - rows.target, 2) == pytest.approx(0.0, abs=1e-9)


def test_tables_join_and_their_owners_are_counted_on():
    limits = on_rates(np.array([2, 0]), np.array([1.0, -1.0]), np.array([0.5, 0.1]), np.array([0, 1]))
    contact = on_bodies(np.array([[3, -1]]), np.ones((1, 2, 6)), np.zeros(1), np.array([0]))
    both = concatenate_rows([limits, contact, no_rows()])
    assert list(both.owner) == [0, 1, 2] and list(both.rate) == [2, 0, -1] and len(both) == 3
    assert len(concatenate_rows([])) == 0
