"""The factor in single precision, copied or made, solves as the factor does, to its digits, whoever shares the work."""

import numpy as np
import pytest
import scipy.sparse as sp
from installed import DIRECT, installed

from solver import threads
from solver.assembly.pattern import node_graph
from solver.linear.blocks import LANES
from solver.linear.cholesky import multifrontal
from solver.linear.cholesky.lanes import COLUMNS, ROWS
from solver.linear.cholesky.single import SingleFactor
from solver.linear.cholesky.single_columns import SingleColumns
from solver.linear.interface import NotPositiveDefinite, inside_of
from solver.meshing.grid import box_tets


@pytest.fixture(params=["cholmod", "cvxopt"])
def factored(request):
    return analysed(request.param, (9, 5, 4))


@pytest.fixture(scope="module")
def block():
    """Its last fronts are wider than a panel and longer than a tile."""
    return analysed(DIRECT, (12, 12, 12))


def analysed(kind, cells):
    nodes, tets = box_tets(cells, tuple(0.1 * count for count in cells))
    graph = node_graph(tets, len(nodes))
    laplacian = sp.diags(np.asarray(graph.sum(axis=0)).ravel() + 0.1) - graph
    linear = installed(kind)()
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
    copy.copy()
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
    copy.copy()
    answers = []
    for count in (1, 2):
        threads.configure(count)
        answers.append(copy.solve(right).tobytes())
    threads.configure(None)
    assert answers[0] == answers[1]


def test_it_factors_by_itself(factored, block):
    for linear, whole, lower in (factored, block):
        right = np.random.default_rng(2).normal(size=whole.shape[0])
        made = SingleFactor(inside_of(linear))
        # as small as a short step makes it
        for scale in (1.0, 1e-30, 3e30):
            made.factor(scale * lower)
            assert np.abs(whole @ made.solve(right) * scale - right).max() <= 1e-4
        # nothing is left of a factor before, nor of one that failed
        made.factor(lower)
        answer = made.solve(right)
        with pytest.raises(NotPositiveDefinite):
            made.factor(-lower)
        made.factor(lower)
        assert made.solve(right).tobytes() == answer.tobytes()


def test_a_large_front_has_several_panels_and_tiles(block):
    inside = inside_of(block[0])
    columns, lengths = np.diff(inside.first)[inside.top], np.diff(inside.rows_start)[inside.top]
    assert columns.max() > multifrontal.PANEL
    assert (lengths - columns).max() > multifrontal.TILE


@pytest.mark.parametrize("place", [0, 1, -1])
def test_a_pivot_that_is_not_positive_is_found(block, place):
    linear, _, lower = block
    inside = inside_of(linear)
    made = SingleFactor(inside)
    # the first one, one within the last front, the last one
    at = inside.permutation[{0: 0, 1: int(inside.first[inside.top[-1]]) + multifrontal.PANEL + 5, -1: -1}[place]]
    wrong = lower.copy()
    wrong.data[wrong.indptr[at]] = -1.0
    with pytest.raises(NotPositiveDefinite, match="not positive"):
        made.factor(wrong)


def test_a_pivot_that_single_precision_cannot_tell_is_refused(factored):
    linear, whole, lower = factored
    made = SingleFactor(inside_of(linear))
    # a floating body: the last pivot is what rounding leaves, but for a part in 1e7
    of_blocks = sp.kron(sp.identity(whole.shape[0] // 3), np.eye(3) + 0.1)
    floating = sp.tril(whole - (0.1 - 1e-7) * of_blocks, format="csc")
    floating.sort_indices()
    linear.factor(floating)
    with pytest.raises(NotPositiveDefinite):
        made.factor(floating)
    made.factor(lower)


def test_what_it_makes_does_not_depend_on_the_threads(block):
    linear, whole, lower = block
    right = np.random.default_rng(3).normal(size=whole.shape[0])
    answers = []
    for count in (1, 2):
        threads.configure(count)
        made = SingleFactor(inside_of(linear))
        made.factor(lower)
        answers.append(made.solve(right).tobytes())
    threads.configure(None)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("kind", ["cholmod", "cvxopt", "block"])
def test_many_columns_are_solved_for_together(block, kind):
    """Whatever is left over of supernodes whose columns and rows are no whole number of blocks, in one strip and in
    three, with any number of threads."""
    linear, whole, lower = block if kind == "block" else analysed(kind, (9, 5, 4))
    inside = inside_of(linear)
    columns, lengths = np.diff(inside.first), np.diff(inside.rows_start)
    assert len(set(columns % COLUMNS)) > 1 and len(set((lengths - columns) % ROWS)) > 1
    made = SingleFactor(inside)
    made.factor(lower)
    together, size = SingleColumns(inside, made), whole.shape[0]
    for strips in (1, 3):
        right = np.random.default_rng(4).normal(size=(strips, size, LANES)).astype(np.float32)
        answers = []
        for count in (1, 2):
            threads.configure(count)
            answers.append(made.unit * together.solve(right.copy()))
        threads.configure(None)
        assert answers[0].tobytes() == answers[1].tobytes()
        for strip, answer in zip(right, answers[0]):
            assert np.abs(whole @ answer.astype(float) - strip).max() <= 1e-4
        # L⁻¹ divides what stands in the last row alone by its pivot, and L⁻ᵀ is the rest
        last = np.zeros_like(right)
        last[:, inside.permutation[-1], strips] = 1.0
        known = together.solve(last.copy())
        assert together.backward(last.copy()) / made.values[-1] == pytest.approx(known, rel=1e-5, abs=1e-30)
