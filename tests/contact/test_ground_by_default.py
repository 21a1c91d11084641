"""Soft bodies on the ground with what a new one has: SDIRK2, Quick, steps of 1/48 s, and a stiff soft plane."""

import numpy as np
import pytest
from matrix import some
from small_jobs import write_job
from touching import QUICK, VANILLA, box, soft
from worlds import nodes_of

from solver.job.load import load
from solver.state import State

H, G, SIZE = 1 / 48, 9.81, (0.2, 0.2, 0.1)


def block(folder, mu, slope=0.0, modulus=1e5, half_life=0.75, lifted=0.0):
    """(part, state) of a block on a ground that is level under gravity that leans, so high above it [m]."""
    arrays = {}
    body = soft("Block", *box((5, 5, 3), SIZE, (0.0, 0.0, 0.0)), arrays, modulus=modulus)
    body["wobble_half_life"] = half_life
    g = G / np.hypot(1.0, slope)
    ground = {"stiffness": 1000.0, "stiffness_per_area": 3.27e7, "point": [0.0, 0.0, -lifted],
              "normal": [0.0, 0.0, 1.0]}
    if mu:
        ground["friction"] = {"kind": "coulomb", "params": {"friction_coefficient": mu}}
    scene = {"version": 1, "name": "block", "time": {"start": 1, "end": 49, "fps": 24, "step": H}, "bodies": [body],
             "ground": ground, "gravity": [slope * g, 0.0, -g], "method": VANILLA, **QUICK}
    part = nodes_of(load(write_job(folder, scene, arrays)))
    return part, part.initial_state()


def speed(part, state):
    return float((part.mass @ part.velocity(state))[0] / part.mass.sum())


@pytest.fixture
def at_rest(once, tmp_path):
    """at_rest(mu, modulus): coordinates of a block that came to rest on the level, once in a run."""
    def settled(mu, modulus):
        part, state = block(tmp_path / "level", mu, 0.0, modulus)
        for _ in range(round(1.0 / H)):
            state = part.step(state, H)
        return state.q

    return lambda mu, modulus: once(f"block-at-rest-{mu}-{modulus:g}", lambda: settled(mu, modulus)).copy()


@pytest.fixture
def slid(at_rest, tmp_path):
    """slid(mu, share, modulus): speeds down a slope of which tan is a share of μ [m/s], of a block that rested."""
    def speeds(mu, share, modulus, seconds=0.75):
        part, start = block(tmp_path / "slope", mu, share * mu, modulus)
        state, seen = State(0.0, at_rest(mu, modulus), start.u), []
        for _ in range(round(seconds / H)):
            state = part.step(state, H)
            seen.append(speed(part, state))
        return np.array(seen)

    return speeds


@pytest.mark.parametrize("mu,share,modulus", [(0.3, 1.05, 1e5), (0.3, 1.5, 16e3), (0.6, 1.5, 1e5)])
def test_a_block_slides_as_coulomb_says(slid, mu, share, modulus):
    speeds = slid(mu, share, modulus)
    late = speeds[len(speeds) // 3:]
    gained = np.polyfit(np.arange(len(late)) * H, late, 1)[0]
    true = G * (share - 1.0) * mu / np.hypot(1.0, share * mu)
    assert abs(gained - true) <= 0.03 * true


@pytest.mark.parametrize("mu,modulus", [(0.3, 1e5), (0.6, 1e5), (0.3, 16e3)])
def test_below_that_it_stands(slid, mu, modulus):
    speeds = slid(mu, 0.8, modulus)
    assert abs(speeds[len(speeds) // 3:].mean()) <= 1e-3


def test_a_swing_on_a_slope_is_not_fed_by_slip(slid):
    """It leans at once as gravity does; the swing that came of that made it slide by 29 cm in 2 s, and ever faster."""
    speeds = slid(0.6, 0.95, 1e5, 0.75)
    assert np.abs(speeds[-6:]).max() <= 1e-3
    assert H * speeds.sum() <= 0.02


def test_just_below_its_friction_a_soft_block_comes_to_stand(slid):
    """It leans by 15 mm; as gravity leans all at once that swings, and so it slips by some millimetres first."""
    speeds = slid(0.3, 0.95, 16e3, 1.5)
    assert abs(speeds[-27:].mean()) <= 1e-3  # over three sways
    assert np.abs(speeds[-27:]).max() <= 3e-3
    assert H * speeds.sum() <= 0.025


@pytest.mark.parametrize("modulus", [16e3, pytest.param(1e5, marks=pytest.mark.long)])
def test_a_block_that_falls_onto_a_slope_comes_to_rest(tmp_path, modulus):
    # friction holds 1.25 times that slope: what it swings as it lands was fed by its slip, and it hopped on for good
    part, state = block(tmp_path, 0.6, 0.48, modulus, lifted=0.05)
    way = 0.0
    for _ in range(round(1.25 / H)):
        state = part.step(state, H)
        way += H * speed(part, state)
    assert abs(speed(part, state)) <= 5e-3
    assert way <= 0.2


@pytest.mark.parametrize("mu", [0.3, 0.6, 1.0])
def test_a_block_that_is_thrown_brakes_as_coulomb_says(at_rest, tmp_path, mu):
    part, start = block(tmp_path, mu)
    thrown, way = start.u.reshape(-1, 3) + [1.0, 0.0, 0.0], 0.0
    state = State(0.0, at_rest(mu, 1e5), thrown.ravel())
    for _ in range(round(1.5 / (mu * G * H))):
        before, state = speed(part, state), part.step(state, H)
        way += 0.5 * H * (before + speed(part, state))
    assert way == pytest.approx(0.5 / (mu * G), rel=0.03)


def test_a_soft_block_that_brakes_comes_to_rest_as_far(at_rest, tmp_path):
    """As its base stops it leans by a twentieth of its way and swings: it comes to rest at the swing's middle."""
    mu, modulus = 0.6, 16e3
    part, start = block(tmp_path, mu, modulus=modulus)
    state = State(0.0, at_rest(mu, modulus), (start.u.reshape(-1, 3) + [1.0, 0.0, 0.0]).ravel())
    stops, way, ways = 1.0 / (mu * G), 0.0, []
    for count in range(round(4.0 * stops / H)):
        before, state = speed(part, state), part.step(state, H)
        way += 0.5 * H * (before + speed(part, state))
        if count * H > 1.5 * stops:
            ways.append(way)
    assert np.mean(ways) == pytest.approx(0.5 / (mu * G), rel=0.03)


def energy(part, state):
    x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
    return part.evaluate(x, state.time)[1] + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v))


@pytest.mark.parametrize("half_life,modulus,mu", some(
    [(0.75, 2e4, 0.0), (0.75, 2e4, 0.5), (0.75, 1e5, 0.0), (0.3, 2e4, 0.0), (0.75, 1e5, 0.5), (0.0, 1e5, 0.0),
     (0.0, 1e5, 0.5)], (0.75, 2e4, 0.0), (0.3, 2e4, 0.0), (0.75, 1e5, 0.5), (0.0, 1e5, 0.5)))
def test_what_lands_gains_no_energy(tmp_path, half_life, modulus, mu):
    part, state = block(tmp_path, mu, 0.0, modulus, half_life, lifted=0.1)
    fall, before = part.mass.sum() * G * 0.1, energy(part, state)
    for _ in range(36):
        state = part.step(state, H)
        after = energy(part, state)
        assert after <= before + 1e-3 * fall
        before = after
