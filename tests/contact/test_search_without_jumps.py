"""A line search whose end depends on its direction without jumps: copies that differ in the last digits part slowly."""

import numpy as np
import pytest
from touching import box, contact_job, obstacle, sheet, soft
from worlds import nodes_of

from solver.job.load import load
from solver.nonlinear.bounded_search import BoundedSearch

NEW = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}}


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """Searches, evaluations and directions of the last iterations of friction where a thrown block lands and slides."""
    arrays = {}
    block = soft("Block", *box((3, 3, 2), (0.15, 0.15, 0.1), (0.0, 0.0, 0.004)), arrays, friction=0.5)
    floor = obstacle("Floor", *sheet(4.0), arrays, friction=0.5)
    part = nodes_of(load(contact_job(tmp_path / "job", [block], [floor], arrays, step=1 / 48, **NEW)))
    found, search = [], BoundedSearch.search_without_jumps

    def noted(searching, at, direction):
        found.append((searching, at, direction))
        return search(searching, at, direction)

    monkeypatch.setattr(BoundedSearch, "search_without_jumps", noted)
    state = part.initial_state()
    u = state.u.reshape(-1, 3) + [1.0, 0.0, -0.5]
    part.step(type(state)(0.0, state.q, u.ravel()), 1 / 96)
    return found


def jump_of(search, at, direction):
    """The largest jump of a search's end as its direction grows, as a share of that direction."""
    ends = [(search(at, share * direction) - at.unknowns) @ direction for share in np.linspace(0.5, 4.0, 36)]
    return float(np.abs(np.diff(ends)).max() / (direction @ direction))


def test_its_end_changes_with_the_direction_without_jumps(searched):
    """As a direction grows the end of a search by halves jumps back by half of the way; this one's goes on."""
    stages = searched[:3]
    halved = [jump_of(lambda at, way, searching=searching: searching.search(at, way)[0].unknowns, at, direction)
              for searching, at, direction in stages]
    assert max(halved) >= 0.3, "halves jump on these directions, so that this shows something"
    for searching, at, direction in stages:
        assert jump_of(lambda at, way, searching=searching: searching.search_without_jumps(at, way).unknowns,
                       at, direction) <= 0.15


def test_it_lowers_the_merit(searched):
    for searching, at, direction in searched[:6]:
        for share in (1.0, 3.0):
            assert searching.search_without_jumps(at, share * direction).merit <= at.merit
