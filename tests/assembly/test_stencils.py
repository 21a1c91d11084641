"""Elements besides tetrahedra come and go: patterns, factors and products are as if they had always been there."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from solver import catalogue, threads  # noqa: F401
from solver.assembly import linearised
from solver.assembly.kernels import multiply, multiply_one
from solver.assembly.linearised import Linearised, Near
from solver.assembly.pattern import Pattern, node_graph
from solver.forces.stencils import Stencils, block_diagonal
from solver.linear.cholesky.symbolic import NodeGraph
from solver.linear.interface import available
from solver.meshing.grid import box_tets

PAIRS = [(a, b) for a in range(1, 4) for b in range(a)]


def definite_blocks(rng, elements):
    """−K of each is a sum of springs, so K is negative semi-definite."""
    root = rng.normal(size=(elements, 6, 3, 3))
    return (root @ root.transpose(0, 1, 3, 2)).reshape(elements, 6, 9)


def dense(elements, blocks, count):
    """K of all nodes, (3 n, 3 n)."""
    whole = np.zeros((count, 3, count, 3))
    for corners, own in zip(elements, blocks):
        for (a, b), block in zip(PAIRS, own.reshape(6, 3, 3)):
            i, j = corners[a], corners[b]
            whole[i, :, j] += block
            whole[j, :, i] += block.T
            whole[i, :, i] -= block
            whole[j, :, j] -= block.T
    return whole.reshape(3 * count, 3 * count)


@pytest.fixture
def scene():
    """Two boxes, nodes that have no rows, and a table of springs, hinges and point-triangle pairs between both."""
    rng = np.random.default_rng(3)
    nodes, tets = box_tets((3, 2, 2), (0.3, 0.2, 0.2))
    count = 2 * len(nodes)
    tets = np.concatenate([tets, tets + np.int32(len(nodes))])
    free = np.setdiff1d(np.arange(count, dtype=np.int32), rng.choice(count, 8, replace=False))

    def others(seed, sizes=(5, 3, 6)):
        draw = np.random.default_rng(seed)
        tables = []
        for width, size in [(width, size) for width, size in zip((2, 3, 4), sizes) if size]:
            picked = np.stack([draw.choice(count, width, replace=False) for _ in range(size)]).astype(np.int32)
            whole = definite_blocks(draw, size)[:, : width * (width - 1) // 2]
            tables.append(Stencils(picked, np.zeros((size, width, 3)), whole, 0.0))
        return block_diagonal(tables)

    return nodes, tets, count, free, definite_blocks(rng, len(tets)), others


def filled(scene, pattern, table):
    """The pattern's matrix 1 − K with these elements, and what it should be."""
    _, tets, count, _, blocks, _ = scene
    others, more = (None, np.zeros((0, 6, 9))) if table is None else table
    blocks = np.concatenate([blocks, more])
    pattern.gather(blocks, np.zeros((count, 3, 3)), -1.0, np.ones(count), others)
    elements = tets if others is None else np.concatenate([tets, others])
    rows = (3 * pattern.order[:, None] + np.arange(3)).ravel()
    wanted = (np.eye(3 * count) - dense(elements, blocks, count))[np.ix_(rows, rows)]
    return pattern.matrix(), wanted


def test_a_narrow_stencil_takes_its_place_among_wide_ones():
    spring = Stencils(np.array([[4, 7]], dtype=np.int32), np.zeros((1, 2, 3)), np.arange(9.0).reshape(1, 1, 9), 0.0)
    nodes, blocks = block_diagonal([spring])
    assert nodes.tolist() == [[4, 7, 7, 7]]
    assert np.array_equal(dense(nodes, blocks, 8)[3 * 7 : 3 * 7 + 3, 12:15], np.arange(9.0).reshape(3, 3))


def test_a_pattern_with_elements_is_that_of_the_whole(scene):
    _, tets, count, free, _, others = scene
    order = np.random.default_rng(0).permutation(free)
    pattern = Pattern(tets, order, count)
    for table in (others(1), others(2), None, others(1, (1, 0, 0))):
        lower, wanted = filled(scene, pattern, table)
        assert np.abs(lower.toarray() - np.tril(wanted)).max() <= 1e-12 * np.abs(wanted).max()
        assert lower.has_canonical_format
        # as it would be had they been there from the first
        elements = tets if table is None else np.concatenate([tets, table[0]])
        anew = Pattern(elements, order, count)
        assert np.array_equal(anew.indices, pattern.indices) and np.array_equal(anew.indptr, pattern.indptr)


def test_what_was_there_before_leaves_no_trace(scene):
    _, tets, count, free, _, others = scene
    pattern, anew = Pattern(tets, free, count), Pattern(tets, free, count)
    plain = filled(scene, anew, None)[0].data.copy()
    for table in (others(1), others(2), None):
        lower, _ = filled(scene, pattern, table)
    assert np.array_equal(lower.data, plain)
    filled(scene, pattern, others(5))
    assert np.array_equal(filled(scene, pattern, others(2))[0].data, filled(scene, anew, others(2))[0].data)


def test_arrays_that_somebody_holds_are_not_written_again(scene):
    """A solver knows by them what it has analysed, however many patterns came since."""
    _, tets, count, free, _, others = scene
    pattern, indices_of, places = Pattern(tets, free, count), [], []
    for seed in (0, 1, 5, *6 * (2, 3)):
        filled(scene, pattern, others(seed))
        places.append(pattern.indices.ctypes.data)
        if seed in (0, 1, 5):
            indices_of.append((pattern.indices, pattern.indices.copy()))
    assert all(np.array_equal(now, then) for now, then in indices_of)
    assert len(set(places[-8:])) == 2  # the memory of what nobody holds is used again, by turns


def test_the_same_pairs_keep_the_matrix_s_arrays(scene):
    """Only where the graph of pairs changes is there anything to analyse."""
    _, tets, count, free, _, others = scene
    pattern = Pattern(tets, free, count)
    filled(scene, pattern, others(1))
    before = pattern.indices
    filled(scene, pattern, others(1))
    assert pattern.indices is before
    # springs along edges that the tets have
    along = Stencils(tets[:4, :2].copy(), np.zeros((4, 2, 3)), np.tile(np.eye(3).ravel(), (4, 1, 1)), 0.0)
    filled(scene, pattern, None)
    before = pattern.indices
    lower, wanted = filled(scene, pattern, block_diagonal([along]))
    assert pattern.indices is before
    assert np.abs(lower.toarray() - np.tril(wanted)).max() <= 1e-12 * np.abs(wanted).max()
    filled(scene, pattern, others(2))
    assert pattern.indices is not before


def test_a_pattern_stays_where_columns_are_wanted_and_it_has_all_that_comes(scene):
    """Its unused blocks are zero then; a caller that needs all columns gets the pattern of the present stencils."""
    _, tets, count, free, definite, others = scene
    pattern, nodes = Pattern(tets, free, count), np.ones(len(free), dtype=bool)
    (elements, blocks), few = others(1), others(2, (2, 1, 0))

    def joined(table):
        pattern.gather(np.concatenate([definite, table[1]]), np.zeros((count, 3, 3)), -1.0, np.ones(count), table[0],
                       nodes)
        return pattern.matrix().toarray(), np.tril(filled(scene, Pattern(tets, free, count), table)[1])

    filled(scene, pattern, (elements, blocks))
    before = pattern.indices
    for retained in (slice(3, None), slice(None, -3), slice(None)):
        lower, wanted = joined((elements[retained], blocks[retained]))
        assert np.abs(lower - wanted).max() <= 1e-12 * np.abs(wanted).max()
        assert pattern.indices is before
    joined((elements[3:], blocks[3:]))
    lower, _ = filled(scene, pattern, (elements[3:], blocks[3:]))
    anew = Pattern(np.concatenate([tets, elements[3:]]), free, count)
    assert np.array_equal(anew.indices, lower.indices) and len(lower.indices) < len(before)
    for other in ((elements[:2], blocks[:2]), few, (elements, blocks)):  # far less, and what is not in it
        lower, wanted = joined(other)
        assert np.abs(lower - wanted).max() <= 1e-12 * np.abs(wanted).max()
        assert np.array_equal(Pattern(np.concatenate([tets, other[0]]), free, count).indices, pattern.indices)


@pytest.mark.parametrize("key", list(catalogue.family("linear_solver")))
@pytest.mark.parametrize("retained", [0, 6])
def test_a_factor_follows_the_pattern(scene, key, retained):
    nodes, tets, count, free, _, others = scene
    linear = available(key)()
    if hasattr(linear, "tolerance"):
        linear.tolerance = linear.tolerance_of_j = 1e-13
    inner = free[: len(free) - retained // 3]
    graph = node_graph(tets, count)[inner][:, inner]
    pattern = Pattern(tets, np.concatenate([inner[linear.order(graph)], free[len(inner):]]), count)
    linear.analyse(pattern.matrix(), retained)
    places = np.concatenate([nodes, nodes + [1.0, 0.0, 0.0]])[pattern.order]
    for table in (None, others(1), others(2), others(2), None, others(3)):
        lower, wanted = filled(scene, pattern, table)
        linear.factor(lower, places)
        right = np.random.default_rng(1).normal(size=(len(wanted), 2))
        assert np.abs(wanted @ linear.solve(right) - right).max() <= 1e-9
        q = len(wanted) - retained
        assert np.abs(wanted[:q, :q] @ linear.condense() + wanted[:q, q:]).max(initial=0.0) <= 1e-9


@pytest.mark.parametrize("retained", [0, 6])
def test_pairs_that_would_make_a_factor_dear_get_an_order_of_their_own(retained):
    """Pairs across a body join what the order of its tets keeps apart until the end."""
    cholmod = pytest.importorskip("solver.linear.cholesky.cholmod")
    nodes, tets = box_tets((9, 9, 9), (0.9, 0.9, 0.9))
    count, rng = len(nodes), np.random.default_rng(2)
    free, blocks = np.arange(count, dtype=np.int32), definite_blocks(rng, len(tets) + 300)
    inner = free[: count - retained // 3]
    linear = cholmod.Cholmod()
    graph = node_graph(tets, count)[inner][:, inner]
    pattern = Pattern(tets, np.concatenate([inner[linear.order(graph)], free[len(inner):]]), count)
    lower = pattern.matrix()
    linear.analyse(lower, retained)

    still, mass = np.zeros((count, 3, 3)), np.ones(count)

    def work():
        inside = linear.supernodes()
        lengths = np.repeat(np.diff(inside.rows_start), np.diff(inside.first))
        own = np.arange(len(lengths)) - np.repeat(inside.first[:-1], np.diff(inside.first))
        return float(np.square(lengths - own).sum())

    pattern.gather(blocks[:len(tets)], still, -1.0, mass)
    linear.factor(lower)
    alone, before = work(), linear.supernodes().values.copy()
    pairs = np.stack([rng.choice(count, 4, replace=False) for _ in range(300)]).astype(np.int32)
    pattern.gather(blocks, still, -1.0, mass, pairs)
    as_it_was = NodeGraph(lower.indptr, lower.indices, retained).tree().work
    linear.factor(lower)
    assert as_it_was > 1.5 * alone
    assert work() < 0.8 * as_it_was
    whole = lower.toarray()
    whole += np.tril(whole, -1).T
    q, right = len(whole) - retained, rng.normal(size=(len(whole), 2))
    assert np.abs(whole @ linear.solve(right) - right).max() <= 1e-9
    assert np.abs(whole[:q, :q] @ linear.condense() + whole[:q, q:]).max(initial=0.0) <= 1e-9
    # a few pairs are not worth a new order, and once they went all is as before
    pattern.gather(blocks[:len(tets)], still, -1.0, mass)
    linear.factor(lower)
    assert np.array_equal(linear.supernodes().values, before)


def test_a_factor_in_single_precision_is_not_made_on_another_pattern(scene):
    from solver.linear.cholesky.single import SingleFactor
    from solver.linear.interface import inside_of

    _, tets, count, free, _, others = scene
    linear, pattern = available("cholmod")(), Pattern(tets, free, count)
    linear.analyse(pattern.matrix(), 0)
    linear.factor(filled(scene, pattern, None)[0])
    single = SingleFactor(inside_of(linear))
    assert single.can_factor(pattern.matrix())
    lower, _ = filled(scene, pattern, others(1))
    assert not single.can_factor(lower)
    linear.factor(lower)
    assert SingleFactor(inside_of(linear)).can_factor(lower)


@pytest.mark.parametrize("few", [3, 1000])
def test_products_know_them_too(scene, few):
    nodes, tets, count, _, blocks, others = scene
    rng = np.random.default_rng(8)
    wanted_nodes = np.sort(rng.choice(count, min(few, count), replace=False)).astype(np.int32)
    near = Near(tets, wanted_nodes, count)
    still = np.zeros((count, 3))
    plain = Linearised(still, still, np.ones(count), still, blocks, np.zeros((count, 3, 3)))
    for seed in (1, 2, 2):
        table, more = others(seed)
        lin = replace(plain, blocks=np.concatenate([blocks, more]), others=table)
        touching_rows = near.of(lin)
        columns = rng.normal(size=(count, 3, 2))
        product = touching_rows.multiply(lin, columns[touching_rows.nodes])
        whole = dense(np.concatenate([tets, table]), lin.blocks, count) @ columns.reshape(3 * count, 2)
        rows = whole.reshape(count, 3, 2)[wanted_nodes]
        assert np.abs(product[touching_rows.row_of[wanted_nodes]] - rows).max() <= 1e-12 * np.abs(rows).max()
    assert near.of(plain) is near


def test_only_the_last_ones_used_are_cached(scene):
    nodes, tets, count, _, blocks, others = scene
    near, touching_rows = Near(tets, np.arange(count, dtype=np.int32), count), []
    still = np.zeros((count, 3))
    for seed in range(4):
        table, more = others(seed)
        lin = Linearised(still, still, np.ones(count), still, np.concatenate([blocks, more]), np.zeros((count, 3, 3)),
                         others=table)
        touching_rows.append(weakref.ref(near.of(lin)))
        del lin
    gc.collect()
    assert [retained() is not None for retained in touching_rows] == [False, False, False, True]


def test_one_column_over_springs_triangles_and_hinges_is_as_over_elements_one_by_one():
    rng, nodes = np.random.default_rng(5), 12
    corners = np.array([rng.permutation(nodes)[:4] for _ in range(9)], np.int32)
    blocks = definite_blocks(rng, len(corners))
    corners[::2, 3], blocks[::2, 3:] = corners[::2, 2], 0.0
    corners[::4, 2:], blocks[::4, 1:] = corners[::4, 1:2], 0.0
    column, one, many = rng.normal(size=(nodes, 3)), np.zeros((nodes, 3)), np.zeros((nodes, 3, 1))
    multiply_one(blocks, corners, column, one)
    multiply(blocks, np.arange(len(corners), dtype=np.int32), corners, column[:, :, None].copy(), many)
    assert np.array_equal(one, many[:, :, 0])
    assert np.allclose(one.ravel(), dense(corners, blocks, nodes) @ column.ravel())


def test_one_column_over_tets_and_pairs_that_touch_is_the_same_bytes_and_takes_the_short_way(scene, monkeypatch):
    """Return the forces that a stage's right-hand side needs once an iteration, of everything and of what touches."""
    _, tets, count, _, blocks, others = scene
    rng, still = np.random.default_rng(6), np.zeros((count, 3))
    table, more = others(1)
    apart = (np.diff(np.sort(table, axis=1)) > 0).all(axis=1)  # as those of points and triangles, and of edges
    table, more = table[apart], more[apart]
    assert len(table) > 1
    touching = Linearised(still, still, np.ones(count), still, np.concatenate([blocks, more]), np.zeros((count, 3, 3)),
                          others=table)
    touching_rows = Near(tets, np.arange(count, dtype=np.int32), count).of(touching)
    column = rng.normal(size=(count, 3, 1))
    two = touching_rows.multiply(touching, np.concatenate([column, column], axis=2))
    monkeypatch.setattr(linearised, "multiply", None)  # the long way
    assert np.array_equal(touching_rows.multiply(touching, column)[:, :, 0], two[:, :, 1])


def test_a_pattern_of_no_rows_takes_other_elements():
    """As that of cloth that is pinned as a whole, until it is let go."""
    pattern = Pattern(np.zeros((0, 4), np.int32), np.zeros(0, np.int32), 4)
    pattern.update_pairs(np.array([[0, 1, 2, 3]], np.int32))
    assert pattern.size == 0 and not len(pattern.indices)
