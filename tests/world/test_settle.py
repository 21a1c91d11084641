"""Corrections of positions past the paper's one: nearer to balance, and never a push."""

import numpy as np
import pytest
from bodies import box, make, nearest, positions, run

from solver.errors import StepFailed
from solver.simulate import Halved, Timeline, advance_frame
from solver.state import State

H = 1 / 100
LONG = 1 / 24


def hanging(corrections, **more):
    nodes, tets = box((12, 3, 3), (0.24, 0.06, 0.06))
    return make(nodes, tets, young=2e4, pinned=np.flatnonzero(nodes[:, 0] < 1e-9), corrections=corrections,
                dynamic=[nearest(nodes, (0.24, 0.03, 0.03)), nearest(nodes, (0.12, 0.06, 0.06))], **more)


def left(world, state):
    """Net force on each quasistatic node [N]."""
    x = positions(world, state)
    force, _ = world.evaluate(x, state.time)
    return np.linalg.norm(force[world.condensation.inner], axis=1)


def test_each_correction_leaves_less():
    """Released from rest: median, over the first half second, of the residual of the quasistatic nodes."""
    medians, worst = [], []
    for corrections in (0, 1, 2, 3):
        world = hanging(corrections)
        state, seen = world.initial_state(), []
        for _ in range(50):
            state = world.step(state, H)
            seen.append(left(world, state))
        medians.append(np.median(seen))
        worst.append(np.max(seen[5:]))
    print("median", medians, "worst", worst)
    assert medians[1] <= medians[0] / 5 and medians[2] <= medians[0] / 20
    assert worst[1] <= worst[0] / 2 and worst[2] <= worst[1]


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_falling_body_keeps_its_shape(count):
    nodes, tets = box()
    spots = [(0.0, 0.0, 0.0), (0.16, 0.04, 0.0), (0.08, 0.04, 0.04), (0.16, 0.0, 0.04)][:count]
    world = make(nodes, tets, young=1e4, dynamic=[nearest(nodes, p) for p in spots], corrections=2)
    state = run(world, 20, H)
    fall = positions(world, state) - nodes
    assert np.abs(fall - fall.mean(axis=0)).max() <= 1e-6 * 0.16
    assert np.abs(state.u.reshape(-1, 3) - [0, 0, -9.81 * 20 * H]).max() <= 1e-9


def test_a_falling_body_that_was_stretched_is_corrected_as_one_that_rests():
    """The force that carries it down is no load on its shape: the corrections go to f = M a."""
    nodes, tets = box()
    unbalanced = []
    for corrections in (0, 2):
        world = make(nodes, tets, young=1e4, dynamic=[nearest(nodes, (0.08, 0.04, 0.04))], corrections=corrections)
        x = nodes * [1.05, 1.0, 1.0]
        state = world.step(State(0.0, x.ravel(), np.zeros(x.size)), H)
        x = positions(world, state)
        force, _ = world.evaluate(x, state.time)
        force -= world.mass[:, None] * [0.0, 0.0, -9.81]
        unbalanced.append(np.linalg.norm(force[world.condensation.inner]))
    print("left", unbalanced)
    assert unbalanced[1] <= unbalanced[0] / 20


def test_velocities_do_not_know_of_it():
    """After one step from one state rates are equal, positions of retained nodes too."""
    worlds = [hanging(corrections) for corrections in (0, 2)]
    states = [world.step(worlds[0].initial_state(), H) for world in worlds]
    assert np.array_equal(states[0].u, states[1].u)
    retained = worlds[0].condensation.retained
    x = [positions(world, state) for world, state in zip(worlds, states)]
    assert np.array_equal(x[0][retained], x[1][retained]) and not np.array_equal(x[0], x[1])


def test_the_resting_shape_is_vanillas():
    nodes, tets = box((6, 2, 2), (0.12, 0.04, 0.04))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    rest = make(nodes, tets, pinned=pinned, method="vanilla", quasistatic_start=True).initial_state()
    world = make(nodes, tets, pinned=pinned, dynamic=[nearest(nodes, (0.12, 0.02, 0.02))], beta=1.0, corrections=2)
    state = run(world, 300, 1 / 24, world.initial_state())
    assert np.abs(state.q - rest.q).max() <= 1e-6 * 0.12


def released(world):
    """A bar pulled to twice its length and twisted, at its release."""
    nodes = world.rest
    stretch = nodes * [2.2, 0.8, 0.8]
    turn = 3.0 * nodes[:, 0] / 0.24
    y, z = stretch[:, 1] - 0.024, stretch[:, 2] - 0.024
    x = np.stack([stretch[:, 0], 0.024 + np.cos(turn) * y - np.sin(turn) * z,
                  0.024 + np.sin(turn) * y + np.cos(turn) * z], 1)
    return State(0.0, x[world.coordinates.free].ravel(), np.zeros(3 * len(world.coordinates.free)))


def test_corrections_keep_a_violent_release_finite_that_blows_up_without():
    """At a frame of 1/24 s a step."""
    plain, corrected = hanging(0), hanging(2)
    with pytest.raises(StepFailed, match="times its size"):
        run(plain, 24, LONG, released(plain))
    state = run(corrected, 48, LONG, released(corrected))
    assert np.ptp(positions(corrected, state), axis=0).max() < 0.3  # at rest it is 0.25 long


def test_automatic_substeps_keep_the_same_release_finite():
    """One step a frame, shorter ones while it snaps back, without corrections."""
    world = hanging(0)
    line, halved, state = Timeline(1, 49, 24.0, LONG, 100, largest_deformation=0.5), Halved(), released(world)
    for frame in range(2, 50):
        state = advance_frame(world, state, line, frame, halved=halved)
    assert np.ptp(positions(world, state), axis=0).max() < 0.3
    assert halved and min(h for h, _ in halved) >= LONG / 32


@pytest.mark.parametrize("h", [1 / 30, 1 / 240])
def test_a_settle_time_is_the_same_at_any_step(h):
    """Half of the remaining force vanishes in that time: γ = 1 − 2^(−h/τ)."""
    world = hanging(0, settle_time=0.05)
    assert (1.0 - world.condensation.compute_removed_fraction(h)) ** (0.05 / h) == pytest.approx(0.5)
    assert hanging(0).condensation.compute_removed_fraction(h) == pytest.approx(1 / 3)


def test_directions_in_single_precision_lead_to_the_same_place():
    """The residual of two corrections is that with a full factor, to a thousandth of what they moved."""
    ends = []
    for full in (False, True):
        world = hanging(2)
        if full:
            world.condensation.in_single = lambda: None
        ends.append(positions(world, run(world, 10, H)))
    untouched = hanging(0)
    moved = np.abs(ends[1] - positions(untouched, run(untouched, 10, H))).max()
    assert 0.0 < np.abs(ends[0] - ends[1]).max() <= 1e-3 * moved
