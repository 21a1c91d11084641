"""Benchmarks that put their world together by hand still can, and it steps."""

import numpy as np
import pytest

from benchmarks import newton, scale, step, vanilla
from benchmarks.scenes import armadillo
from solver.meshing.grid import box_tets

BOX = box_tets((2, 2, 4), (0.1, 0.1, 0.2))
FOOT = np.flatnonzero(BOX[0][:, 2] == 0.0)


def stand_in():
    """A box as large as the armadillo, whose own mesh may not be shipped: nodes and tetrahedra."""
    nodes, tets = box_tets((8, 8, 10), (0.14, 0.10, 0.14))
    return nodes - [0.07, 0.05, 0.0], tets


@pytest.mark.parametrize("made", [
    lambda: step.make(*BOX, "vanilla", np.zeros(0, np.int32)),
    lambda: step.make(*BOX, "conjac", step.spread(BOX[0], 2)),
    lambda: scale.make(3, "conjac", "auto", 0.3)[0],
    lambda: vanilla.vanilla(*BOX, FOOT, 3e4, 0.3, integrator="backward_euler", params={}),
    newton.bar,
    lambda: armadillo.world(stand_in()),
], ids=["step", "step of ConJac", "scale", "vanilla", "newton", "armadillo"])
def test_a_world_made_by_hand_steps(made):
    world = made()
    state = world.initial_state()
    after = world.step(state, 1 / 96)
    assert after.time == 1 / 96 and np.isfinite(after.q).all() and not np.array_equal(after.q, state.q)
