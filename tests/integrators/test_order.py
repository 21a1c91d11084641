"""Order of accuracy, measured on a swinging, nonlinear bar."""

import numpy as np
import pytest
from bodies import box, make
from matrix import some

from solver import catalogue
from solver.state import State

SPAN = 0.05  #: s, a short piece of the slowest swing
ORDERS = {"semi_implicit": 1, "backward_euler": 1, "bdf2": 2, "sbdf2": 2, "tr_bdf2": 2, "str_bdf2": 2, "sdirk": 2,
          "sdirk2": 2, "ssdirk2": 2, "swinging": 2, "generalized_alpha": 2, "midpoint": 2, "trapezoidal": 2,
          "siere": 1, "beere": 1,
          "bdf2ere": 2, "sbdf2ere": 2, "str_sbdf2ere": 2, "tr_bdf2ere": 2, "ere": 2,
          "bdf2ere_printed": 1, "sbdf2ere_printed": 1, "str_sbdf2ere_printed": 1}
PARAMS = {"spectral_radius": 0.5, "modes": 4, "redecompose": 8, "exponential_tolerance": 1e-12}


def swung(key, steps):
    """Positions and rates of a bar that starts with a smooth twist and bend and swings for SPAN seconds."""
    nodes, tets = box((3, 1, 1), (0.12, 0.04, 0.04))
    params = {param.key: PARAMS.get(param.key, param.default) for param in catalogue.find("integrator", key).params}
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    world = make(nodes, tets, young=2e3, gravity=(0, 0, -2), pinned=pinned, method="vanilla", beta=1.0,
                 project=False, integrator=key, tolerance=1e-12, **params)
    free = nodes[world.coordinates.free]
    length, width, _ = free.T
    u = np.stack([0 * length, 1.5 * length, length * (1.0 + 10.0 * (width - 0.02))], 1)
    state = State(0.0, free.ravel(), u.ravel())
    h = SPAN / steps
    for i in range(steps):
        state = world.step(State(i * h, state.q, state.u, state.memory), h)
    assert type(world.integrator).order == ORDERS[key]
    return np.concatenate([state.q, 0.02 * state.u])


@pytest.fixture(scope="module")
def exact(once):
    return once("order-swing", lambda: swung("tr_bdf2", 640))


@pytest.mark.parametrize("key", some(ORDERS, *(ORDERS.keys() - {"bdf2ere_printed", "str_sbdf2ere_printed"})))
def test_order(key, exact):
    errors = [np.linalg.norm(swung(key, steps) - exact) for steps in ((10, 20) if key == "ere" else (40, 80))]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[key], abs=0.1)
