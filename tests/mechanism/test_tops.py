"""A spinning top leans as far as its energy and its angular momenta let it, and no further."""

import numpy as np
import pytest
from matrix import some
from mechanisms import mechanism_world
from scipy.optimize import brentq

LEAN, SPIN, ARM, SIDE, HEIGHT = 0.2, 20.0, 0.08, 0.3, 0.05
H = 1 / 120


def leaning(world):
    """The angle to the vertical at each step of four seconds [rad], (k,)."""
    state, found = world.initial_state(), []
    for _ in range(round(4.0 / H)):
        state = world.step(state, H)
        up = world.tree.posture(state.q, state.u, state.memory).E[0, 2, 2]
        found.append(np.arccos(np.clip(up, -1.0, 1.0)))
    return np.array(found)


def furthest():
    """The largest lean of a top of 1 kg that starts with spin alone [rad].

    With u = cos θ, a = I₃ ω / I₁, c = 2 m g l / I₁: u̇² = (u₀ − u) (c (1 − u²) − a² (u₀ − u)). [Goldstein 5.7]
    """
    about = SIDE**2 / 6
    across = (SIDE**2 + HEIGHT**2) / 12 + ARM**2
    a, c, u0 = about * SPIN / across, 2 * 9.81 * ARM / across, np.cos(LEAN)
    return float(np.arccos(brentq(lambda u: c * (1 - u**2) - a**2 * (u0 - u), -1.0, u0)))


@pytest.mark.parametrize("integrator", some(["leapfrog", "bdf2", "sdirk2"], "leapfrog"))
def test_a_top_stands(tmp_path, integrator):
    axis = np.array([np.sin(LEAN), 0.0, np.cos(LEAN)])
    top = {"name": "Top", "position": (ARM * axis).tolist(), "mass": 1.0,
           "rotation": [np.cos(LEAN / 2), 0.0, np.sin(LEAN / 2), 0.0],
           "shape": {"kind": "box", "params": {"size_x": SIDE, "size_y": SIDE, "size_z": HEIGHT}}}
    joint = {"name": "Tip", "kind": "spherical", "child": "Top", "position": [0, 0, 0], "rate": (SPIN * axis).tolist()}
    lean = leaning(mechanism_world(tmp_path, [top], [joint], gravity=[0, 0, -9.81], integrator=integrator))
    assert 0.25 < furthest() < 0.3
    assert lean.max() == pytest.approx(furthest(), abs=0.01)
    assert lean.min() == pytest.approx(LEAN, abs=0.01)
