"""Friction acts on both sides of a gap and turns nothing: a turn of both sides together is no slip."""

import numpy as np
import pytest

from solver.contact.laws.lagged_friction import LaggedFriction
from solver.contact.laws.lagged_friction_kernels import couple_weights

GAP = 0.01


def pairs():
    """A point over a triangle, one beyond its edge, and two edges that cross; where their sides are nearest."""
    x = np.array([(0.3, 0.2, GAP), (0, 0, 0), (1, 0, 0), (0, 1, 0),
                  (0.4, -0.006, 0.008), (0, 0, 0), (1, 0, 0), (0, 1, 0),
                  (0, 0, GAP), (1, 0.2, GAP), (0.5, -1, 0), (0.6, 1, 0)], float)
    nodes = np.arange(12, dtype=np.int32).reshape(3, 4)
    s, t = np.linalg.solve([[1.0, -0.1], [0.2, -2.0]], [0.5, -1.0])
    weights = np.array([(1, -0.5, -0.3, -0.2), (1, -0.6, -0.4, 0), (1 - s, s, t - 1, -t)])
    return x, nodes, weights


def friction_at(x, nodes, weights, base):
    way = np.einsum("ka,kai->ki", weights, x[nodes])
    gap = np.linalg.norm(way, axis=1)
    assert gap == pytest.approx(GAP)
    normal, couples = way / gap[:, None], np.empty((len(nodes), 4, 3))
    couple_weights(0, len(nodes), x, nodes, 2, normal, gap, couples)
    return LaggedFriction(nodes, weights, couples, normal, np.array([2.0, 3.0, 1.0]), 1e-3, base, 0.01)


def test_friction_turns_neither_side_by_the_gap():
    x, nodes, weights = pairs()
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    x = x @ turn.T + [0.3, -0.2, 0.5]
    law = friction_at(x, nodes, weights, x - 0.01 * np.random.default_rng(4).normal(size=x.shape))
    forces = law.measure(x, 0.0).forces
    lever = np.linalg.norm(np.cross(x[nodes[:, 0]] - x[nodes[:, 2]], forces[:, 0]), axis=1)
    assert np.linalg.norm(np.cross(x[nodes], forces).sum(axis=1), axis=1) == pytest.approx(0.0, abs=1e-9 * lever.max())
    # and pushes neither away from the other as a whole
    first = np.array([forces[0, 0], forces[1, 0], forces[2, :2].sum(axis=0)])
    assert np.einsum("ki,ki->k", first, law.normal) == pytest.approx(0.0, abs=1e-12)


def test_what_turns_as_one_does_not_slip():
    x, nodes, weights = pairs()
    spin = np.array([0.3, -0.7, 0.4])
    law = friction_at(x, nodes, weights, x - 0.01 * np.cross(spin, x))
    assert np.abs(law.measure(x, 0.0).forces).max() <= 1e-9


def test_parallel_edges_rub_with_finite_forces():
    x = np.array([(0, 0, GAP), (1, 0, GAP), (0, 0, 0), (1, 0, 0)], float)
    nodes, couples = np.arange(4, dtype=np.int32).reshape(1, 4), np.empty((1, 4, 3))
    couple_weights(0, 1, x, nodes, 0, np.array([(0.0, 0, 1)]), np.array([GAP]), couples)
    assert np.abs(couples).max() <= 2.0 * GAP
    assert couples[0].T @ x == pytest.approx(GAP * np.diag([1.0, 0.0, 0.0]), abs=1e-12)
