"""Fronts kept between matrices: partly rebuilt fronts equal fully rebuilt ones to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from solver.linear.cholesky.front_layout import FrontLayout
from solver.linear.cholesky.fronts import Fronts
from solver.linear.cholesky.multifrontal import Workspace
from solver.linear.cholesky.single import SingleFactor
from solver.linear.cholesky.symbolic import NodeGraph

SIDE = 24  #: nodes along each side of a sheet


def sheet(pairs, stiffness):
    """Lower triangle of a sheet of springs whose nodes are joined besides by pairs (k, 2) of these stiffnesses."""
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    edges = np.concatenate([np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1),
                            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1), pairs])
    weight = np.concatenate([np.full(len(edges) - len(pairs), 1.0), stiffness])
    count = SIDE * SIDE
    graph = sp.coo_matrix((-weight, tuple(edges.T)), shape=(count, count)).tocsr()
    graph = graph + graph.T
    graph = graph + sp.diags(1.0 - np.asarray(graph.sum(axis=1)).ravel())
    lower = sp.tril(sp.kron(graph, np.eye(3) + 0.1), format="csc")
    lower.sort_indices()
    return lower


def ordered(lower, order):
    graph = NodeGraph(lower.indptr, lower.indices, 0)
    return Fronts(graph.tree(order).symbolic(), lower, Workspace())


@pytest.fixture(scope="module")
def order():
    """Dissected in halves, so that there are subtrees."""
    def halves(rows, columns):
        if len(rows) * len(columns) <= 4:
            return [r * SIDE + c for r in rows for c in columns]
        if len(rows) < len(columns):
            k = len(columns) // 2
            return halves(rows, columns[:k]) + halves(rows, columns[k + 1:]) + [r * SIDE + columns[k] for r in rows]
        k = len(rows) // 2
        return halves(rows[:k], columns) + halves(rows[k + 1:], columns) + [rows[k] * SIDE + c for c in columns]

    return np.array(halves(list(range(SIDE)), list(range(SIDE))), dtype=np.int32)


def test_what_is_made_in_part_is_what_is_made_whole_to_the_last_bit(order):
    rng = np.random.default_rng(1)
    room, layout, single, before = Workspace(np.float32), None, None, np.zeros(0, int)
    right = rng.normal(size=3 * SIDE * SIDE)
    shares, compared = [], 0
    for count in (6, 9, 9, 0, 14, 3, 8):
        # pairs come and go between two corners of the sheet
        one, other = (rng.integers(0, 5, (count, 2)) + [row, 0] for row in (0, 8))
        pairs = np.stack([one @ [SIDE, 1], other @ [SIDE, 1]], axis=1)
        lower = sheet(pairs, 10.0 ** rng.uniform(0, 3, count))
        inside = ordered(lower, order)
        changed = np.zeros(3 * SIDE * SIDE, dtype=bool)
        nodes = np.union1d(before, pairs.ravel())
        changed[(3 * nodes[:, None] + np.arange(3)).ravel()] = True
        before = pairs.ravel()
        following = None if layout is None else layout.after(inside, changed)
        if following is None:
            layout = FrontLayout.of_all(inside)
            single = SingleFactor(inside, room, layout)
        else:
            layout, unit = following, single.unit
            single = SingleFactor(inside, room, layout, unit)
        unknown = lower.copy()
        if following is not None:
            # nothing else is asked for
            column = np.repeat(np.arange(lower.shape[0]), np.diff(lower.indptr))
            unknown.data[~layout.unknowns[column]] = np.nan
        assert single.can_factor(unknown)
        single.factor(unknown)
        shares.append(float(layout.made.mean()))
        whole = SingleFactor(inside)
        assert whole.can_factor(lower)
        whole.factor(lower)
        if single.unit == whole.unit:
            assert single.solve(right).tobytes() == whole.solve(right).tobytes()
            compared += 1
        exact = sp.linalg.spsolve((lower + sp.tril(lower, -1).T).tocsc(), right)
        assert np.abs(single.solve(right) - exact).max() <= 2e-4 * np.abs(exact).max()
    assert shares[0] == 1.0 and max(shares[1:]) < 0.6 and compared > 2


def test_places_do_not_overlap(order):
    rng = np.random.default_rng(2)
    layout = None
    for count in (3, 12, 5, 20, 1, 9):
        pairs = rng.choice(SIDE * SIDE, (count, 2), replace=False)
        inside = ordered(sheet(pairs, np.ones(count)), order)
        following = None if layout is None else layout.after(inside, rng.random(3 * SIDE * SIDE) < 0.01)
        layout = FrontLayout.of_all(inside) if following is None else following
        for taken in (layout.in_values, layout.in_updates):
            places = np.concatenate([np.stack([taken.starts, taken.capacities], axis=1), taken.vacant])
            places = places[places[:, 1] > 0]
            places = places[np.argsort(places[:, 0])]
            assert (places[:-1].sum(axis=1) <= places[1:, 0]).all()
            assert places.sum(axis=1).max() <= taken.end <= taken.most


def test_all_is_made_where_all_has_changed(order):
    inside = ordered(sheet(np.zeros((0, 2), int), np.zeros(0)), order)
    assert FrontLayout.of_all(inside).after(inside, np.ones(3 * SIDE * SIDE, dtype=bool)) is None


def test_patterns_that_come_and_go_are_made_in_part(order):
    """Blocks that later patterns outgrow leave gaps: memory for them costs less than to make all fronts again."""
    rng = np.random.default_rng(3)
    layout, whole = FrontLayout.of_all(ordered(sheet(np.zeros((0, 2), int), np.zeros(0)), order)), 0
    for _ in range(40):
        one, other = (rng.integers(0, 5, (12, 2)) + [row, 0] for row in (0, 8))
        inside = ordered(sheet(np.stack([one @ [SIDE, 1], other @ [SIDE, 1]], axis=1), np.ones(12)), order)
        following = layout.after(inside, np.zeros(3 * SIDE * SIDE, dtype=bool))
        whole += following is None
        layout = FrontLayout.of_all(inside) if following is None else following
    assert whole == 0
