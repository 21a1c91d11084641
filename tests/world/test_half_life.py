"""Wobble Half-Life: the slowest wobble loses half of its height in that time, and what falls or turns loses nothing."""

import numpy as np
import pytest
from small_jobs import box_job, change
from worlds import nodes_of

from solver import catalogue
from solver.errors import BadScene
from solver.job.load import load
from solver.state import State

CELLS, STIFFNESS = (8, 2, 2), 3e4
QUICK = {"kind": "quick"}


def bar(folder, half_life, *, integrator="sdirk2", method="vanilla", step=1 / 48, held=True, end=49, **body):
    """A bar of 0.2 m that is held at one end, or nowhere, without gravity, and its job."""
    job = box_job(folder, cells=CELLS, end=end, step=step, motion=False, gravity=[0, 0, 0], method={"kind": method},
                  integrator={"kind": integrator}, stage_solver=QUICK)
    change(job, "bodies.0.material.params.youngs_modulus", STIFFNESS)
    if not held:
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
    """Of the wobble at each step, as a share of the first: the root of its energy, kinetic and elastic."""
    state, out = bent(world), []
    for _ in range(round(seconds / h) + 1):
        x, v = world.coordinates.place(state.q, state.time), world.coordinates.spread(state.u, None)
        out.append(0.5 * float(world.mass @ (v * v).sum(axis=1)) + world.evaluate(x, state.time)[1])
        state = world.step(state, h)
    return np.sqrt(np.array(out) / out[0])


def measured(height, h=1 / 48):
    """Seconds in which it falls by half, once finer wobbles than the slowest are gone."""
    height = height[5:]
    return -np.log(2.0) / np.polyfit(h * np.arange(len(height)), np.log(height), 1)[0]


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
@pytest.mark.parametrize("integrator", ["sdirk2", "ssdirk2", "bdf2"])
def test_the_slowest_wobble_is_halved_in_time(tmp_path, integrator, method):
    world = bar(tmp_path, 0.4, integrator=integrator, method=method)
    assert measured(heights(world, 0.8)) == pytest.approx(0.4, rel=0.2)
    assert any("Wobble Half-Life 0.4 s" in note and "does the rest" in note for note in world.notes)


def test_the_log_says_how_much_stiffer_what_sags_would_have_to_be(tmp_path):
    """So much, and its slowest wobble has the 2.5 Hz that a new body is aimed at."""
    slack = {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 0.01 * STIFFNESS}}
    [said] = [note for note in bar(tmp_path, 0.4, material=slack).notes if "Wobble" in note]
    share = float(said.partition("(2.5 Hz with ")[2].partition(" times its Young's Modulus)")[0])
    slack["params"]["youngs_modulus"] *= share
    [said] = [note for note in bar(tmp_path / "lively", 0.4, material=slack).notes if "Wobble" in note]
    assert float(said.partition("slowest wobble has ")[2].partition(" Hz,")[0]) == pytest.approx(2.5, rel=0.03)


def test_what_swings_slower_than_once_a_second_is_halved_in_swings(tmp_path):
    """A bar of a hundredth of the stiffness has a tenth of the frequency: as many swings, ten times the seconds."""
    slack = {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 0.01 * STIFFNESS}}
    world = bar(tmp_path, 0.75, material=slack, integrator="ssdirk2")
    [said] = [note for note in world.notes if "Wobble" in note]
    hertz = float(said.partition("slowest wobble has ")[2].partition(" Hz")[0])
    assert hertz < 0.7 and f"they are swings, here {0.75 / hertz:.2g} s" in said
    assert measured(heights(world, 2.0 / hertz)) == pytest.approx(0.75 / hertz, rel=0.2)
    over_time = tmp_path / "over_time"
    bar(over_time, 0.0, material=slack, integrator="ssdirk2")
    np.save(over_time / "arrays" / "halves.npy", np.full(97, 0.75))
    change(over_time, "bodies.0.wobble_half_life", "arrays/halves.npy")
    again = nodes_of(load(over_time))
    assert heights(again, 0.5) == pytest.approx(heights(world, 0.5), rel=1e-6)


def test_what_the_material_loses_already_counts(tmp_path):
    damping = {"kind": "rayleigh", "params": {"mass_damping": 1.0, "stiffness_damping": 1e-4}}
    world = bar(tmp_path, 0.4, damping=damping)
    assert measured(heights(world, 0.8)) == pytest.approx(0.4, rel=0.2)
    alone = bar(tmp_path / "alone", 0.0, damping=damping)
    assert measured(heights(alone, 0.8)) > 0.6


def test_the_log_says_where_the_integrator_alone_is_sooner(tmp_path):
    world = bar(tmp_path, 2.0, integrator="semi_implicit")
    [said] = [note for note in world.notes if "Wobble" in note]
    assert "Semi-Implicit Euler at 1/48 s alone halves in" in said and "sooner than was asked" in said
    without = bar(tmp_path / "without", 0.0, integrator="semi_implicit")
    assert np.array_equal(heights(world, 0.3), heights(without, 0.3))


def test_what_falls_and_turns_is_not_braked(tmp_path):
    kept = []
    for half_life in (0.0, 0.1):
        world = bar(tmp_path / str(half_life), half_life, held=False, step=1 / 96)
        state, mass = world.initial_state(), world.mass
        v = np.cross([0.0, 2.0, 4.0], world.rest - world.rest.mean(axis=0)) + [0.0, 0.0, 3.0]
        state = State(0.0, state.q, v.ravel(), state.memory)
        for _ in range(48):
            state = world.step(state, 1 / 96)
        x, v = state.q.reshape(-1, 3), state.u.reshape(-1, 3)
        assert mass @ v / mass.sum() == pytest.approx([0.0, 0.0, 3.0], abs=1e-12)
        around = x - mass @ x / mass.sum()
        kept.append(np.linalg.norm((mass[:, None] * np.cross(around, v)).sum(axis=0)))
    assert kept[1] == pytest.approx(kept[0], rel=2e-3)


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


def test_what_cannot_wobble_is_told(tmp_path):
    world = bar(tmp_path, 0.3, method="conjac", dynamic={})
    assert any("nothing of it wobbles" in note for note in world.notes)
