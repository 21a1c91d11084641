"""Contact laws that keep gaps open by constraints: their guarantees, failures of linearised gaps, and unsupported
cases."""

import numpy as np
import pytest
from matrix import some
from small_jobs import change
from test_embedded import skinned
from touching import (
    box,
    contact_job,
    distance,
    energy,
    keep_momentum_where_they_collide,
    obstacle,
    sheet,
    soft,
    stepped,
    two_on_a_floor,
)
from worlds import nodes_of

from benchmarks.scenes.past_an_edge import SECONDS, SPEED, edge, flown
from solver import catalogue
from solver.contact.laws.gap import GapBounds
from solver.errors import BadScene
from solver.job.load import load
from solver.state import State

H = 1 / 96
LAWS = [key for key, entry in catalogue.menu("contact").items() if entry.able("constraints")]
TO_THE_END = {"kind": "newton_d", "params": {"tolerance": 1e-11}}


@pytest.mark.parametrize("law", some(LAWS, "gap"))
@pytest.mark.parametrize("integrator,solver", some([("backward_euler", "newton_d"), ("sdirk2", "quick"),
                                                    ("bdf2", "newton_d"), ("semi_implicit", "quick")],
                                                   ("backward_euler", "newton_d")))
def test_gaps_stay_open(tmp_path, law, integrator, solver):
    job = two_on_a_floor(tmp_path / "job", contact={"law": {"kind": law}}, integrator={"kind": integrator},
                         stage_solver={"kind": solver})
    part = nodes_of(load(job))
    state, nearest, before = part.initial_state(), np.inf, np.inf
    for _ in range(16):
        state = stepped(part, state, H, 1)
        nearest = min(nearest, distance(part, state))
        # stages of SDIRK2 push differently, which is not in the energy
        assert energy(part, state) <= before + (1e-3 if integrator == "backward_euler" else 0.1)
        before = energy(part, state)
    gap = GapBounds.open_fraction * part.contacts[0].activation
    assert 0.95 * gap < nearest < 1.001 * gap
    assert part.coordinates.positions(state.q, state.time)[:27, 2].min() < 2.0 * gap


@pytest.mark.parametrize("law", some(LAWS, "gap"))
def test_contact_forces_are_those_that_hold_gaps(tmp_path, law):
    """In a step of Euler the floor gives what a falling box gains less than by its weight."""
    arrays = {}
    bodies = [soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.01)), arrays, modulus=2e4)]
    job = contact_job(tmp_path / "job", bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays,
                      contact={"law": {"kind": law}}, stage_solver=TO_THE_END)
    part = nodes_of(load(job))
    state, pushed = part.initial_state(), 0
    for _ in range(12):
        before = part.mass @ part.velocity(state)
        state = part.step(state, H)
        gained = (part.mass @ part.velocity(state) - before) / H - part.mass.sum() * part.gravity
        rows = part.contact_forces(state)
        # a floor stands as the first side of an edge, and as the second of a corner
        up = np.abs(rows[:, 5]).sum()
        assert up == pytest.approx(gained[2], rel=1e-6, abs=1e-5)
        pushed += up > 0.0
    assert pushed >= 4
    elsewhere = part.coordinates.positions(state.q, state.time) + [0.0, 0.0, 0.01]
    assert len(part.contact_forces_at(elsewhere)) == 0


@pytest.mark.parametrize("law", some(LAWS, "gap"))
def test_momentum_stays_where_free_bodies_collide(tmp_path, law):
    arrays = {}
    bodies = [soft("Left", *box((2, 2, 2), (0.2, 0.2, 0.2)), arrays),
              soft("Right", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.25, 0.06, 0.05)), arrays, modulus=5e4)]
    job = contact_job(tmp_path / "job", bodies, [], arrays, gravity=[0.0, 0.0, 0.0], contact={"law": {"kind": law}},
                      stage_solver=TO_THE_END)
    part = nodes_of(load(job))
    u = np.zeros((54, 3))
    u[:27], u[27:] = [1.5, 0.1, 0.0], [-0.5, 0.0, 0.2]
    keep_momentum_where_they_collide(part, State(0.0, part.initial_state().q, u.ravel()), H)


@pytest.mark.parametrize("law", some(LAWS, "gap"))
def test_what_is_moved_pushes_and_lifts(tmp_path, law):
    """A plate comes up at 2 m/s, 2 cm a step, under a box whose mesh rides in its tetrahedra."""
    arrays = {}
    bodies = [skinned("Jelly", [0.0, 0.0, 0.01], arrays, touches_by_mesh=True)]
    vertices, triangles = sheet(1.0, 3)
    rise = np.minimum(2.0 * np.arange(49) / 48, 0.3)
    motion = vertices + rise[:, None, None] * np.array([0.0, 0.0, 1.0])
    job = contact_job(tmp_path / "job", bodies, [obstacle("Plate", vertices, triangles, arrays, motion)], arrays,
                      contact={"law": {"kind": law}}, stage_solver={"kind": "quick"})
    part = nodes_of(load(job))
    state = part.initial_state()
    for _ in range(30):
        state = part.step(state, H)
    assert part.output(state, 1)[:, 2].min() > 0.3


@pytest.mark.parametrize("law,step,off", [
    ("barrier", SECONDS, 0.0), ("gap", SECONDS, 0.0), ("gap", SECONDS / 8, 0.0),
    ("gap_velocity", SECONDS, SPEED * SECONDS)])
def test_only_gaps_linear_at_the_start_hold_up_what_flies_past_an_edge(law, step, off):
    """Figure 7: nothing is in its way, and still it is where it began, as far as a large step goes."""
    there = edge(*flown(law, step))
    assert there[2] == pytest.approx(off, abs=1e-6)
    assert (np.abs(there[:2]) < 1e-6).all() == (off == 0.0)


def test_that_falls_with_the_step():
    rises = [edge(*flown("gap_velocity", SECONDS / steps))[2] for steps in (1, 2, 8)]
    assert rises[0] > 1.4 * rises[1] > 1.4 * 2.0 * rises[2] > 0.0


@pytest.mark.parametrize("field,value,message", [
    ("method", {"kind": "conjac"}, '"Jelly" has ConJac'),
    ("contact.law", {"kind": "gap", "params": {"push_apart": 1.0}}, 'has no parameter "push_apart"')])
def test_what_it_does_not_support_is_refused(tmp_path, field, value, message):
    job = two_on_a_floor(tmp_path / "job", contact={"law": {"kind": "gap"}})
    change(job, field, value)
    with pytest.raises(BadScene, match=message):
        load(job)


def test_friction_is_reported_to_have_no_effect(tmp_path):
    job = two_on_a_floor(tmp_path / "job", contact={"law": {"kind": "gap"}})
    assert not [note for note in nodes_of(load(job)).notes if "without friction" in note]
    change(job, "bodies.0.friction", 0.5)
    assert [note for note in nodes_of(load(job)).notes if note.startswith("Gap Constraints") and "without" in note]
