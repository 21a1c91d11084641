"""Colliders that stand on the ground penetrate it, and push objects on it along."""

import numpy as np
import pytest
from touching import box, contact_job, crosses, hollow, obstacle, sheet, soft
from worlds import nodes_of

from solver.build.supported import Support, SupportedBody
from solver.contact.find.ground import Ground
from solver.coordinates.prescribed import Motion
from solver.job.load import load

DEEP = Support(Ground(np.zeros(3), np.array([0.0, 0.0, 1.0])), 0.1)
GROUND = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": 1000.0, "stiffness_per_area": 3.27e7}


def ramp():
    """A wedge whose upper face comes down to the ground."""
    corners = np.array([(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 0, 0.5), (1, 1, 0.5)], float)
    quads = [(0, 1, 3, 2), (0, 4, 5, 1), (2, 3, 5, 4)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))] + [(0, 2, 4), (1, 5, 3)]
    return corners, np.array(faces, np.int32)


@pytest.mark.parametrize(("made", "goes_on"), [
    (hollow(1.0, (0, 0, 0)), 4),  # its lower corners
    (hollow(1.0, (0, 0, 0.004)), 4),  # hardly above the ground
    (hollow(1.0, (0, 0, 0.006)), 0),  # above it
    (hollow(1.0, (0, 0, -0.5)), 0),  # deep in it
    (hollow((1.0, 1.0, 0.003), (0, 0, 0)), 4),  # a tile: its upper face stays where it is seen
    (sheet(1.0, 3), 0),  # what one stands on
    (ramp(), 2),  # the corners below its upper edge, not those of the lower one
], ids=["box", "hovers", "above", "deep", "tile", "sheet", "ramp"])
def test_walls_go_on_below_the_ground_and_what_is_stood_upon_stays(made, goes_on):
    places, triangles = made
    deep = DEEP.extend_below(places, triangles)
    moved = np.flatnonzero((deep != places).any(1))
    assert len(moved) == goes_on
    assert (deep[moved, :2] == places[moved, :2]).all()
    assert (deep[moved, 2] < places[moved, 2]).all()
    assert (deep[:, 2] >= min(-0.1, places[:, 2].min())).all()


def test_a_collider_that_comes_down_goes_on_without_a_jump():
    """Its velocity is the slope of its places, on its way to the ground and into it."""
    places, triangles = hollow(1.0, (0, 0, 0.02))
    fall = np.linspace(0.0, -0.035, 13)[:, None] * np.array([0.3, 0.0, 1.0])
    standing = SupportedBody(Motion(places + fall[:, None], 1 / 48), triangles, DEEP)
    for time in np.linspace(0.01, 0.24, 47):
        slope = (standing.at(time + 1e-7) - standing.at(time - 1e-7)) / 2e-7
        assert np.abs(standing.velocity(time) - slope).max() < 1e-5
    lowest = np.array([standing.at(time)[:, 2].min() for time in np.linspace(0.0, 0.25, 2000)])
    assert (np.diff(lowest) <= 1e-12).all()
    assert np.diff(lowest).min() > -6e-4


@pytest.mark.parametrize(("sunk", "speed", "friction"), [(0.002, 2.0, 0.5), (0.0003, 4.0, 1.0)])
def test_a_wall_that_sweeps_the_ground_takes_a_soft_box_along(tmp_path, sunk, speed, friction):
    """Nothing goes through it, though the ground's friction holds the box back, no node gets under it, which would be
    held there for good and draw out the box fourteen times, and no edge is drawn out."""
    arrays = {}
    nodes, tets = box((3, 3, 3), (0.1, 0.1, 0.1), (0.0, -0.05, -sunk))
    wall, faces = hollow((0.05, 0.3, 0.15), (-0.08, -0.15, 0.0))
    way = np.minimum(np.arange(13) / 48 * speed, 0.5)[:, None, None] * np.array([1.0, 0.0, 0.0])
    ground = GROUND | {"friction": {"kind": "coulomb", "params": {"friction_coefficient": friction}}}
    job = contact_job(tmp_path / "job", [soft("Box", nodes, tets, arrays)],
                      [obstacle("Wall", wall, faces, arrays, wall + way)], arrays, end=7, ground=ground,
                      contact={"law": {"kind": "barrier", "params": {"friction_coefficient": 0.5}}},
                      integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"})
    part = nodes_of(load(job))
    edges = np.unique(np.sort(tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1), axis=0)
    rest = np.linalg.norm(nodes[edges[:, 0]] - nodes[edges[:, 1]], axis=1)
    state = part.initial_state()
    for k in range(24):
        state = part.step(state, 1 / 96)
        x = part.coordinates.positions(state.q, state.time)[:len(nodes)]
        assert not crosses(part, state)
        assert x[:, 0].min() > -0.03 + min(speed * (k + 1) / 96, 0.5)
        assert (np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) < 3.0 * rest).all()
