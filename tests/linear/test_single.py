"""The factor's copy in single precision solves as the factor does, to its digits, whoever shares the work."""

import numpy as np
import pytest
import scipy.sparse as sp

from solver import threads
from solver.assembly.pattern import node_graph
from solver.linear.interface import available
from solver.linear.single import SingleFactor
from solver.linear.supernodal import inside_of
from solver.meshing.grid import box_tets


@pytest.fixture(params=["cholmod", "cvxopt"])
def factored(request):
    nodes, tets = box_tets((9, 5, 4), (0.9, 0.5, 0.4))
    graph = node_graph(tets, len(nodes))
    laplacian = sp.diags(np.asarray(graph.sum(axis=0)).ravel() + 0.1) - graph
    linear = available(request.param)()
    order = linear.order(graph)
    whole = sp.kron(laplacian.tocsc()[order][:, order], np.eye(3) + 0.1, format="csc")
    lower = sp.tril(whole, format="csc")
    lower.sort_indices()
    linear.analyse(lower, 0)
    linear.factor(lower)
    return linear, whole, lower


def test_it_solves_to_six_digits(factored):
    linear, whole, lower = factored
    right = np.random.default_rng(0).normal(size=whole.shape[0])
    copy = SingleFactor(inside_of(linear))
    known = linear.solve(right)
    assert np.abs(copy.solve(right) - known).max() <= 1e-5 * np.abs(known).max()
    # right sides of any size
    for scale in (1e-60, 1e60):
        assert np.abs(copy.solve(scale * right) / scale - known).max() <= 1e-5 * np.abs(known).max()
    assert not copy.solve(0.0 * right).any()

    # it stays what it was until it is told to look again
    linear.factor(2.0 * lower)
    assert np.abs(copy.solve(right) - known).max() <= 1e-5 * np.abs(known).max()
    copy.copy()
    assert np.abs(copy.solve(right) - 0.5 * known).max() <= 1e-5 * np.abs(known).max()


def test_the_bytes_do_not_depend_on_the_threads(factored):
    linear, whole, _ = factored
    right = np.random.default_rng(1).normal(size=whole.shape[0])
    copy = SingleFactor(inside_of(linear))
    answers = []
    for count in (1, 2):
        threads.configure(count)
        answers.append(copy.solve(right).tobytes())
    threads.configure(None)
    assert answers[0] == answers[1]
