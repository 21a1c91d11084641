"""Every linear solver of the catalogue gives the same answers, in place and again."""

import numpy as np
import pytest
import scipy.sparse as sp
from installed import DIRECT, installed

from solver import catalogue, threads  # noqa: F401
from solver.assembly.pattern import node_graph
from solver.errors import Environment, NoSuchThing
from solver.linear.choose import choose
from solver.linear.interface import available
from solver.meshing.grid import box_tets

SOLVERS = list(catalogue.family("linear_solver"))
SIZE, RETAINED = 60, 6


def matrix(seed):
    """Return matrices of one pattern of 3 x 3 blocks: random, with pieces that do not hang together."""
    root = sp.kron(sp.random(SIZE // 3, SIZE // 3, 0.06, random_state=2), np.ones((3, 3)), format="csc")
    root.data[:] = np.random.default_rng(seed).normal(size=len(root.data))
    whole = (root @ root.T + sp.kron(sp.identity(SIZE // 3), np.eye(3) + 0.1)).tocsc()
    lower = sp.tril(whole, format="csc")
    lower.sort_indices()
    return whole.toarray(), lower


@pytest.fixture(params=SOLVERS)
def linear(request):
    solver = installed(request.param)()
    if hasattr(solver, "tolerance"):  # one that iterates is asked for all the digits there are
        solver.tolerance = solver.tolerance_of_j = 1e-14
    return solver


@pytest.mark.parametrize("key", [key for key in SOLVERS if available(key) is not None])
def test_an_order_depends_on_the_graph_and_not_on_its_values(key):
    graph = node_graph(box_tets((3, 2, 2), (1, 1, 1))[1], 36).tocsc()
    heavy = graph.copy()
    heavy.data = -1e7 * np.random.default_rng(1).random(graph.nnz)  # as stiffness has them
    order = available(key).order(heavy)
    assert np.array_equal(np.sort(order), np.arange(36))
    assert np.array_equal(order, available(key).order(graph))


def test_solve_and_condense_after_each_refactor(linear):
    rng = np.random.default_rng(0)
    linear.analyse(matrix(0)[1], RETAINED)
    for seed in range(3):
        whole, lower = matrix(seed)
        linear.factor(lower)
        right = rng.normal(size=SIZE)
        assert np.abs(whole @ linear.solve(right) - right).max() <= 1e-12
        free = SIZE - RETAINED
        for _ in range(2):
            jacobian = linear.condense()
            assert np.abs(whole[:free, :free] @ jacobian + whole[:free, free:]).max() <= 1e-11


def test_right_sides_of_integers_are_solved_as_numbers(linear):
    whole, lower = matrix(1)
    linear.analyse(lower, 0)
    linear.factor(lower)
    right = np.arange(2 * SIZE, dtype=np.int8).reshape(SIZE, 2)
    assert np.abs(whole @ linear.solve(right) - right).max() <= 1e-9


def test_nothing_retained_and_everything_retained(linear):
    whole, lower = matrix(1)
    linear.analyse(lower, 0)
    linear.factor(lower)
    assert linear.condense().shape == (SIZE, 0)
    assert np.abs(whole @ linear.solve(np.eye(SIZE)[0]) - np.eye(SIZE)[0]).max() <= 1e-12
    linear.analyse(lower, SIZE)
    linear.factor(lower)
    assert linear.condense().shape == (0, SIZE)


@pytest.mark.parametrize("key", ["cholmod", "cvxopt"])
def test_where_everything_is_pinned_nothing_is_solved(key):
    linear = installed(key)()
    empty = sp.csc_matrix((0, 0))
    linear.analyse(empty, 0)
    linear.factor(empty)
    assert linear.solve(np.zeros(0)).shape == (0,) and linear.solve(np.zeros((0, 3))).shape == (0, 3)


@pytest.fixture(scope="module")
def box_factor():
    """A factor with supernodes of many sizes: a grid's Laplacian on 3 x 3 blocks."""
    nodes, tets = box_tets((9, 7, 6), (1, 1, 1))
    graph = node_graph(tets, len(nodes))
    order = installed(DIRECT).order(graph)
    laplace = sp.diags(np.asarray(graph.sum(axis=1)).ravel() + 0.1) - graph
    block = np.eye(3) + 0.3
    lower = sp.tril(sp.kron(laplace.tocsr()[order][:, order], block), format="csc")
    lower.sort_indices()
    return lower


@pytest.mark.parametrize("width", [1, 2, 7, 13, 40])
@pytest.mark.parametrize("key", ["cholmod", "cvxopt"])
def test_our_backward_solve_is_the_library_s(box_factor, key, width):
    linear = installed(key)()
    linear.analyse(box_factor, 6)
    linear.factor(box_factor)
    linear.condense()
    inside = linear._supernodes
    assert inside is not None
    right = np.random.default_rng(width).normal(size=(box_factor.shape[0], width))
    expected = linear._solve_lt(right.copy())
    assert np.abs(inside.solve_lt(right.copy()) - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("width", [2, 7, 13, 40, 150])
def test_many_right_hand_sides_are_solved_together_where_cvxopt_takes_one_at_a_time(box_factor, width, monkeypatch):
    from solver.linear.cholesky import cvxopt_cholmod

    linear = available("cvxopt")()
    linear.analyse(box_factor, 6)
    linear.factor(box_factor)
    assert linear.supernodes() is not None
    right = np.random.default_rng(width).normal(size=(box_factor.shape[0], width))
    expected, before = linear._apply(right, cvxopt_cholmod._SOLVE_ALL), right.copy()
    monkeypatch.setattr(linear, "_apply", lambda *_: pytest.fail("one after the other"))
    ours = linear.solve(right)
    assert np.abs(ours - expected).max() <= 1e-12 * np.abs(expected).max() and (right == before).all()
    assert (linear.solve(np.asfortranarray(right)) == ours).all()
    linear.factor(box_factor * 2.0)
    assert np.abs(linear.solve(right) - 0.5 * expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_factor_that_looks_strange_is_left_to_the_library(box_factor):
    analyze = pytest.importorskip("sksparse.cholmod").analyze

    from solver.linear.cholesky import cholmod, cvxopt_cholmod
    from solver.linear.cholesky.supernodal import supernodes

    size = box_factor.shape[0]
    simplicial = analyze(box_factor, mode="simplicial", ordering_method="natural")
    simplicial.cholesky_inplace(box_factor)
    address = cholmod._address(simplicial)
    assert address and supernodes(address, size, lambda sides: sides) is None
    supernodal = analyze(box_factor, mode="supernodal", ordering_method="natural")
    supernodal.cholesky_inplace(box_factor)
    address = cholmod._address(supernodal)
    assert supernodes(address, size + 3, lambda sides: sides) is None
    assert supernodes(address, size, lambda sides: sides) is None  # the library's answer is another
    assert cholmod._address(object()) is None and cvxopt_cholmod._address(object()) is None


def test_the_fastest_installed_is_chosen_and_says_why(monkeypatch):
    assert "CHOLMOD" in choose().why
    from solver.linear import choose as module

    monkeypatch.setattr(module, "available", lambda key: None if key == "cholmod" else available(key))
    second = choose()
    assert type(second).__name__ == "CvxoptCholmod" and "not installed" in second.why
    with pytest.raises(Environment):
        choose("cholmod")
    with pytest.raises(NoSuchThing):
        choose("pardiso")
