"""Bodies that start near something: they stay where the artist put them."""

import numpy as np
import pytest
from touching import box, contact_job, obstacle, sheet, soft
from worlds import nodes_of

from solver.job.load import load

H = 1 / 96


def speeds(part, steps):
    """Return the speeds of each body's mean [m/s], after some steps from rest."""
    state = part.initial_state()
    for _ in range(steps):
        state = part.step(state, H)
    v = part.velocity(state)
    return [float(np.linalg.norm(part.mass[body.nodes] @ v[body.nodes] / part.mass[body.nodes].sum()))
            for body in part.bodies_in_world]


def near_blocks(folder, gap, cells, **scene):
    """Two blocks of 20 cm over each other, and an obstacle below them."""
    arrays = {}
    bodies = [soft(name, *box((cells,) * 3, (0.2,) * 3, (-0.1, -0.1, low)), arrays, modulus=1e5)
              for name, low in (("Lower", 0.0), ("Upper", 0.2 + gap))]
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(z=-gap), arrays)], arrays, gravity=[0.0, 0.0, 0.0],
                       stage_solver={"kind": "quick"}, **scene)


@pytest.mark.parametrize("integrator", ["backward_euler", "sdirk2"])
@pytest.mark.parametrize("cells", [1, 3])
def test_blocks_that_start_a_millimetre_apart_are_not_thrown(tmp_path, cells, integrator):
    part = nodes_of(load(near_blocks(tmp_path / "job", 1e-3, cells, integrator={"kind": integrator})))
    assert max(speeds(part, 6)) < 1e-12


def test_what_starts_at_a_hair_is_hardly_thrown(tmp_path):
    """A tenth of a millimetre between cells of 7 cm: they part at a centimetre a second."""
    part = nodes_of(load(near_blocks(tmp_path / "job", 1e-4, 3, integrator={"kind": "sdirk2"})))
    assert max(speeds(part, 12)) < 0.01


def test_others_keep_their_distance_where_two_start_near(tmp_path):
    """Only these two come nearer to each other than the rest do."""
    job = near_blocks(tmp_path / "job", 1e-3, 3)
    near, far = (nodes_of(load(folder)).contacts[0] for folder in (job, near_blocks(tmp_path / "far", 0.5, 3)))
    assert near.activation == far.activation > 5e-3
    x = nodes_of(load(job)).rest.copy()
    upper = slice(64, 128)
    x[upper, 2] -= 6e-4
    found = near.find_active_pairs(x)
    assert len(found.nodes) and (found.activation == pytest.approx(5e-4))


def test_a_distance_that_is_given_is_the_distance(tmp_path):
    contact = {"law": {"kind": "barrier", "params": {"distance": 0.004}}}
    law = nodes_of(load(near_blocks(tmp_path / "job", 1e-3, 3, contact=contact))).contacts[0]
    found = law.find_active_pairs(law._rest)
    assert len(found.nodes) and np.all(found.activation == 0.004)
