"""Meshes as artists have them: faces twice, sheets that lie in each other, parts that go through each other."""

import numpy as np
import pytest
from matrix import some
from touching import box, contact_job, crosses, distance, hollow, obstacle, sheet, soft
from worlds import nodes_of

from solver.job.load import load

H = 1 / 96


def both(one, other):
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1] + np.int32(len(one[0]))])


def plain(arrays):
    return [obstacle("Floor", *sheet(1.0, 3), arrays)]


def faces_twice(arrays):
    vertices, triangles = sheet(1.0, 3)
    return [obstacle("Floor", vertices, np.concatenate([triangles, triangles, triangles[:, ::-1]]), arrays)]


def vertices_twice(arrays):
    return [obstacle("Floor", *both(sheet(1.0, 3), sheet(1.0, 3)), arrays)]


def sheets_in_each_other(arrays):
    return [obstacle("Floor", *sheet(1.0, 3), arrays), obstacle("Rug", *sheet(0.7, 2), arrays)]


def crosses_itself(arrays):
    return [obstacle("Rocks", *both(hollow(0.3, (-0.25, -0.15, -0.3)), hollow(0.3, (-0.1, -0.2, -0.31))), arrays)]


@pytest.mark.parametrize("made", some([faces_twice, vertices_twice, sheets_in_each_other, crosses_itself],
                                      vertices_twice, crosses_itself))
def test_a_box_lands_on_it_as_on_any_other(tmp_path, made):
    """It comes to rest where it does on a plain sheet, and goes through nothing on the way."""
    rests = []
    for floor in (plain, made):
        arrays = {}
        body = soft("Box", *box((2, 2, 2), (0.1, 0.1, 0.1), (-0.05, -0.05, 0.02)), arrays, modulus=5e4,
                    damping={"kind": "rayleigh", "params": {"stiffness_damping": 0.01}})
        law = {"kind": "barrier", "params": {"distance": 0.004, "friction_coefficient": 0.4}}
        part = nodes_of(load(contact_job(tmp_path / floor.__name__, [body], floor(arrays), arrays,
                                         contact={"law": law}, stage_solver={"kind": "quick"})))
        state, pushed = part.initial_state(), False
        for _ in range(48):
            state = part.step(state, H)
            assert not crosses(part, state)
            pushed |= distance(part, state) < np.inf
        assert pushed
        x = part.coordinates.positions(state.q, state.time)[:27]
        rests.append([x[:, 2].min(), x[:, 2].max()])
    assert 0.0 < rests[1][0] < 0.004
    assert rests[1] == pytest.approx(rests[0], abs=1e-3)
