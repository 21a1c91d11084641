"""Wobble Half-Life of ropes: how fast their swing fades, and what they keep."""

from dataclasses import replace

import numpy as np
import pytest
from rope_jobs import baked, chain, rope_job
from small_jobs import change

from solver.build.half_life import swing
from solver.build.world import build
from solver.job.load import load


def fading(folder, places, seconds, **rope):
    """A job of one rope with a Wobble Half-Life."""
    job = rope_job(folder, places, **rope)
    change(job, "bodies.0.wobble_half_life", seconds)
    return job


def hanging(links, length, angle=0.0):
    """Points of a straight rope that hangs aslant from the origin, (links + 1, 3) [m]."""
    return np.linspace(0.0, length, links + 1)[:, None] * [np.sin(angle), 0.0, -np.cos(angle)]


def turning(job, end):
    """How far the last point is to the side where it turns back, at which frames, and how far [m]."""
    side = baked(job)[:, end, 0]
    turns = [k for k in range(1, len(side) - 1) if abs(side[k]) >= abs(side[k - 1]) and abs(side[k]) > abs(side[k + 1])]
    return np.array(turns), np.abs(side[turns])


@pytest.mark.parametrize("half_life", [0.5, 1.0])
def test_a_hanging_rope_loses_half_of_its_swing_in_its_half_life(tmp_path, half_life):
    loads = np.zeros(11)
    loads[-1] = 1.0
    turns, high = turning(fading(tmp_path / "job", hanging(10, 0.6, 0.2), half_life, end=97, loads=loads), 10)
    fades = np.polyfit(turns / 24.0, np.log2(high), 1)[0]
    assert -1.0 / fades == pytest.approx(half_life, rel=0.15)


def test_a_half_life_takes_no_momentum_from_a_rope_that_flies(tmp_path):
    rng = np.random.default_rng(2)
    places = np.column_stack([np.linspace(0.0, 1.0, 12), 0.05 * rng.standard_normal((12, 2))])
    job = fading(tmp_path / "job", places, 0.2, end=13, pinned=())
    part = build(load(job), lambda *_: None)[0].parts[0]
    state = part.initial_state()
    state = replace(state, u=0.5 * rng.standard_normal(state.u.shape))
    momentum = part.mass @ state.u.reshape(-1, 3)
    for _ in range(48):
        state = part.step(state, 1 / 96)
    gained = part.mass @ state.u.reshape(-1, 3) - momentum
    assert np.abs(gained - [0.0, 0.0, part.mass.sum() * -9.81 * 0.5]).max() < 1e-9


@pytest.mark.parametrize("whole", [1.02, 1.1])
def test_what_is_pinned_at_both_ends_swings_as_a_bow_does(whole):
    """A parabola over a chord of 1 m sags by d = √(3 C (L − C)/8), and ω² = 5 g/4 d."""
    share, sag = np.linspace(0.0, 1.0, 201), np.sqrt(0.375 * (whole - 1.0))
    rest = np.column_stack([share, np.zeros(201), -4.0 * sag * share * (1.0 - share)])
    found = swing(chain(200), rest, np.full(201, 0.01), np.arange(201), np.array([0, 200]), 9.81)
    assert found == pytest.approx(np.sqrt(1.25 * 9.81 / sag) / (2.0 * np.pi), rel=0.03)


def test_one_that_is_long_loses_as_much_in_each_of_its_slow_swings(tmp_path):
    """A weight on 6 m swings at 0.2 Hz, and what is seen as a wobble at 0.5 Hz: its half-life is longer by as much."""
    hertz, loads = np.sqrt(9.81 / 6.0) / (2.0 * np.pi), np.append(np.zeros(12), 100.0)
    found = swing(chain(12), hanging(12, 6.0), loads + 0.05, np.arange(13), np.array([0]), 9.81)
    assert found == pytest.approx(hertz, rel=0.01)
    turns, high = turning(fading(tmp_path / "job", hanging(12, 6.0, 0.1), 1.0, end=241, step=1 / 48, loads=loads), 12)
    fades = np.polyfit(turns / 24.0, np.log2(high), 1)[0]
    assert -1.0 / fades == pytest.approx(0.5 / hertz, rel=0.15)
