"""Animated pins that press their part through something: told with the place, or giving way where they may."""

import numpy as np
import pytest
from small_jobs import change
from touching import box, contact_job, crosses, distance, obstacle, sheet, soft
from worlds import nodes_of

from solver.errors import BadScene, StepFailed
from solver.job.load import load

H = 1 / 96


def pressed(folder, down=0.3, **scene):
    """A block whose lower face is pinned and goes down through a sheet and up again, in half a second each way."""
    arrays = {}
    nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.1))
    pinned = np.flatnonzero(nodes[:, 2] < 0.101)
    times = np.arange(49) / 48
    way = down * np.minimum(1.0 - np.abs(2.0 * times - 1.0), 1.0)
    arrays["motion"] = nodes[pinned] - way[:, None, None] * [0.0, 0.0, 1.0]
    body = soft("Block", nodes, tets, arrays, modulus=3e4, pinned=pinned)
    body["pin"]["node_motion"] = "arrays/motion.npy"
    return contact_job(folder, [body], [obstacle("Table", *sheet(1.0, 3), arrays)], arrays,
                       **{"stage_solver": {"kind": "quick"}, **scene})


def test_hard_pins_are_told_with_the_place(tmp_path):
    part = nodes_of(load(pressed(tmp_path / "job")))
    state = part.initial_state()
    with pytest.raises(StepFailed, match=r"moved by hand has .* near \(") as told:
        for _ in range(48):
            state = part.step(state, H)
    assert "Pins Yield" in told.value.remedy


@pytest.mark.parametrize("method,integrator", [("vanilla", "backward_euler"), ("vanilla", "semi_implicit"),
                                               pytest.param("conjac", "sdirk2", marks=pytest.mark.long)])
def test_yielding_pins_stay_before_what_is_in_their_way_and_come_back(tmp_path, method, integrator):
    job = pressed(tmp_path / "job", method={"kind": method}, integrator={"kind": integrator})
    change(job, "bodies.0.pins_yield", True)
    part = nodes_of(load(job))
    state, pins = part.initial_state(), part.pulls[-1]
    deepest, said = np.inf, len(part.notes)
    for k in range(96):
        state = part.step(state, H)
        x = part.coordinates.place(state.q, state.time)
        assert not crosses(part, state) and distance(part, state) > 0.0
        deepest = min(deepest, float(x[:27, 2].min()))
        if k == 12:  # in the air it goes where it is told, but for a hair
            assert np.abs(x[pins.nodes] - pins.places.at(state.time)).max() < 0.004
    # 20 cm below the table is where they were told to go
    assert 0.0 < deepest < 0.01
    assert np.abs(x[pins.nodes] - pins.places.at(state.time)).max() < 0.01
    begun = [note for note in part.notes[said:] if "give way" in note]
    assert len(begun) == 1 and '"Block"' in begun[0] and "at frame 5" in begun[0] and "near (" in begun[0]
    assert any("gave way by up to 0.2" in sentence for sentence in part.summary)


def test_a_number_is_no_answer(tmp_path):
    job = pressed(tmp_path / "job")
    change(job, "bodies.0.pins_yield", 3)
    with pytest.raises(BadScene, match="pins_yield"):
        load(job)
