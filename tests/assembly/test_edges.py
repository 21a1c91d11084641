"""The largest change of an edge, against all edges of all elements."""

import numpy as np
import pytest
from bodies import box

from solver.assembly.edges import Edges


def test_largest_change_is_that_of_the_worst_edge_of_any_element():
    nodes, tets = box((3, 2, 2))
    edges, rng = Edges(tets, nodes), np.random.default_rng(0)
    for _ in range(20):
        moved = np.zeros(nodes.shape)
        moved[rng.integers(len(nodes))] = rng.normal(size=3)
        ends = np.stack([tets[:, [a, b]] for a in range(4) for b in range(a)]).reshape(-1, 2)
        length = np.linalg.norm(nodes[ends[:, 0]] - nodes[ends[:, 1]], axis=1)
        change = np.linalg.norm(moved[ends[:, 0]] - moved[ends[:, 1]], axis=1) / length
        assert edges.largest_change(moved) == pytest.approx(change.max(), rel=1e-13)


def test_stretching_leaves_turning_out_and_counts_what_gets_longer_or_shorter():
    nodes, tets = box((3, 2, 2))
    edges, turn = Edges(tets, nodes), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert edges.largest_stretch(nodes, nodes @ turn.T + 3.0) <= 1e-12
    for scale in (0.7, 1.4):
        assert edges.largest_stretch(nodes, scale * nodes @ turn.T) == pytest.approx(abs(scale - 1.0), rel=1e-12)
    rng = np.random.default_rng(1)
    ends = np.stack([tets[:, [a, b]] for a in range(4) for b in range(a)]).reshape(-1, 2)
    one, other = nodes + 0.1 * rng.normal(size=nodes.shape), nodes + 0.1 * rng.normal(size=nodes.shape)
    rest, before, after = (np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1) for x in (nodes, one, other))
    assert edges.largest_stretch(one, other) == pytest.approx((np.abs(after - before) / rest).max(), rel=1e-12)


def test_what_moves_in_one_piece_is_no_less_for_many_that_are_still():
    nodes, tets = box((2, 2, 2))
    one = Edges(tets, nodes)
    many = Edges(np.concatenate([tets + k * len(nodes) for k in range(5)]).astype(np.int32), np.tile(nodes, (5, 1)))
    moved = np.random.default_rng(1).normal(size=nodes.shape)
    somewhere = np.zeros((5, *nodes.shape))
    somewhere[3], usual = moved, one.usual_change(moved)
    assert many.usual_change_of_pieces(somewhere.reshape(-1, 3)) == pytest.approx(usual, rel=1e-13)
    assert many.usual_change(somewhere.reshape(-1, 3)) == pytest.approx(usual / np.sqrt(5.0), rel=1e-13)
