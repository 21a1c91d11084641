"""Methods of order 2 keep it on charts that are moved along: a fast heavy top against Euler's equations."""


import numpy as np
import pytest
from matrix import some
from scipy.integrate import solve_ivp
from scipy.optimize import root
from trees import acceleration, hat

from solver.coordinates.tree import CENTRES
from solver.coordinates.tree_build import Body, Joint, build
from solver.integrators.backward_euler import BackwardEuler
from solver.integrators.bdf2 import BDF2
from solver.integrators.sdirk import SDIRK2
from solver.state import State

INERTIA, MASS, ARM, GRAVITY = np.diag([0.02, 0.03, 0.012]), 1.5, np.array([0.02, -0.01, 0.2]), (0.0, 0.0, -9.81)
OMEGA = np.array([4.0, 2.0, 9.0])


def top():
    spatial = np.zeros((6, 6))
    spatial[:3, :3], spatial[3:, 3:] = INERTIA, MASS * np.eye(3)
    foot = np.eye(4)
    foot[:3, 3] = -ARM
    return build([Body("top", spatial)], [Joint("foot", "spherical", "top", None, np.eye(4), foot)])


class Top:
    """A top as the system that integrators ask a world for; stages are solved by scipy."""

    def __init__(self):
        self.tree, self.recentred, self.at = top(), 0, None

    def touching(self, state):
        return np.zeros(0, np.int32)

    def solve_stage(self, stage, start, prescribed_directions=None):
        base = start.q if stage.base is None else stage.base
        centres = start.memory.get(CENTRES, self.tree.fresh)

        def left(u):
            q = base + stage.b * stage.h * u
            return u - stage.u_hat - stage.a * stage.h * acceleration(self.tree, q, u, centres, GRAVITY)

        found = root(left, start.u, tol=1e-13)
        assert np.abs(left(found.x)).max() < 1e-10
        return State(stage.time, base + stage.b * stage.h * found.x, found.x, start.memory)

    def run(self, method, steps, end):
        """Attitude and angular velocity at the end."""
        state = State(0.0, np.zeros(3), OMEGA.copy())
        for _ in range(steps):
            state = method.step(self, state, end / steps)
            after = self.tree.recentre(state, method.remembered_motion)
            self.recentred += after is not state
            state = after
        at = self.tree.posture(state.q, state.u, state.memory)
        return at.E[0, :3, :3], at.twist[0, :3]


@pytest.fixture(scope="module")
def truth():
    """Euler's equations about the foot, with the rotation matrix itself as the unknown."""
    about = INERTIA + MASS * (ARM @ ARM * np.eye(3) - np.outer(ARM, ARM))

    def flow(_, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        torque = np.cross(ARM, R.T @ (MASS * np.array(GRAVITY))) - np.cross(w, about @ w)
        return np.concatenate([(R @ hat([*w, 0, 0, 0])[:3, :3]).ravel(), np.linalg.solve(about, torque)])

    y = solve_ivp(flow, (0.0, 0.4), [*np.eye(3).ravel(), *OMEGA], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return y[:9].reshape(3, 3), y[9:]


@pytest.mark.parametrize("method, order", some([(BackwardEuler, 1), (BDF2, 2), (SDIRK2, 2)], (BDF2, 2)))
def test_order_is_retained(method, order, truth):
    errors = []
    for steps in (160, 320):
        world = Top()
        R, w = world.run(method({}), steps, 0.4)
        errors.append([np.abs(R - truth[0]).max(), np.abs(w - truth[1]).max()])
        assert world.recentred >= 3
    assert np.log2(errors[0]) - np.log2(errors[1]) == pytest.approx(order, abs=0.25)
    assert errors[1][0] < {1: 2e-2, 2: 2e-4}[order]
