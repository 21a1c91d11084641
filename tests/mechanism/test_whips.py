"""Chains that whip: what a stage changes turns back and forth, and relaxation finds its middle."""

import numpy as np
import pytest
from mechanisms import HINGE_ALONG_Y, mechanism_world

from solver.simulate import advance

H, LINKS = 1 / 24, 5
BAR = {"kind": "box", "params": {"size_x": 0.1, "size_y": 0.02, "size_z": 0.02}}


@pytest.mark.parametrize("integrator,most", [("sdirk2", 1400), ("bdf2", 1300)])
def test_stages_of_a_chain_that_whips_are_solved_at_a_frame_a_step(tmp_path, integrator, most):
    """It falls from level: taken whole, changes of stages swing about their root, and steps are halved 8 and 22 times
    in a second, with twice and three times the iterations."""
    bodies = [{"name": f"Link {k}", "position": [0.1 * k + 0.05, 0, 0], "shape": BAR} for k in range(LINKS)]
    joints = [{"name": f"Hinge {k}", "child": f"Link {k}", "position": [0.1 * k, 0, 0], "rotation": HINGE_ALONG_Y,
               **({"parent": f"Link {k - 1}"} if k else {})} for k in range(LINKS)]
    world = mechanism_world(tmp_path, bodies, joints, integrator=integrator, tolerance=1e-11)
    state, halved = world.initial_state(), []
    for _ in range(24):
        state = advance(world, state, H, 1, halved=halved)
    assert not halved and world.iterations < most
    assert np.abs(state.u).max() > 1.0
