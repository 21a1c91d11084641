"""A few columns by the leading block of a factor in single precision: as a dense solve has them, whoever works."""

import numpy as np
import pytest
import scipy.sparse as sp
from installed import installed

from solver import threads
from solver.assembly.pattern import node_graph
from solver.linear.cholesky.single_few import SingleFew
from solver.linear.interface import inside_of
from solver.meshing.grid import box_tets
from solver.parts.conjac.reduced_precision import ReducedPrecision

RETAINED = 12


@pytest.fixture(params=["cholmod", "cvxopt"])
def factored_solver(request):
    """Two blocks that nothing joins, the last rows of each kept: the factor's own order takes one whole block first."""
    nodes, tets = box_tets((7, 5, 4), (0.7, 0.5, 0.4))
    graph = node_graph(tets, len(nodes))
    one = sp.kron(sp.diags(np.asarray(graph.sum(axis=0)).ravel() + 0.1) - graph, np.eye(3) + 0.1, format="csc")
    size = one.shape[0] - RETAINED // 2
    both = sp.block_diag([one, 3.0 * one], format="csc")
    inner = np.concatenate([np.arange(size), size + RETAINED // 2 + np.arange(size)])
    order = np.concatenate([inner, np.setdiff1d(np.arange(both.shape[0]), inner)])
    whole = both[order][:, order]
    lower = sp.tril(whole, format="csc")
    lower.sort_indices()
    linear = installed(request.param)()
    linear.analyse(lower, RETAINED)
    linear.factor(lower)
    return linear, lower, whole.toarray()


@pytest.mark.parametrize("width", [1, 2, 3])
def test_it_solves_with_the_last_rows_fixed(factored_solver, width):
    linear, _, whole = factored_solver
    block = whole[:-RETAINED, :-RETAINED]
    few = SingleFew(inside_of(linear), RETAINED)
    few.single.copy()
    sides = np.random.default_rng(0).normal(size=(len(block), 3)) * [1.0, 1e-60, 1e60]
    for _ in range(2):  # nothing is left of the call before
        answer = few.solve(np.ascontiguousarray(sides[:, 3 - width :]))
        known = np.linalg.solve(block, sides)[:, 3 - width :]
        assert (np.abs(answer - known).max(axis=0) <= 1e-5 * np.abs(known).max(axis=0)).all()
    assert not few.solve(np.zeros((len(block), width))).any()


def test_the_bytes_do_not_depend_on_the_threads(factored_solver):
    linear, _, whole = factored_solver
    few = SingleFew(inside_of(linear), RETAINED)
    few.single.copy()
    sides, answers = np.random.default_rng(1).normal(size=(len(whole) - RETAINED, 3)), []
    for count in (1, 2):
        threads.configure(count)
        answers.append(few.solve(sides).tobytes())
    threads.configure(None)
    assert answers[0] == answers[1]


def test_j_of_a_rough_factor_is_that_of_a_dense_solve(factored_solver):
    """And the linear solver, once it is shown that factor, solves with it: to as many digits, in its own unit."""
    linear, lower, whole = factored_solver
    inner = len(whole) - RETAINED
    rough, before, answers = ReducedPrecision(inside_of(linear), RETAINED), linear.factored, []
    for count in (1, 2):
        threads.configure(count)
        answers.append(rough.condense(1e3 * lower, linear))
    threads.configure(None)
    known = -np.linalg.solve(whole[:inner, :inner], whole[:inner, inner:])
    assert np.abs(answers[0] - known).max() <= 1e-5 * np.abs(known).max()
    assert answers[0].tobytes() == answers[1].tobytes() and linear.factored == before + 2
    side = np.random.default_rng(2).normal(size=len(whole))
    rough.show(before)  # it is not the factor of so many
    assert linear.solve(side) == pytest.approx(np.linalg.solve(whole, side), abs=1e-8)
    rough.show(linear.factored)
    assert linear.solve(side) == pytest.approx(np.linalg.solve(1e3 * whole, side), abs=1e-5)
