"""Dynamic nodes that swing by their own modes: what a step keeps, and where SDIRK2 takes its place."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from bodies import box, make, nearest, positions

from solver.errors import StepFailed
from solver.integrators.spin import spin
from solver.nonlinear import modal_step
from solver.world.nodes import Nodes

BAR = box((6, 2, 2), (0.12, 0.04, 0.04))
SPOTS = [(0.12, 0.02, 0.02), (0.06, 0.04, 0.04)]


def bar(integrator="swinging", **more):
    nodes, tets = BAR
    choice = {"pinned": np.flatnonzero(nodes[:, 0] < 1e-9), "young": 2e3, "tolerance": 1e-9,
              "dynamic": [nearest(nodes, spot) for spot in SPOTS], "gravity": (0, 0, -2.0), **more}
    return make(nodes, tets, integrator=integrator, **choice)


def advance(world, steps, h, state=None):
    state = state or world.initial_state()
    for _ in range(steps):
        state = world.step(state, h)
    return state


@cache
def start():
    """A state shortly after the release from the lifted position, when quasistatic nodes already follow."""
    lifted = bar(gravity=(0, 0, 1.0), quasistatic_start=True).initial_state()
    return replace(advance(bar("sdirk2"), 40, 0.05 / 40, lifted), memory={})


def test_the_order_is_two():
    """A bar that swings, beside SDIRK2 in short steps."""
    exact = advance(bar("sdirk2"), 80, 0.1 / 80, start()).q
    errors = [np.abs(advance(bar(), steps, 0.1 / steps, start()).q - exact).max() for steps in (10, 20)]
    print(errors)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.35)
    assert errors[1] < 3e-5


def test_a_slow_swing_keeps_its_energy():
    """A second of a bar that swings by 2 cm, in steps of 1/48 s: an eighth is lost, where
    a linearised step loses all."""
    def energies(integrator):
        world = bar(integrator, young=2e4, gravity=(0, 0, 0))
        state = world.initial_state()
        x = positions(world, state)
        v = np.zeros_like(x)
        v[:, 2] = 12.0 * x[:, 0] ** 2 / 0.12
        state = replace(state, u=v[world.coordinates.free].ravel())
        energy_at = []
        for i in range(48):
            state = world.step(replace(state, time=i / 48), 1 / 48)
            v = world.velocity(state)
            energy_at.append(world.evaluate(positions(world, state), 0.0)[1] + 0.5 * world.mass @ (v * v).sum(axis=1))
        return np.array(energy_at)

    conserved, calmed = energies("swinging"), energies("semi_implicit")
    print(conserved[::8], calmed[::8])
    assert conserved[-12:].mean() == pytest.approx(conserved[:12].mean(), rel=0.15)
    assert calmed[-12:].mean() < 0.1 * calmed[:12].mean()


@pytest.mark.parametrize("count", [0, 1, 4])
def test_what_flies_keeps_its_momentum_and_its_spin_and_falls_as_it_should(count):
    nodes, tets = BAR
    spots = [(0.0, 0.0, 0.0), (0.12, 0.04, 0.0), (0.06, 0.04, 0.04), (0.12, 0.0, 0.04)][:count]
    world = make(nodes, tets, young=1e5, dynamic=[nearest(nodes, p) for p in spots], integrator="swinging")
    centre = np.average(nodes, axis=0, weights=world.mass)
    state = replace(world.initial_state(), u=np.cross([0.0, 0.0, 6.0], nodes - centre).ravel())
    turning = spin(world.mass, nodes, state.u.reshape(-1, 3))
    state = advance(world, 12, 1 / 48, state)
    x, v = positions(world, state), world.velocity(state)
    momentum = world.mass @ v
    assert np.abs(momentum - world.mass.sum() * np.array([0, 0, -9.81 / 4])).max() <= 1e-9 * world.mass.sum()
    assert np.abs(np.average(x, axis=0, weights=world.mass) - centre - [0, 0, -9.81 / 32]).max() <= 1e-9
    assert np.abs(spin(world.mass, x, v) - turning).max() <= 1e-8 * np.abs(turning).max()


def test_what_rests_rests():
    world = bar(quasistatic_start=True)
    at_rest = world.initial_state()
    assert np.abs(advance(world, 24, 1 / 24, at_rest).q - at_rest.q).max() <= 1e-7


def test_going_on_gives_the_same_bytes():
    world = bar()
    halfway = advance(world, 6, 1 / 48, start())
    world.forget_past()
    on, anew = advance(world, 6, 1 / 48, halfway), advance(bar(), 6, 1 / 48, halfway)
    assert on.q.tobytes() == anew.q.tobytes() and on.u.tobytes() == anew.u.tobytes()


def test_what_damps_does_so_as_with_solved_stages():
    law = ("rayleigh", 0.004, 1.0)
    ends = [advance(bar(integrator, damping=law), 24, 0.2 / 24, start()).q for integrator in ("swinging", "sdirk2")]
    free = advance(bar(), 24, 0.2 / 24, start()).q
    assert np.abs(ends[0] - ends[1]).max() <= 0.05 * np.abs(ends[0] - free).max()


class Drag:
    """A held end that swings to and fro."""

    def __init__(self, places):
        self.places, self.way = places, np.array([0.0, 0.01, 0.0])

    def at(self, time):
        return self.places + self.way * (1.0 - np.cos(20.0 * time))

    def velocity(self, time):
        return np.broadcast_to(20.0 * np.sin(20.0 * time) * self.way, self.places.shape)


def test_pins_that_move_carry_the_bar():
    nodes, _ = BAR
    drag = Drag(nodes[nodes[:, 0] < 1e-9])
    ends = [advance(bar(integrator, motion=drag), steps, 0.2 / steps, start()).q
            for integrator, steps in (("swinging", 20), ("sdirk2", 80))]
    assert np.abs(ends[0] - ends[1]).max() <= 0.05 * np.abs(ends[1] - start().q).max()


@pytest.mark.parametrize("more", [{"method": "vanilla"}, {"ground": (0.0005, 30.0), "pinned": ()}, {"adaptive": True}])
def test_elsewhere_it_is_sdirk2(more):
    """In full space, on the ground, and where nodes may sleep."""
    ends = [advance(bar(integrator, **more), 1, 1 / 96) for integrator in ("swinging", "sdirk2")]
    assert ends[0].q.tobytes() == ends[1].q.tobytes()


def test_a_swing_that_gains_energy_is_calmed(monkeypatch):
    """A soft bar thrown about, at large steps: not so where nobody looks."""
    def highest():
        world = bar(young=300.0, gravity=(0, 0, 0))
        state = world.initial_state()
        v = 4.0 * np.sin(3.0 * np.arange(len(state.u)))
        state, energy_at = replace(state, u=v), []
        for _ in range(24):
            state = world.step(state, 1 / 24)
            v = world.velocity(state)
            energy_at.append(world.evaluate(positions(world, state), 0.0)[1] + 0.5 * world.mass @ (v * v).sum(axis=1))
        return max(energy_at) / energy_at[0]

    assert highest() < 1.2
    monkeypatch.setattr(modal_step.ModalStep, "energy_gain", np.inf)
    with pytest.raises(StepFailed, match="it grew to"):
        highest()


def test_what_is_taken_in_parts_ends_in_time_and_keeps_its_momentum(monkeypatch):
    """A soft bar that flies and is thrown about; its first three ways through a step are said to gain energy."""
    taken, asked, swung, gains = [], [], Nodes._modal_step, modal_step.ModalStep._gains_energy

    def watched(self, state, h):
        after = swung(self, state, h)
        taken.append(after.time - state.time)
        return after

    def count_gains(self, *of):
        asked.append(of)
        return len(asked) <= 3 or gains(self, *of)

    monkeypatch.setattr(Nodes, "_modal_step", watched)
    monkeypatch.setattr(modal_step.ModalStep, "_gains_energy", count_gains)
    world = bar(young=300.0, pinned=())
    state = world.initial_state()
    state = replace(state, u=4.0 * np.sin(3.0 * np.arange(len(state.u))))
    before = world.mass @ world.velocity(state)
    state = advance(world, 6, 1 / 24, state)
    assert taken[:3] == pytest.approx([1 / 48, 1 / 48, 1 / 24]) and len(taken) == 7
    assert state.time == pytest.approx(0.25, abs=1e-12)
    fallen = world.mass.sum() * np.array([0, 0, -2.0 * 0.25])
    assert np.abs(world.mass @ world.velocity(state) - before - fallen).max() <= 1e-9 * np.abs(before).max()
