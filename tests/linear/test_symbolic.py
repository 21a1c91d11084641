"""Our own symbolic factorization has the rows that elimination fills, and a factor on it is Cholesky's."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from solver import threads
from solver.linear.cholesky import multifrontal
from solver.linear.cholesky.fronts import Fronts, LaterPatterns
from solver.linear.cholesky.multifrontal import Workspace
from solver.linear.cholesky.symbolic import NodeGraph
from solver.linear.interface import NotPositiveDefinite


def over_nodes(seed, nodes, joined, retained):
    """Lower triangle of a positive definite matrix of 3 x 3 blocks, the last `kept` rows apart; and the whole of it."""
    rng = np.random.default_rng(seed)
    size = 3 * nodes + retained
    whole = np.zeros((size, size))
    for a, b in rng.integers(0, nodes, (joined, 2)):
        if a != b:
            whole[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += rng.normal(size=(3, 3))
    for k in range(3 * nodes, size):  # each is joined to a few nodes, and to each other
        for a in rng.integers(0, nodes, 3):
            whole[k, 3 * a : 3 * a + 3] = rng.normal(size=3)
        whole[k, 3 * nodes : k] = rng.normal(size=k - 3 * nodes)
    whole += whole.T
    for a in range(nodes):
        whole[3 * a : 3 * a + 3, 3 * a : 3 * a + 3] += 0.1
    whole += np.diag(np.abs(whole).sum(axis=1) + 1.0)
    return sp.csc_matrix(np.tril(whole)), whole


def filled(whole, nodes, order):
    """Return for each column of L the nodes that elimination in this order leaves in it, by joining neighbours."""
    joined = np.zeros((len(order), len(order)), dtype=bool)
    of = np.concatenate([np.repeat(np.arange(nodes), 3), np.arange(nodes, len(order))])
    rows, columns = np.nonzero(whole)
    joined[of[rows], of[columns]] = True
    joined = joined[np.ix_(order, order)]
    for j in range(len(order)):
        below = np.flatnonzero(joined[j + 1 :, j]) + j + 1
        joined[np.ix_(below, below)] = True
    return np.tril(joined)


SHAPES = [(0, 40, 60, 0), (1, 40, 30, 4), (2, 60, 0, 0), (3, 25, 200, 7), (4, 1, 0, 0), (5, 30, 40, 1)]


@pytest.mark.parametrize("seed, nodes, joined, retained", SHAPES)
def test_counts_and_rows_are_those_that_elimination_fills(seed, nodes, joined, retained):
    lower, whole = over_nodes(seed, nodes, joined, retained)
    graph = NodeGraph(lower.indptr, lower.indices, retained)
    for order in (None, np.random.default_rng(seed).permutation(nodes).astype(np.int32)):
        tree = graph.tree(order)
        assert sorted(tree.order) == list(range(nodes + retained))
        wanted = filled(whole, nodes, tree.order)
        assert (tree.counts == wanted.sum(axis=0)).all()
        found = tree.symbolic()
        widths = np.where(tree.order < nodes, 3, 1)
        scalar = np.repeat(np.repeat(wanted, widths, axis=0), widths, axis=1)
        for s in range(len(found.first) - 1):
            rows = found.rows[found.rows_start[s] : found.rows_start[s + 1]]
            own = np.arange(found.first[s], found.first[s + 1])
            assert (np.diff(rows) > 0).all() and (rows[: len(own)] == own).all()
            needed = np.flatnonzero(scalar[:, own].any(axis=1))
            assert np.isin(needed, rows).all()
        assert sorted(found.permutation) == list(range(3 * nodes + retained))


@pytest.mark.parametrize("seed, nodes, joined, retained", SHAPES)
def test_a_factor_solves_and_what_is_retained_is_eliminated_last(seed, nodes, joined, retained):
    lower, whole = over_nodes(seed, nodes, joined, retained)
    right = np.random.default_rng(9).normal(size=(len(whole), 5))
    for order in (None, np.random.default_rng(seed).permutation(nodes).astype(np.int32)):
        found = NodeGraph(lower.indptr, lower.indices, retained).tree(order).symbolic()
        fronts = Fronts(found, lower, Workspace())
        fronts.factor(lower)
        assert np.abs(whole @ fronts.solve(right) - right).max() <= 1e-12
        dense = np.zeros_like(whole)
        for s in range(len(found.first) - 1):
            rows = found.rows[found.rows_start[s] : found.rows_start[s + 1]]
            columns = np.arange(found.first[s], found.first[s + 1])
            values = fronts.values[found.values_start[s] : found.values_start[s + 1]]
            dense[np.ix_(rows, columns)] = np.tril(values.reshape(len(columns), len(rows)).T)
        which = np.sort(np.random.default_rng(3).permutation(len(whole))[: len(whole) // 4])
        assert np.array_equal(fronts.corner(which), dense[np.ix_(which, which)])
        turned = whole[np.ix_(found.permutation, found.permutation)]
        assert np.abs(dense @ dense.T - turned).max() <= 1e-12 * np.abs(turned).max()


def test_the_same_bytes_with_one_thread_and_two(monkeypatch):
    monkeypatch.setattr(multifrontal, "PANEL", 8)  # so that a small matrix has fronts of several tiles
    monkeypatch.setattr(multifrontal, "TILE", 8)
    lower, _ = over_nodes(3, 60, 400, 6)
    values_found, before = [], threads.count()
    try:
        for many in (1, 2):
            threads.configure(many)
            fronts = Fronts(NodeGraph(lower.indptr, lower.indices, 6).tree().symbolic(), lower, Workspace())
            fronts.factor(lower)
            values_found.append(fronts.values.copy())
    finally:
        threads.configure(before)
    assert np.array_equal(*values_found)


def test_what_is_not_definite_is_refused_and_does_not_stand():
    lower, _ = over_nodes(0, 40, 60, 0)
    fronts = Fronts(NodeGraph(lower.indptr, lower.indices, 0).tree().symbolic(), lower, Workspace())
    lower.data[lower.indptr[60]] = -1.0
    with pytest.raises(NotPositiveDefinite):
        fronts.factor(lower)
    assert not fronts.is_complete


def test_a_matrix_that_is_not_over_nodes_is_left_to_others():
    lower, whole = over_nodes(0, 40, 60, 0)
    broken = whole.copy()
    broken[60, :3] = broken[:3, 60] = 1.0  # one row of a block alone
    with pytest.raises(ValueError, match="not a matrix over nodes"):
        odd = sp.csc_matrix(np.tril(broken))
        NodeGraph(odd.indptr, odd.indices, 0)
    following = LaterPatterns(lower, 0, lambda graph, lasts: np.arange(40, dtype=np.int32))
    assert following.follow(odd) is None
    assert following.follow(lower) is None  # the first one is the library's


def test_what_followed_before_stands_no_more():
    lower, _ = over_nodes(0, 40, 60, 0)
    following = LaterPatterns(lower, 0, lambda graph, lasts: np.arange(40, dtype=np.int32))
    first, second = over_nodes(1, 40, 90, 0)[0], over_nodes(2, 40, 90, 0)[0]
    before = following.follow(first)
    before.factor(first)
    assert before.is_complete
    after = following.follow(second)
    after.factor(second)
    assert after.is_complete and not before.is_complete


def test_what_followed_before_leaves_its_memory_at_once():
    """Without a collector of garbage: the next pattern is laid out where one before the last stood."""
    first, second = over_nodes(1, 40, 90, 0)[0], over_nodes(2, 40, 90, 0)[0]
    following = LaterPatterns(over_nodes(0, 40, 60, 0)[0], 0, lambda graph, lasts: np.arange(40, dtype=np.int32))
    gc.disable()
    try:
        before = following.follow(first)
        before.factor(first)
        earlier = weakref.ref(before)
        del before
        following.follow(second).factor(second)
        assert earlier() is None
    finally:
        gc.enable()


def test_an_order_serves_what_comes_after_until_it_is_forgotten(monkeypatch):
    """Folded blocks have one order for all its patterns, and then that of the first one again."""
    cholmod = pytest.importorskip("solver.linear.cholesky.cholmod")
    asked = []
    monkeypatch.setattr(cholmod.Cholmod, "order", staticmethod(
        lambda graph, lasts=True: asked.append(graph.nnz) or cholmod._order(graph, "amd")))
    count = 300
    chain = [(k, k - 1) for k in range(1, count)]
    folded = [(a, count - 1 - a) for a in range(count // 2 + 1, count)]
    plain, first, second = (joined([*chain, *pairs], count) for pairs in ([], folded, folded[1:]))
    linear, fresh = cholmod.Cholmod(), cholmod.Cholmod()
    for solver in (linear, fresh):
        solver.analyse(plain, 0)
    right = np.random.default_rng(2).normal(size=3 * count)
    for lower in (plain, first, second):
        linear.factor(lower)
        whole = lower + sp.tril(lower, -1).T
        assert np.abs(whole @ linear.solve(right) - right).max() <= 1e-12
    assert len(asked) == 1
    linear.forget_past()
    assert linear.supernodes() is None
    for solver in (linear, fresh):
        solver.factor(second)
    assert len(asked) == 3 and np.array_equal(linear.solve(right), fresh.solve(right))


def joined(pairs, count):
    """The lower triangle of a definite matrix of 3 x 3 blocks over nodes that pairs (k, 2) join."""
    rng, whole = np.random.default_rng(0), np.zeros((3 * count, 3 * count))
    for k in range(count):
        whole[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = 1e-3
    for a, b in pairs:
        block = rng.normal(size=(3, 3))
        whole[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = block
        whole[3 * b : 3 * b + 3, 3 * a : 3 * a + 3] = block.T
    whole += np.diag(np.abs(whole).sum(axis=1) + 1.0)
    return sp.csc_matrix(np.tril(whole))


def test_what_needs_too_much_room_is_left_to_others(monkeypatch):
    monkeypatch.setattr(multifrontal, "ALWAYS_FITS", 0)
    lower, _ = over_nodes(3, 60, 400, 6)
    found = NodeGraph(lower.indptr, lower.indices, 6).tree().symbolic()
    assert Fronts(found, lower, Workspace()).usable
    monkeypatch.setattr("solver.linear.cholesky.fronts.MOST_UPDATE_VALUES", 10)
    assert not Fronts(found, lower, Workspace()).usable


def star(nodes, hub):
    """A chain of nodes of which one is joined to all: dear where that goes first, as cheap as the chain where last."""
    whole = np.zeros((3 * nodes, 3 * nodes))
    for a, b in [*((k, k + 1) for k in range(nodes - 1)), *((hub, k) for k in range(nodes) if k != hub)]:
        whole[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = whole[3 * b : 3 * b + 3, 3 * a : 3 * a + 3] = 0.1
    return sp.csc_matrix(np.tril(np.where(np.eye(3 * nodes), 3.0 * nodes, whole) + 0.01 * np.kron(
        np.eye(nodes), np.ones((3, 3)))))


@pytest.mark.parametrize("quick_does", [True, False])
def test_an_order_that_takes_long_is_asked_for_only_where_a_quick_one_does_not_do(monkeypatch, quick_does):
    monkeypatch.setattr("solver.linear.cholesky.fronts.LARGE", 0)
    monkeypatch.setattr("solver.linear.cholesky.fronts.SLOWLY", 0.0)
    asked, bad = [], np.arange(30, dtype=np.int32)
    good = np.append(np.arange(1, 30), 0).astype(np.int32)

    def order(graph, lasts):
        asked.append(lasts)
        return good if lasts or quick_does else bad

    following, joined = LaterPatterns(star(30, 29), 0, order), star(30, 0)
    found = following.follow(joined)
    assert asked == ([False] if quick_does else [False, True])
    assert len(found.values) < 0.6 * 90 * 90 / 2  # the hub came last
    found.factor(joined)
    right = np.ones((90, 1))
    whole = joined + sp.tril(joined, -1).T
    assert np.abs(whole @ found.solve(right) - right).max() < 1e-12
    following.follow(star(30, 0))
    assert len(asked) == (1 if quick_does else 2)  # it is kept


def nested(places):
    """Places of a grid, (k, 2), by nested dissection: both halves, then the line between them."""
    if len(places) < 3:
        return places.tolist()
    axis = int(np.argmax(np.ptp(places, axis=0)))
    along = places[:, axis]
    middle = np.sort(along)[len(along) // 2]
    return [*nested(places[along < middle]), *nested(places[along > middle]), *places[along == middle].tolist()]


@pytest.mark.parametrize("seed", [0, 1])
def test_only_what_is_joined_across_the_tree_is_placed_anew(seed):
    side, rng = 16, np.random.default_rng(seed)
    place = {tuple(at): k for k, at in enumerate(nested(np.stack(np.indices((side, side)), axis=-1).reshape(-1, 2)))}
    grid = [(place[i, j], place[i + di, j + dj]) for i in range(side) for j in range(side)
            for di, dj in ((0, 1), (1, 0)) if i + di < side and j + dj < side]
    across = [(place[i, j], place[i + 3, j + 2]) for i, j in rng.integers(0, side - 3, (25, 2)).tolist()]
    plain, more = (NodeGraph(graph.indptr, graph.indices, 0) for graph in (joined(grid, side**2),
                                                                           joined(grid + across, side**2)))
    tree = plain.tree()
    assert np.array_equal(plain.lift_nodes(tree), tree.order)
    order = more.lift_nodes(tree)
    assert np.array_equal(np.sort(order), np.arange(side**2))
    assert more.tree(order).work < 0.85 * more.tree().work
    # who is joined to nobody across keeps its place among its like
    touched = {node for pair in across for node in pair}
    assert [k for k in order if k not in touched] == [k for k in tree.order if k not in touched]


@pytest.mark.parametrize("retained", [0, 6])
def test_two_bodies_that_come_together_have_one_order(retained):
    """Their elimination trees are disjoint: what joins them is ordered after both, and before the kept columns."""
    apart, _ = over_nodes(0, 30, 60, retained)
    whole = apart.toarray()
    whole[45:90, :45] = 0.0
    alone = NodeGraph(*_parts(whole), retained)
    whole[45:48, :3] = 0.1
    together = NodeGraph(*_parts(whole), retained)
    order = together.lift_nodes(alone.tree())
    assert np.array_equal(np.sort(order), np.arange(30)) and order[-1] in (0, 15)


def _parts(whole):
    lower = sp.csc_matrix(whole)
    lower.sort_indices()
    return lower.indptr, lower.indices


def test_what_loses_a_little_again_and_again_is_worth_a_new_order(monkeypatch):
    monkeypatch.setattr("solver.linear.cholesky.fronts.ENOUGH", 0.0)  # each loses a factor
    asked = []
    following = LaterPatterns(star(30, 29), 0,
                              lambda graph, lasts: asked.append(lasts) or np.arange(30, dtype=np.int32))
    for k, hub in enumerate((28, 27, 28, 27)):
        following.follow(star(30, hub))
        assert len(asked) == (1 if k >= 2 else 0), k
    following.follow(star(30, 28))
    following.forget_past()
    following.follow(star(30, 27))
    assert len(asked) == 1
