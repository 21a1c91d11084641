"""Patches that sleep and wake as single nodes do."""

import numpy as np
import pytest
from bodies import positions
from test_patches import H, at_root, bar

from solver.coordinates.patches import mean, mean_and_rotation
from solver.coordinates.prescribed import Motion
from solver.parts.conjac.liveliness import AWAKE
from solver.state import State

PLACES = ((0.12, 0.02, 0.04), (0.06, 0.02, 0.0))


def bent(world, by=0.02):
    """The bar's end lifted [m]."""
    x = world.rest.copy()
    x[:, 2] += by * (x[:, 0] / 0.12) ** 2
    free = world.coordinates.free
    return State(0.0, x[free].ravel(), np.zeros(3 * len(free)))


@pytest.mark.parametrize("pinned", [at_root, None])
@pytest.mark.parametrize("up", [0, 1, 2])
def test_a_step_with_sleeping_patches_is_the_step_without_them(up, pinned):
    world = bar(mean_and_rotation, pinned=pinned, adaptive=True, threshold=1e6)
    awake = np.arange(2) < up
    start = bent(world, 0.004)
    u = 0.1 * np.random.default_rng(2).normal(size=start.q.shape)
    after = world.integrator.step(world, State(0.0, start.q, u, {AWAKE: awake.astype(float)}), H)
    plain = bar(mean_and_rotation, places=PLACES[:up], pinned=pinned)
    want = plain.step(State(0.0, start.q, u), H)
    assert np.abs(after.u - want.u).max() <= 1e-8 * np.abs(want.u).max(initial=1e-3)
    assert np.abs(after.q - want.q).max() <= 1e-8 * np.abs(want.q - start.q).max()


def test_what_swings_falls_asleep_and_what_is_shaken_wakes():
    """Asleep it hangs where it would have come to rest, on few factors, and where its pinned end jerks it wakes."""
    times = np.arange(400) * H
    jerk = np.where(times > 300 * H, 0.01 * np.sin(40.0 * (times - 300 * H)), 0.0)
    still = bar().rest[at_root(bar().rest)]
    motion = Motion(still + jerk[:, None, None] * np.array([0.0, 0.0, 1.0]), H)
    world = bar(mean, adaptive=True, threshold=0.05, gravity=(0, 0, 0), motion=motion)
    state, awake, factors = bent(world), [], []
    for _ in range(320):
        state = world.step(state, H)
        awake.append((state.memory[AWAKE] > 0.0).sum())
        factors.append(world.factored)
    assert awake[0] == 2 and not any(awake[250:298]) and awake[-1] == 2
    assert factors[298] - factors[250] < 24
    assert sum(a != b for a, b in zip(awake[:298], awake[1:298])) <= 6  # nothing flickers


def test_a_resumed_run_has_the_same_bytes():
    world = bar(mean, adaptive=True, threshold=0.05, gravity=(0, 0, 0))
    state = bent(world)
    for _ in range(90):
        state = world.step(state, H)
    assert 0 < (state.memory[AWAKE] > 0.0).sum() < 2
    world.forget_past()
    other = bar(mean, adaptive=True, threshold=0.05, gravity=(0, 0, 0))
    again = state
    for _ in range(25):
        state, again = world.step(state, H), other.step(again, H)
    assert np.array_equal(state.q, again.q) and np.array_equal(state.u, again.u)
    assert all(np.array_equal(value, again.memory[key]) for key, value in state.memory.items())
    assert np.isfinite(positions(world, state)).all()
