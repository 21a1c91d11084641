"""KLANN as a user's job: the walker of the thesis on its loops, drives and feet."""

import numpy as np
import pytest

from benchmarks.scenes import klann
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load
from solver.parts.stage import Stage


def walker(folder, mu=0.0):
    klann.job(folder / "job", mu=mu)
    return build_mechanisms(load(folder / "job"))


def test_the_linkage_closes_all_around_and_its_foot_walks():
    feet = np.array([klann.leg(angle)["foot"] for angle in np.linspace(0, 2 * np.pi, 73)])
    low = feet[:, 1] < feet[:, 1].min() + 8.0
    # it goes back near the ground for 40 % of a turn at least, and is lifted in between
    assert 0.4 < low.mean() < 0.6 and np.ptp(feet[low, 0]) > 60.0 and np.ptp(feet[:, 1]) > 30.0
    assert (np.diff(feet[5:28, 0]) < 0.0).all()


def test_the_walker_walks_with_its_loops_closed(tmp_path):
    world = walker(tmp_path)
    assert (world.tree.rates, len(world.constraints.loops)) == (6 + 26, 24) and not world.notes
    state, frame = world.initial_state(), list(world.tree.bodies).index("Klann/Frame")
    cranks = [int(world.tree.dof[list(world.tree.bodies).index(f"Klann/{end} crank")]) for end in ("Front", "Rear")]
    start = world.linearise(state).posture.E[frame, :3, 3].copy()
    efforts = []
    for step in range(150):
        state = world.step(state, 0.01)
        shown = world.poses(state)
        efforts.append(shown["effort"][cranks].sum())
        assert shown["loops"].max() < 1e-9 and np.isfinite(state.q).all()
        if step > 60:
            assert state.u[cranks] == pytest.approx([klann.SPEED] * 2, abs=1e-6)
    at = world.linearise(state).posture.E[frame]
    assert at[0, 3] - start[0] > 0.2 and abs(at[1, 3]) < 0.02 and abs(at[2, 3] - start[2]) < 0.05
    assert at[2, 2] > 0.99  # level
    # without friction in its bearings the motor is pushed in part of each step
    assert min(efforts[60:]) < 0.0 < max(efforts[60:])


def test_many_columns_are_answered_as_one_by_one(tmp_path):
    world = walker(tmp_path)
    lin = world.linearise(world.initial_state())
    posed = world.condensation.pose(lin, Stage(0.01, 1.0, 1.0, 0.01, None, lin.v))
    impulses = np.random.default_rng(0).normal(size=(32, 40))
    each = np.stack([posed.respond(impulse) for impulse in impulses.T], axis=1)
    assert posed.respond(impulses) == pytest.approx(each, abs=1e-11 * np.abs(each).max())
    assert posed.respond(impulses[:, 0]) == pytest.approx(each[:, 0], abs=1e-11 * np.abs(each).max())


def test_rough_bearings_make_it_harder_to_walk(tmp_path):
    """The torque of both motors, its mean over the second half of a stride and more, rises with μ."""
    torques = []
    for mu in (0.0, 0.3):
        world = walker(tmp_path / str(mu), mu)
        cranks = [int(world.tree.dof[list(world.tree.bodies).index(f"Klann/{end} crank")]) for end in ("Front", "Rear")]
        state, efforts = world.initial_state(), []
        for _ in range(150):
            state = world.step(state, 0.01)
            shown = world.poses(state)
            assert shown["loops"].max() < 1e-9
            efforts.append(shown["effort"][cranks].sum())
        assert world.summary == []
        torques.append(float(np.mean(efforts[45:])))  # half a turn of the cranks
    assert 0.0 < torques[0] < torques[1] - 0.75
