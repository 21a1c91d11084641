"""A soft block on an obstacle that leans slides as Coulomb says with SDIRK2, Quick and steps of 1/48 s."""

import numpy as np
import pytest
from touching import QUICK, box, contact_job, obstacle, sheet, soft
from worlds import nodes_of

from benchmarks import friction as benched
from solver.job.load import load
from solver.state import State

H, G = 1 / 48, 9.81


def on_a_floor(folder, mu, slope):
    arrays = {}
    body = soft("Block", *box((5, 5, 3), (0.2, 0.2, 0.1), (-0.1, -0.1, 0.002)), arrays, modulus=1e5, friction=mu)
    body["wobble_half_life"] = 0.75
    floor = obstacle("Floor", *sheet(20.0, 1), arrays, friction=mu)
    g = G / np.hypot(1.0, slope)
    return nodes_of(load(contact_job(folder, [body], [floor], arrays, step=H, gravity=[slope * g, 0.0, -g], **QUICK)))


@pytest.mark.parametrize("mu,share", [(0.3, 1.5), (0.6, 1.5)])
def test_a_block_slides_as_coulomb_says(tmp_path, mu, share):
    part = on_a_floor(tmp_path / "level", mu, 0.0)
    state = part.initial_state()
    for _ in range(round(1.0 / H)):
        state = part.step(state, H)
    part = on_a_floor(tmp_path / "slope", mu, share * mu)
    state, speeds = State(0.0, state.q, part.initial_state().u), []
    for _ in range(round(1.0 / H)):
        state = part.step(state, H)
        speeds.append(float((part.mass @ part.velocity(state))[0] / part.mass.sum()))
    late = np.array(speeds[len(speeds) // 3:])
    gained = np.polyfit(np.arange(len(late)) * H, late, 1)[0]
    true = G * (share - 1.0) * mu / np.hypot(1.0, share * mu)
    assert abs(gained - true) <= 0.03 * true


def gained_on(where, mu, share, modulus, step=H):
    """Acceleration of a block on a slope of a share of μ, and Coulomb's [m/s²]."""
    level = benched.block(where, mu, 0.0, modulus, step)
    rest = benched.speeds(level, level.initial_state().q, 0.0, step, 1.0)[1].q
    speeds, _ = benched.speeds(benched.block(where, mu, share * mu, modulus, step), rest, 0.0, step, 1.0)
    late = speeds[len(speeds) // 3:]
    return np.polyfit(np.arange(len(late)) * step, late, 1)[0], G * (share - 1.0) * mu / np.hypot(1.0, share * mu)


@pytest.mark.parametrize("where, mu, within", [
    ("soft", 0.3, 0.03), ("soft", 0.6, 0.05), pytest.param("soft", 0.1, 0.03, marks=pytest.mark.long),
    pytest.param("collider", 1.0, 0.03, marks=pytest.mark.long)])
def test_a_soft_block_slides_as_coulomb_says(where, mu, within):
    """Two soft blocks of .6 hop so much that NEWTON-D is 4 % off as well."""
    gained, true = gained_on(where, mu, 1.5, 1e5)
    assert abs(gained - true) <= within * true


@pytest.mark.parametrize("where", ["collider", "soft"])
def test_a_block_slides_down_a_slope_that_hardly_lets_it(where):
    # where a stage ended by strain and energy alone it stood: what nobody sees of these is as large as what moves it
    gained, true = gained_on(where, 0.3, 1.05, 1e5)
    friction = G * 0.3 / np.hypot(1.0, 1.05 * 0.3)
    assert abs(gained - true) <= 0.01 * friction


def test_a_block_that_its_friction_stops_moves_as_far_as_with_newton_d(monkeypatch):
    # let go at .8 of its friction it slips while it swings: what stages left of friction fed its swing, and it slid on
    monkeypatch.setattr(benched, "CELLS", (4, 4, 3))
    mu, modulus, step = 0.6, 1e5, 1 / 96
    level = benched.block("collider", mu, 0.0, modulus, step, half_life=0.03)
    rest = benched.speeds(level, level.initial_state().q, 0.0, step, 0.3)[1].q
    ways = {}
    for solver in ("quick", "newton_d"):
        world = benched.block("collider", mu, 0.8 * mu, modulus, step, solver)
        ways[solver] = step * float(benched.speeds(world, rest, 0.0, step, 0.2)[0].sum())
    assert abs(ways["quick"] / ways["newton_d"] - 1.0) <= 0.1
