"""Wobble Half-Life: the slowest wobble loses half of its height in that time, and what falls or turns loses nothing."""

import numpy as np
import pytest
from small_jobs import box_job, change
from wobbles import Modes, half_lives
from worlds import nodes_of

from solver import catalogue
from solver.errors import BadScene
from solver.job.load import load
from solver.state import State

CELLS, STIFFNESS = (8, 2, 2), 3e4
QUICK = {"kind": "quick"}
TIGHT = {"kind": "newton_d", "params": {"tolerance": 1e-6}}


def soft(times):
    """So many times as stiff as the bar is."""
    return {"kind": "stable_neo_hookean", "params": {"youngs_modulus": times * STIFFNESS, "poisson_ratio": 0.4}}


def bar(folder, half_life, *, integrator="sdirk2", method="vanilla", step=1 / 48, pinned=True, end=49,
        stage_solver=None, gravity=(0, 0, 0), **body):
    """A bar of 0.2 m that is pinned at one end, or nowhere, in the world of its job."""
    job = box_job(folder, cells=CELLS, end=end, step=step, motion=False, gravity=list(gravity),
                  method={"kind": method}, integrator={"kind": integrator}, stage_solver=stage_solver or QUICK)
    change(job, "bodies.0.material.params.youngs_modulus", STIFFNESS)
    if not pinned:
        change(job, "bodies.0.pin", {})
    for key, value in {"wobble_half_life": half_life, **body}.items():
        change(job, f"bodies.0.{key}", value)
    return nodes_of(load(job))


def bent(world, size=0.01):
    """Let go from a bend, as one force at the tip makes it; nodes that follow stand in balance with it."""
    from solver.nonlinear.equilibrium import equilibrium

    x = world.rest.copy()
    tip = np.flatnonzero(x[:, 0] > x[:, 0].max() - 1e-9)
    x[tip, 2] += size
    inner = np.setdiff1d(world.coordinates.free, tip).astype(np.int32)
    x = equilibrium(world, x, 0.0, inner, world.tets, type(world.linear)())
    state = world.initial_state()
    return State(0.0, x[world.coordinates.free].ravel(), state.u, state.memory)


def heights(world, seconds, h=1 / 48):
    """Return the slowest wobble's height at each step over the first; of what follows nodes, the tip's swing."""
    state, out = bent(world), []
    modes = None if world.condensation.whole is None else Modes(world)
    tip = np.flatnonzero(world.rest[:, 0] > world.rest[:, 0].max() - 1e-9)
    for _ in range(round(seconds / h) + 1):
        x, v = world.nodes_at(state)
        out.append(np.hypot((x - world.rest)[tip, 2].mean(),
                            v[tip, 2].mean() / (2.0 * np.pi * world.fundamental_hertz["Ear"]))
                   if modes is None else modes.heights(state, [0])[0])
        state = world.step(state, h)
    return np.array(out) / out[0]


def measured(height, h=1 / 48):
    """Seconds in which it falls by half."""
    return -np.log(2.0) / np.polyfit(h * np.arange(len(height)), np.log(height), 1)[0]


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
@pytest.mark.parametrize("integrator", ["sdirk2", "ssdirk2", "bdf2"])
def test_the_slowest_wobble_is_halved_in_time(tmp_path, integrator, method):
    world = bar(tmp_path, 0.4, integrator=integrator, method=method, stage_solver=TIGHT)
    assert measured(heights(world, 0.8)) == pytest.approx(0.4, rel=0.2)
    assert any("Wobble Half-Life 0.4 s" in note and "does the rest" in note for note in world.notes)


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("integrator", ["sdirk2", "sdirk23", "ssdirk2", "bdf2", "tr_bdf2", "midpoint"])
def test_all_wobbles_that_are_seen_are_halved_in_time(tmp_path, integrator, pinned):
    """By one matrix for all of them the third would have been gone in a tenth of the time."""
    world = bar(tmp_path, 0.75, integrator=integrator, pinned=pinned, step=1 / 192, material=soft(0.4))
    modes = Modes(world)
    seen = modes.band()
    assert modes.hertz[seen[-1]] > 2.0 * modes.hertz[0]
    chosen = seen[[0, len(seen) // 2, -1]] if integrator != "bdf2" else seen[:2]  # which itself takes the fast ones
    np.testing.assert_allclose(half_lives(world, modes, chosen, 0.5, 1 / 192), 0.75, rtol=0.2)


@pytest.mark.parametrize("steps", [24, 48, 96, 192])
def test_they_are_at_any_step(tmp_path, steps):
    world = bar(tmp_path, 0.75, integrator="sdirk23", pinned=False, step=1 / steps, material=soft(0.6))
    modes = Modes(world)
    seen = modes.band()
    assert modes.hertz[seen[-1]] > 9.0
    np.testing.assert_allclose(half_lives(world, modes, seen[[0, -1]], 0.75, 1 / steps, 1e-4), 0.75, rtol=0.2)


def test_it_is_found_where_the_body_hangs(tmp_path):
    """A soft bar that hangs down has another slowest wobble by its weight, and that is halved in time."""
    world = bar(tmp_path, 0.75, material=soft(0.1), gravity=[9.81, 0.0, 0.0], step=1 / 96)
    modes = Modes(world, hangs=True)
    assert world.fundamental_hertz["Ear"] == pytest.approx(modes.hertz[0], rel=1e-3)
    assert modes.hertz[0] > 1.5 * Modes(world).hertz[0]
    np.testing.assert_allclose(half_lives(world, modes, [0, 1, 2], 0.75, 1 / 96, 1e-4), 0.75, rtol=0.2)


def test_the_log_says_how_much_stiffer_what_sags_would_have_to_be(tmp_path):
    """So much, and its slowest wobble has the 2.5 Hz that a new body is aimed at."""
    slack = {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 0.01 * STIFFNESS}}
    [sentence] = [note for note in bar(tmp_path, 0.4, material=slack).notes if "Wobble" in note]
    share = float(sentence.partition("(2.5 Hz with ")[2].partition(" times its Young's Modulus)")[0])
    slack["params"]["youngs_modulus"] *= share
    [sentence] = [note for note in bar(tmp_path / "lively", 0.4, material=slack).notes if "Wobble" in note]
    assert float(sentence.partition("slowest wobble has ")[2].partition(" Hz,")[0]) == pytest.approx(2.5, rel=0.03)


def test_what_swings_slower_than_once_in_two_seconds_loses_as_much_a_swing(tmp_path):
    """The slow swing does not creep back, and what is faster is halved in time beside it."""
    world = bar(tmp_path, 0.75, material=soft(0.004), integrator="midpoint")
    modes, h = Modes(world), 1 / 48
    hertz = modes.hertz[0]
    [sentence] = [note for note in world.notes if "Wobble" in note]
    assert hertz < 0.2 and f"lose as much a swing, the slowest half in {0.75 * 0.5 / hertz:.2g} s" in sentence
    [got] = half_lives(world, modes, [0], 2.0, h, 1e-4)
    assert got == pytest.approx(0.75 * 0.5 / hertz, rel=0.1)
    faster = int(np.argmax(modes.hertz > 0.9))
    assert half_lives(world, modes, [faster], 1.0, h, 1e-4) == pytest.approx(0.75, rel=0.1)

    over_time = tmp_path / "over_time"
    bar(over_time, 0.0, material=soft(0.004), integrator="midpoint")
    np.save(over_time / "arrays" / "halves.npy", np.full(97, 0.75))
    change(over_time, "bodies.0.wobble_half_life", "arrays/halves.npy")
    again = nodes_of(load(over_time))
    assert half_lives(again, modes, [0], 0.5, h, 1e-4) == pytest.approx(half_lives(world, modes, [0], 0.5, h, 1e-4))


def test_what_the_material_loses_already_counts(tmp_path):
    damping = {"kind": "rayleigh", "params": {"mass_damping": 1.0, "stiffness_damping": 1e-4}}
    world = bar(tmp_path, 0.4, damping=damping)
    assert measured(heights(world, 0.8)) == pytest.approx(0.4, rel=0.2)
    alone = bar(tmp_path / "alone", 0.0, damping=damping)
    assert measured(heights(alone, 0.8)) > 0.6


def test_the_log_says_where_the_integrator_alone_is_sooner(tmp_path):
    world = bar(tmp_path, 2.0, integrator="semi_implicit")
    [sentence] = [note for note in world.notes if "Wobble" in note]
    assert "Semi-Implicit Euler at 1/48 s alone halves in" in sentence and "sooner than was asked" in sentence
    without = bar(tmp_path / "without", 0.0, integrator="semi_implicit")
    assert np.array_equal(heights(world, 0.3), heights(without, 0.3))


def test_what_falls_and_turns_is_not_braked(tmp_path):
    momenta = []
    for half_life in (0.0, 0.1):
        world = bar(tmp_path / str(half_life), half_life, pinned=False, step=1 / 96)
        state, mass = world.initial_state(), world.mass
        v = np.cross([0.0, 2.0, 4.0], world.rest - world.rest.mean(axis=0)) + [0.0, 0.0, 3.0]
        state = State(0.0, state.q, v.ravel(), state.memory)
        for _ in range(48):
            state = world.step(state, 1 / 96)
        x, v = state.q.reshape(-1, 3), state.u.reshape(-1, 3)
        assert mass @ v / mass.sum() == pytest.approx([0.0, 0.0, 3.0], abs=1e-12)
        around = x - mass @ x / mass.sum()
        momenta.append(np.linalg.norm((mass[:, None] * np.cross(around, v)).sum(axis=0)))
    assert momenta[1] == pytest.approx(momenta[0], rel=2e-3)


def test_half_lives_over_time(tmp_path):
    folder = tmp_path / "job"
    bar(folder, 0.0)
    samples = np.where(np.arange(97) / 48 < 0.5, 0.0, 0.25)
    np.save(folder / "arrays" / "halves.npy", samples)
    change(folder, "bodies.0.wobble_half_life", "arrays/halves.npy")
    world = nodes_of(load(folder))
    height = heights(world, 0.8)
    assert measured(height[:23]) > 1.0
    assert measured(height[25:]) == pytest.approx(0.25, rel=0.2)

    np.save(folder / "arrays" / "halves.npy", -samples)
    with pytest.raises(BadScene, match="makes wobbles grow"):
        load(folder)


def test_any_integrator_has_a_sentence(tmp_path):
    for k, integrator in enumerate(catalogue.menu("integrator")):
        world = bar(tmp_path / str(k), 0.3, integrator=integrator)
        assert any("Wobble Half-Life 0.3 s: its slowest wobble has" in note for note in world.notes), integrator


def test_what_cannot_wobble_is_reported(tmp_path):
    world = bar(tmp_path, 0.3, method="conjac", dynamic={})
    assert any("nothing of it wobbles" in note for note in world.notes)
