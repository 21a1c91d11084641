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
