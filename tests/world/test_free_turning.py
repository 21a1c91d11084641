"""Free Turning: linearised stages of Vanilla FEM without stiffness against turning keep more of a swing, and gain
nothing."""

from collections import Counter
from dataclasses import replace

import bodies
import numpy as np
import pytest
from bodies import box, make, positions, run
from tuned_units_world import BEGIN, Swinging

from solver import catalogue
from solver.errors import StepFailed
from solver.nonlinear.limits import StopRule
from solver.world import energy_gains
from solver.world.energy_gains import StepRule, step_without_gain

CELLS, SIZE = (12, 3, 3), (0.24, 0.06, 0.06)
NODES, TETS = box(CELLS, SIZE)
PINNED = np.flatnonzero(NODES[:, 0] < 1e-9)


def bar(free, method="vanilla", **more):
    """A bar that a wall holds at one end, in no gravity."""
    choice = {"poisson": 0.45, "gravity": (0, 0, 0), "pinned": PINNED} | more
    return make(NODES, TETS, method=method, integrator="ssdirk2", turns_freely=free, **choice)


def bent(world, by):
    """Let go where it is bent by so many radians from end to end, along an arc."""
    x, y, z = NODES.T
    angle, radius = by * x / 0.24, 0.24 / by
    at = np.stack([(radius - z) * np.sin(angle), y, radius - (radius - z) * np.cos(angle)], axis=1)
    return replace(world.initial_state(), q=at[world.coordinates.free].ravel())


def energy(world, state):
    x, v = positions(world, state), world.velocity(state)
    return world.evaluate(x, state.time)[1] + 0.5 * float(np.vdot(world.mass[:, None] * v, v))


def energies(world, state, h, steps):
    out = [energy(world, state)]
    for _ in range(steps):
        state = world.step(state, h)
        out.append(energy(world, state))
    return np.array(out) / out[0]


@pytest.mark.parametrize("h, times", [(1 / 48, 1.6), (1 / 96, 1.3)])
def test_it_keeps_more_of_a_swing_for_as_many_factors(h, times):
    last_energies, factors = [], []
    for free in (False, True):
        world = bar(free)
        seen = energies(world, bent(world, 0.3), h, round(1 / h))
        assert seen.max() <= 1.0 and world.summary == []
        last_energies.append(seen[-1])
        factors.append(world.linear.factored)
    assert last_energies[1] > times * last_energies[0]
    assert factors[1] <= 1.1 * factors[0]


@pytest.mark.parametrize("by, h", [(0.7, 1 / 24), (0.7, 1 / 48), (2.0, 1 / 48), (3.0, 1 / 96)])
def test_it_gains_nothing_however_far_it_is_bent(by, h):
    world = bar(True)
    assert energies(world, bent(world, by), h, 24).max() <= 1.001


def test_by_the_guard_alone(monkeypatch):
    """Without it a bar that is bent by 2 rad flies apart."""
    world = bar(True)
    monkeypatch.setattr(energy_gains, "gains", lambda *_: False)
    state, largest = bent(world, 2.0), 0.0
    first = energy(world, state)
    with pytest.raises(StepFailed, match="times its size"):
        for _ in range(6):
            state = world.step(state, 1 / 48)
            largest = max(largest, energy(world, state) / first)
    assert largest > 3.0
    monkeypatch.undo()
    guarded = bar(True)
    run(guarded, 6, 1 / 48, bent(guarded, 2.0))
    assert guarded.counts["braked"] > 0


def test_what_is_at_rest_stays_and_what_hangs_sags_alike():
    """Forces are those of FEM, so a balance is one with both."""
    still = bar(True)
    assert np.abs(positions(still, run(still, 5, 1 / 24)) - NODES).max() <= 1e-12
    ends = []
    for free in (False, True):
        world = bar(free, gravity=(0, 0, -9.81), damping=("rayleigh", 0.05, 2.0))
        ends.append(positions(world, run(world, 240, 1 / 24)))
    assert np.ptp(ends[0][:, 2]) > 0.08
    assert np.abs(ends[1] - ends[0]).max() <= 1e-4 * np.ptp(ends[0][:, 2])


def test_it_is_no_matter_of_conjac():
    """Whose positions have no energy that could be looked at: the same bytes with it and without."""
    ends = [run(bar(free, "conjac", dynamic=[len(NODES) - 1]), 6, 1 / 48).q for free in (False, True)]
    assert np.array_equal(*ends)


def test_a_linear_material_has_the_stiffness_that_it_has(monkeypatch):
    monkeypatch.setattr(bodies, "MATERIAL", catalogue.find("material", "linear").load())
    ends = []
    for free in (False, True):
        world = bar(free)
        ends.append(run(world, 6, 1 / 96, bent(world, 0.05)).q)
    assert np.array_equal(*ends)


def test_the_ground_and_its_friction():
    """A cube lands and slides: friction is no gain of energy, and no step is given up."""
    cube, tets = box((4, 4, 4), (0.1, 0.1, 0.1))
    world = make(cube + [0, 0, 0.02], tets, young=2e4, method="vanilla", integrator="ssdirk2", turns_freely=True,
                 ground=(0.0, 1e3), friction=("coulomb", 0.5))
    state = replace(world.initial_state(), u=np.tile([1.0, 0.0, 0.0], len(cube)))
    first = energy(world, state)
    for _ in range(48):
        state = world.step(state, 1 / 96)
        assert energy(world, state) <= 1.001 * first
    assert world.counts["calmed"] <= 2
    assert 0.0 < world.velocity(state)[:, 0].mean() < 0.9 or abs(world.velocity(state)[:, 0].mean()) < 0.05


def test_energy_before_a_step_is_evaluated_while_its_contacts_are_known():
    """Once, before the stages: after them the pairs at these positions would be searched again."""
    done = []

    class Watched(Swinging):
        def evaluate(self, x, time):
            done.append("evaluate")
            return super().evaluate(x, time)

    def integrate(state, h, rule):
        done.append("integrate")
        return replace(state, u=0.5 * state.u)

    rule = StepRule(False, StopRule(0.0, 1, 0.0, strain_left=0.02))
    step_without_gain(Watched(), True, rule, integrate, BEGIN, 1.0, Counter())
    assert done == ["evaluate", "integrate", "evaluate"]
