"""What flies is not turned by what balances inside of it."""

import numpy as np
import pytest
from bodies import box, make, nearest, positions
from scipy.spatial.transform import Rotation

from solver.nonlinear.quick import Quick
from solver.state import State
from solver.world import in_balance
from solver.world.in_flight import angle_between


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.4, 2.5])
def test_the_angle_between_postures_is_that_of_the_turn(angle):
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=(20, 3)), rng.uniform(0.5, 2.0, 20)
    axis = rng.normal(size=3)
    turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    weight /= weight.sum()
    assert angle_between(x, x @ turn.T + [1.0, -2.0, 0.5], weight) == pytest.approx(angle, rel=1e-6)
    assert angle_between(x, 1.3 * x, weight) <= 1e-12


def test_a_stage_that_turns_what_flies_too_far_is_solved_so_that_it_does_not(monkeypatch):
    """Against where its velocities bring it: the balance alone turns this one by 0.9 degrees."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    corners = [nearest(nodes, at) for at in [(0, 0, 0.3), (0.4, 0, 0.3), (0.4, 0.3, 0), (0, 0.3, 0)]]
    x = nodes * [0.9, 1.05, 1.05] + 0.002 * np.random.default_rng(1).normal(size=nodes.shape)
    turned = []
    for astray in (np.inf, 0.0):
        monkeypatch.setattr(in_balance, "ASTRAY", astray)
        world = make(nodes, tets, young=3e4, dynamic=corners, integrator="backward_euler")
        world.stage_solver = Quick({"strain_left": 0.01, "tries": 60})
        after = world.step(State(0.0, x.ravel(), np.zeros(x.size)), 1 / 60)
        ahead = x + world.velocity(after) / 60
        turned.append(angle_between(ahead, positions(world, after), world.mass / world.mass.sum()))
    assert turned[0] >= np.radians(0.5) and turned[1] <= 0.02 * turned[0]
