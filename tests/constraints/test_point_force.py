"""Forces and stiffness of point constraints as stencils, against the dense algebra of their rows."""

import numpy as np
import pytest

from solver.constraints.points.ball import BallConstraint
from solver.constraints.points.distance import Distance
from solver.constraints.points.ends import TiedEnd
from solver.constraints.points.point_constraint import PointConstraint
from solver.coordinates.prescribed import Constant

NO_EDGES, NO_FACES = np.zeros((0, 2), np.int32), np.zeros((0, 3), np.int32)
COUNT, FIRM = 12, 1.0e4


def end(name, nodes, weights):
    return TiedEnd(name, np.array(nodes, np.int32), np.array(weights, float), NO_FACES, NO_EDGES)


@pytest.fixture(params=["distance", "ball"])
def tied(request):
    """A constraint of 12 nodes, of which some bear nothing, their places, and its rows."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(COUNT, 3))
    one = end("A", [[0, 1, 2, 3], [4, 5, 6, 7]], [[0.2, 0.3, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0]])
    other = end("B", [[8, 9], [10, 11]], [[0.4, 0.6], [0.0, 1.0]])
    make, params = {"distance": (Distance, {"at_most": 0.0}), "ball": (BallConstraint, {"closes": 0.0})}[request.param]
    force = PointConstraint(make(one, other, x, params, None), FIRM, Constant(np.zeros(1)))
    force.recall(rng.normal(size=force.remembers))
    return force, x + 0.1 * rng.normal(size=x.shape), x


def dense(table):
    """K of all nodes, (3 n, 3 n)."""
    out = np.zeros((COUNT, 3, COUNT, 3))
    for (i, j), block in zip(table.nodes, table.blocks[:, 0].reshape(-1, 3, 3)):
        out[j, :, i] += block
        out[i, :, j] += block.T
        out[i, :, i] -= block
        out[j, :, j] -= block
    return out.reshape(3 * COUNT, -1)


def test_forces_are_those_of_the_rows_and_stiffness_their_slope(tied):
    force, x, _ = tied
    table, found = force.fill(x, 0.0, False), np.zeros((COUNT, 3))
    table.add_forces(found)
    rows = force.rows(x, 0.0)
    multipliers = force.multipliers(x, 0.0)[: len(rows.value)]
    assert found.ravel() == pytest.approx(-(rows.jacobian(COUNT).T @ multipliers), rel=1e-12, abs=1e-9)
    J = rows.jacobian(COUNT).toarray()
    K = -FIRM * J.T @ J - rows.geometric_stiffness(multipliers, COUNT).toarray()
    assert dense(table) == pytest.approx(K, rel=1e-10, abs=1e-8)


def test_projected_it_is_as_stiff_across_as_a_linear_step_expects(tied):
    force, x, before = tied
    before = x + 1e-3 * (before - x)
    force.expect(before, x, 0.0)
    rows, there = force.rows(before, 0.0), force.rows(x, 0.0)
    linear = force.multipliers(before, 0.0)[: len(rows.value)] + FIRM * rows.jacobian(COUNT) @ (x - before).ravel()
    J = there.jacobian(COUNT).toarray()
    K = -FIRM * J.T @ J - there.geometric_stiffness(np.maximum(linear, 0.0), COUNT).toarray()
    assert dense(force.fill(x, 0.0, True)) == pytest.approx(K, rel=1e-10, abs=1e-8)
