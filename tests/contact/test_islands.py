"""Bodies that do not touch each other are solved apart, and move as if all had been solved at once."""

import numpy as np
import pytest
from touching import box, contact_job, crosses, distance, obstacle, sheet, soft
from worlds import nodes_of

from solver.integrators.bdf2 import BDF2
from solver.job.load import load

H = 1 / 48


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    """However few nodes there are."""
    monkeypatch.setattr("solver.world.stage_methods.LEAST_NODES", 0)


def scene(folder, places, strain_left=1e-5, **more):
    """Boxes of 10 cm, their least corners at these places [m], above a sheet."""
    arrays = {}
    bodies = [soft(f"Box{k}", *box(at=at), arrays, modulus=5e4) for k, at in enumerate(places)]
    job = contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays, step=H,
                      integrator={"kind": "sdirk2"},
                      stage_solver={"kind": "quick", "params": {"strain_left": strain_left, "tries": 32}}, **more)
    return nodes_of(load(job))


def ended(part, steps, speed=-1.0):
    """The state after so many steps of boxes that fall, in none of which anything meets."""
    state = part.initial_state()
    state.u.reshape(-1, 3)[:, 2] = speed
    for _ in range(steps):
        state = part.step(state, H)
        assert distance(part, state) > 0.0 and not crosses(part, state)
    return state


#: one that lands, three that fly on, two that land on each other
PLACES = [(0.0, 0.0, 0.02), (0.4, 0.0, 0.6), (0.4, 0.4, 0.6), (0.0, 0.4, 0.6), (-0.5, 0.0, 0.012), (-0.48, 0.02, 0.13)]


def test_they_move_as_if_all_were_solved_at_once(tmp_path):
    """In a step: what lands on a corner goes one way or the other after it, by where its stages were begun."""
    apart, whole = scene(tmp_path / "apart", PLACES), scene(tmp_path / "whole", PLACES)
    whole.stage_method.__dict__["_islands"] = None
    ends = [ended(part, 1) for part in (apart, whole)]
    assert ends[0].q == pytest.approx(ends[1].q, abs=2e-5)
    assert not apart.summary and not whole.summary  # no stage was given up
    assert apart.stage_method.island_factorizations > 0.0 == whole.stage_method.island_factorizations
    # what flies needs no factor, what lands no other one's
    assert apart.factored < 0.8 * whole.factored


def test_factors_of_islands_are_counted_for_all_who_share_the_bodies(tmp_path):
    """A copy with another integrator solves them by the first part's stage method."""
    part = scene(tmp_path / "job", PLACES)
    other = part.with_integrator(BDF2({}), None)
    ended(other, 1)
    assert other.factored == part.factored == part.linear.factored + part.stage_method.island_factorizations
    assert part.stage_method.island_factorizations > 0.0


#: the lower one of two so near the floor that it is thrown up against the other within a step; four that fly on
THROWN = [(0.0, 0.0, 0.004), (0.01, 0.01, 0.13), *((x, y, 0.6) for x in (-0.5, 0.5) for y in (-0.5, 0.5))]


def landed_in(part, steps):
    """The groups that land in so many steps, and the state then."""
    islands, groups = part.stage_method._islands, []
    landed = islands._solve_group
    islands._solve_group = lambda *given: groups.append(given[3]) or landed(*given)
    return groups, ended(part, steps)


def test_what_flies_into_another_joins_it(tmp_path, monkeypatch):
    """The meeting was not predicted."""
    monkeypatch.setattr("solver.world.islands.Islands.near_factor", 1.0)
    part = scene(tmp_path / "job", THROWN, 1e-3)
    groups, state = landed_in(part, 6)
    x = part.coordinates.positions(state.q, state.time)
    assert [0] in groups and [0, 1] in groups
    assert x[27:54, 2].mean() > x[:27, 2].mean() + 0.05


def test_who_is_near_what_lands_lands_with_it(tmp_path):
    """No body is solved alone before, which would be wasted."""
    part, whole = scene(tmp_path / "job", THROWN), scene(tmp_path / "whole", THROWN)
    whole.stage_method.__dict__["_islands"] = None
    groups, state = landed_in(part, 2)
    assert groups == [[0], [0], [0, 1], [0, 1]]  # two stages a step
    assert state.q == pytest.approx(ended(whole, 2).q, abs=3e-3)  # a corner that lands says much of where all goes


@pytest.mark.parametrize("places", [PLACES, [*PLACES[:2], *PLACES[4:]]])
def test_a_run_that_goes_on_gives_the_same_bytes(tmp_path, places):
    """Most of the four touch and are solved at once, with a matrix of all; then what flies asks for another one."""
    part = scene(tmp_path / "job", places, 1e-3)
    state = ended(part, 3)
    part.forget_past()
    other = scene(tmp_path / "other", places, 1e-3)
    for _ in range(2):
        state, again = part.step(state, H), other.step(state, H)
        assert np.array_equal(state.q, again.q) and np.array_equal(state.u, again.u)
