"""Stages of mixed finite elements where surfaces touch: contacts add to them as to any, and nothing goes through."""

import numpy as np
import pytest
from touching import (
    box,
    contact_job,
    distance,
    energy,
    keep_momentum_where_they_collide,
    obstacle,
    resumed_alike,
    sheet,
    soft,
    stepped,
    two_on_a_floor,
)
from worlds import nodes_of

from solver.job.load import load
from solver.state import State

H = 1 / 96
TIGHT = {"kind": "mixed", "params": {"mixed_iterations": 100, "strain_left": 1e-6, "decrement_left": 1e-11}}


def two_boxes(folder, **scene):
    """A soft box and one five hundred times as stiff fly at each other in the void: part and state."""
    arrays = {}
    bodies = [soft("Left", *box((2, 2, 2), (0.2, 0.2, 0.2)), arrays),
              soft("Right", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.25, 0.06, 0.05)), arrays, modulus=1e7)]
    part = nodes_of(load(contact_job(folder, bodies, [], arrays, gravity=[0.0, 0.0, 0.0], **scene)))
    u = np.zeros((54, 3))
    u[:27], u[27:] = [1.5, 0.1, 0.0], [-0.5, 0.0, 0.2]
    return part, State(0.0, part.initial_state().q, u.ravel())


@pytest.mark.parametrize("integrator", ["backward_euler", "sdirk2"])
def test_momentum_stays_where_they_collide(tmp_path, integrator):
    part, state = two_boxes(tmp_path / "job", integrator={"kind": integrator}, stage_solver=TIGHT)
    keep_momentum_where_they_collide(part, state, H)


def test_converged_they_meet_as_newtons_method_has_it(tmp_path):
    ends = []
    for name, choice in (("newton", {"kind": "newton_d", "params": {"tolerance": 1e-10}}), ("mixed", TIGHT)):
        part, state = two_boxes(tmp_path / name, stage_solver=choice)
        touched = False
        for _ in range(12):
            state = stepped(part, state, H, 1)
            touched |= distance(part, state) < np.inf
        assert touched
        ends.append(part.coordinates.positions(state.q, state.time))
    assert np.abs(ends[1] - ends[0]).max() <= 12 * 1e-6 * 0.1  # of 12 steps, what Strain Left leaves of edges


@pytest.mark.parametrize("integrator", ["backward_euler", "sdirk2"])
def test_two_iterations_let_nothing_through_and_gain_nothing(tmp_path, integrator):
    part, state = two_boxes(tmp_path / "job", integrator={"kind": integrator}, stage_solver={"kind": "mixed"})
    initial_energy = last = energy(part, state)
    for _ in range(20):
        state = stepped(part, state, H, 1)
        last = energy(part, state)
        assert last <= 1.001 * initial_energy
    assert last > 0.2 * initial_energy


def test_what_falls_onto_a_floor_comes_to_lie_there(tmp_path):
    part = nodes_of(load(two_on_a_floor(tmp_path / "job", stage_solver={"kind": "mixed"})))
    state = stepped(part, part.initial_state(), H, 40)
    assert 0.0 < distance(part, state) < 0.01
    assert np.abs(part.velocity(state)).max() < 1.0


def test_a_floor_that_rises_pushes_up(tmp_path):
    """A prescribed node moves into a free one: a guess that stays would be below it."""
    arrays = {}
    vertices, triangles = sheet(2.0, 3)
    rising = vertices + np.linspace(0.0, 0.75, 11)[:, None, None] * np.array([0.0, 0.0, 1.0])
    body = soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.03)), arrays, modulus=1e5)
    job = contact_job(tmp_path / "job", [body], [obstacle("Floor", vertices, triangles, arrays, rising)], arrays,
                      end=6, stage_solver={"kind": "mixed"})
    part = nodes_of(load(job))
    state = part.initial_state()
    for _ in range(16):
        state = stepped(part, state, H, 1)
    assert part.coordinates.positions(state.q, state.time)[:27, 2].min() > 0.15 * 16 / 4 - 1e-9


def test_a_bake_that_goes_on_from_a_snapshot_has_the_same_bytes(tmp_path):
    resumed_alike([two_on_a_floor(tmp_path / name, stage_solver={"kind": "mixed"}, end=9) for name in ("one", "other")])
