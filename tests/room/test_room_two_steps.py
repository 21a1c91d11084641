"""An integrator with a history comes from outside, one file and one entry: joints transform what it remembers to new
charts, and a coupling joins it."""

from dataclasses import replace

import numpy as np
import pytest
from made_up import add_to_solver
from mechanisms import mechanism_world, run
from tuned_jobs import hung
from worlds import world_of

from solver import catalogue
from solver.integrators.interface import Integrator
from solver.integrators.sdirk import SDIRK2
from solver.job.load import load
from solver.parts.stage import Stage

COORDINATES, RATES = "twice.q", "twice.u"


class Twice(Integrator):
    """BDF2 by equal steps, from a first step of SDIRK2, and its history under names of its own."""

    order = 2
    remembers = (COORDINATES, RATES)
    remembered_rates = (RATES,)
    remembered_motion = ((COORDINATES, RATES),)

    def step(self, system, state, h):
        if COORDINATES in state.memory:
            q, u = ((4.0 * now - before) / 3.0 for now, before in (
                (state.q, state.memory[COORDINATES]), (state.u, state.memory[RATES])))
            after = system.solve_stage(Stage(h, 2.0 / 3.0, 2.0 / 3.0, state.time + h, q, u), state)
        else:
            after = SDIRK2({}).step(system, state, h)
        return replace(after, memory={**after.memory, COORDINATES: state.q, RATES: state.u})


@pytest.fixture
def twice(monkeypatch):
    add_to_solver(monkeypatch, {"integrators.twice": Twice}, catalogue.Entry(
        "integrator", "twice", "integrators.twice:Twice", "Twice", "Made up", can=("iterates",)))


def spun(folder, integrator):
    """Pose of a box that spins about its corner for a second, without weight, by steps of 1/200 s."""
    box = {"name": "Box", "position": [0.3, 0.0, 0.0], "mass": 2.0,
           "shape": {"kind": "box", "params": {"size_x": 0.6, "size_y": 0.2, "size_z": 0.1}}}
    ball = {"name": "Ball", "kind": "spherical", "child": "Box", "rate": [3.0, 5.0, -2.0]}
    world = mechanism_world(folder, [box], [ball], integrator=integrator, gravity=[0.0, 0.0, 0.0])
    state = run(world, 1 / 200, 200)
    return world.poses(state)["pose"][0]


def test_joints_transform_its_history_to_new_charts(twice, tmp_path, monkeypatch):
    """Six radians, over several charts: as far as BDF2 itself; without the transformation far off."""
    expected = spun(tmp_path / "bdf2", "bdf2")
    assert spun(tmp_path / "twice", "twice") == pytest.approx(expected, abs=1e-7)
    monkeypatch.setattr(Twice, "remembered_motion", ())
    assert np.abs(spun(tmp_path / "left", "twice") - expected).max() > 0.05


def test_a_coupling_joins_its_history(twice, tmp_path):
    """Flesh on driven bones: each part has as much of the history as coordinates, and moves as by BDF2."""
    ends = {}
    for kind in ("bdf2", "twice"):
        world = world_of(load(hung("vanilla", integrator={"kind": kind})(tmp_path / kind)))
        ends[kind] = world.split_state(run(world, 1 / 96, 6))
    for own, reference in zip(ends["twice"], ends["bdf2"]):
        assert [len(own.memory[key]) for key in (COORDINATES, RATES)] == [len(own.q), len(own.u)]
        assert own.q == pytest.approx(reference.q, abs=1e-7)
        assert np.abs(own.q - own.memory[COORDINATES]).max() > 1e-4
