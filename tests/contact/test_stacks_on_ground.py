"""Soft blocks that lie on each other on the ground: its friction is solved with their contact, in one stage."""

import numpy as np
import pytest
from touching import QUICK, box, contact_job, soft
from worlds import nodes_of

from solver.job.load import load
from solver.state import State

H, G, MU, THROWN, SECONDS = 1 / 48, 9.81, 0.3, 0.8, 0.5


def stack(folder, slope=0.0):
    """Two blocks, of which the lower one stands on the ground and the upper one does not slip on it."""
    arrays, g = {}, G / np.hypot(1.0, slope)
    low = soft("Low", *box((4, 4, 2), (0.2, 0.2, 0.1)), arrays, modulus=1e5, friction=0.8, wobble_half_life=0.1)
    high = soft("High", *box((3, 3, 2), (0.14, 0.14, 0.08), (0.03, 0.03, 0.102)), arrays, modulus=1e5, friction=0.8,
                wobble_half_life=0.1)
    ground = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness_per_area": 3e7,
              "friction": {"kind": "coulomb", "params": {"friction_coefficient": MU}}}
    return nodes_of(load(contact_job(folder, [low, high], [], arrays, step=H, ground=ground,
                                     gravity=[slope * g, 0.0, -g], **QUICK)))


def middle(part, x):
    return float((part.mass @ x)[0] / part.mass.sum())


def settled(folder):
    part = stack(folder)
    state = part.initial_state()
    for _ in range(24):
        state = part.step(state, H)
    return state.q


def test_a_thrown_stack_brakes_as_coulomb_says_at_the_price_of_its_contact(tmp_path):
    at = settled(tmp_path / "rest")
    part = stack(tmp_path / "thrown")
    u = part.initial_state().u.reshape(-1, 3) + [THROWN, 0.0, 0.0]
    state, first = State(0.0, at, u.ravel()), middle(part, part.coordinates.positions(at, 0.0))
    factored = part.factored
    steps = round(SECONDS / H)
    for _ in range(steps):
        state = part.step(state, H)
    way = middle(part, part.coordinates.positions(state.q, state.time)) - first
    assert way == pytest.approx(THROWN**2 / (2.0 * MU * G), rel=0.05)
    # friction that is found after a stage takes factors of its own, and a second solve where it moves surfaces
    assert (part.factored - factored) / steps <= 6.0


def test_a_stack_stands_where_friction_holds_it(tmp_path):
    at = settled(tmp_path / "rest")
    part = stack(tmp_path / "slope", 0.8 * MU)
    state, places, rubbed = State(0.0, at, part.initial_state().u), [], []
    for _ in range(48):
        state = part.step(state, H)
        places.append(middle(part, part.coordinates.positions(state.q, state.time)))
        rubbed.append(float(state.memory["friction.force"].sum(axis=0)[0]))
    # it wobbles to and fro a little
    assert abs(np.mean(places[36:]) - np.mean(places[24:36])) <= 1.0e-3 * 12 * H
    pulled = part.mass.sum() * G * 0.8 * MU / np.hypot(1.0, 0.8 * MU)
    assert -np.mean(rubbed[24:]) == pytest.approx(pulled, rel=0.03)
