"""A soft block on an obstacle that leans slides as Coulomb says with SDIRK2, Quick and steps of 1/48 s."""

import numpy as np
import pytest
from matrix import some

from benchmarks import friction as benched
from solver.state import State
from solver.stepping import Halved, Pace, Timeline, advance_frame
from solver.world.world import World

H, G = 1 / 48, 9.81


@pytest.fixture
def gained_on(once):
    """gained_on(where, mu, share, modulus, step): acceleration of a block on a slope of a share of μ, and Coulomb's
    [m/s²]. It has come to rest on the level before, once in a run."""
    def settled(where, mu, modulus, step):
        return benched.rest_of(benched.block(where, mu, 0.0, modulus, step), step)

    def gained(where, mu, share, modulus, step=H):
        rest = once(f"block-at-rest-{where}-{mu}-{modulus:g}-{1 / step:g}",
                    lambda: settled(where, mu, modulus, step)).copy()
        _, acceleration = benched.sliding(where, mu, share, modulus, step, rest)
        return acceleration, G * (share - 1.0) * mu / np.hypot(1.0, share * mu)

    return gained


@pytest.mark.parametrize("where, mu, within", some(
    [("collider", 0.3, 0.03), ("collider", 0.6, 0.03), ("collider", 1.0, 0.03), ("soft", 0.1, 0.03),
     ("soft", 0.3, 0.03), ("soft", 0.6, 0.05)], ("collider", 0.6, 0.03), ("soft", 0.3, 0.03)))
def test_a_soft_block_slides_as_coulomb_says(gained_on, where, mu, within):
    """Two soft blocks of .6 hop so much that NEWTON-D is 4 % off as well."""
    gained, true = gained_on(where, mu, 1.5, 1e5)
    assert abs(gained - true) <= within * true


@pytest.mark.parametrize("where, mu", some([("ground", 0.6), ("collider", 0.6), ("soft", 0.3)], ("ground", 0.6)))
def test_it_slides_as_coulomb_says_in_steps_of_half_the_size(gained_on, where, mu):
    gained, true = gained_on(where, mu, 1.5, 1e5, 1 / 96)
    assert abs(gained - true) <= 0.03 * true


@pytest.mark.parametrize("where, mu", some([("collider", 0.3), ("soft", 0.3), ("soft", 0.6)],
                                           ("collider", 0.3), ("soft", 0.3)))
def test_a_block_slides_down_a_slope_that_hardly_lets_it(gained_on, where, mu):
    # where a stage ended by strain and energy alone it stood: what nobody sees of these is as large as what moves it
    gained, true = gained_on(where, mu, 1.05, 1e5)
    friction = G * mu / np.hypot(1.0, 1.05 * mu)
    assert abs(gained - true) <= 0.01 * friction


@pytest.mark.long
def test_a_soft_block_that_brakes_on_a_soft_slab_goes_nearly_as_far():
    """It leans by a twentieth of its way and swings; its stages must leave no friction besides."""
    mu, step = 0.6, 1 / 96
    slab = benched.block("soft", mu, 0.0, 1.6e4, step)
    rest = benched.rest_of(slab, step)
    seen, _ = benched.speeds(slab, rest, 1.0, step, 1.5 / (mu * G))
    assert step * (seen.sum() + 0.5) == pytest.approx(0.5 / (mu * G), rel=0.08)


@pytest.mark.long
def test_a_soft_block_on_a_soft_slab_creeps_once_it_has_swung():
    """Gravity that leans at once makes it slip; from then on its base is slower than Creep Speed, while it swings."""
    mu, modulus = 0.6, 1.6e4
    level = benched.block("soft", mu, 0.0, modulus, H)
    rest = benched.rest_of(level, H)
    leaning = benched.block("soft", mu, 0.8 * mu, modulus, H, half_life=benched.CALM)
    own = leaning.bodies_in_world[0].nodes
    state, bases = State(0.0, rest, leaning.initial_state().u), []
    at = leaning.coordinates.positions(rest, 0.0)[own]
    base = at[:, 2] < at[:, 2].min() + 0.01
    for _ in range(round(1.0 / H)):
        state = leaning.step(state, H)
        bases.append(float(leaning.coordinates.positions(state.q, state.time)[own][base, 0].mean()))
    assert abs(bases[-1] - bases[len(bases) // 2]) <= 1e-3 * 0.5


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


def test_a_block_that_falls_onto_a_sloping_collider_comes_to_rest(monkeypatch):
    # its friction holds 1.25 times that slope: it bounced on the barrier, and slid on at 4 cm/s whenever it was light
    monkeypatch.setattr(benched, "GAP", 0.052)
    monkeypatch.setattr(benched, "CELLS", (4, 4, 2))
    mu, frames = 0.6, 30
    part = benched.block("collider", mu, 0.8 * mu, 1e5, H)
    world, own, middles = World([part]), part.bodies_in_world[0].nodes, []
    state, pace, line = world.initial_state(), Pace(), Timeline(1, 1 + frames, 24.0, H, 100, 0.0, 0.5)
    halved = Halved()
    for frame in range(2, 2 + frames):
        state = advance_frame(world, state, line, frame, halved=halved, pace=pace)
        middles.append(part.mass[own] @ part.nodes_at(state)[0][own, 0] / part.mass[own].sum())
    assert 24.0 * (middles[-1] - middles[-7]) / 6.0 <= 5e-3
    assert "collider" in str(halved[0][1]), "there is no ground that it could hit"
