"""Two cloths with Sharp Edges that are alike touch each other, both ways."""

from dataclasses import replace

import numpy as np
import pytest
from cloth_jobs import BOX, cloth_body, cloth_job
from sheets import grid

from solver.build.world import build
from solver.job.load import load
from solver.simulate import advance

H, THICK, WIDE, SMALL, DENSITY = 1 / 96, 1e-3, 0.4, 0.15, 0.15


def two(folder, table=False, free=False, gravity=9.81, density=DENSITY, above=0.006, cells=(8, 4), touches=None):
    """A sheet that a frame holds, or a table, and a smaller one above its middle."""
    arrays = {}
    vertices, triangles = grid(cells[0], cells[0], WIDE, WIDE)
    others, faces = grid(cells[1], cells[1], SMALL, SMALL)
    x = np.column_stack([vertices[:, :2] - WIDE / 2, np.full(len(vertices), 1.5 * THICK)])
    rim = {} if table or free else {"pinned": np.flatnonzero(np.abs(x[:, :2]).max(axis=1) > WIDE / 2 - 1e-9)}
    given = {"thickness": THICK, "eulerian": {}, "drag": 0.0, "air_friction": 0.0}
    bodies = [cloth_body("Cloth", x, triangles, arrays, area_density=DENSITY, **given, **rim),
              cloth_body("Napkin", others + [-SMALL / 2, -SMALL / 2, above], faces, arrays, area_density=density,
                         **given)]
    if touches is not None:
        for body in bodies:
            body["touches"] = touches
    arrays["table"], arrays["of_table"] = BOX[0] * [0.15, 0.15, 0.2] + [0, 0, -0.2], BOX[1]
    table_as = [{"name": "Table", "vertices": "arrays/table.npy", "triangles": "arrays/of_table.npy"}] if table else []
    return build(load(cloth_job(folder, bodies, arrays, end=17, contact={}, obstacles=table_as,
                                gravity=[0, 0, -gravity])), lambda *_: None)[0]


def steps(world, count, begun=None):
    """The meshes of both after each step; nothing crosses."""
    state, part = begun or world.initial_state(), world.parts[-1]
    for _ in range(count):
        state = advance(world, state, H, 1)
        cloth = part.cloth(world.parted(state)[-1])
        assert part.steps.pushing.crossing(cloth.mesh, part.steps.things.at(state.time, H)) is None
        yield state, part.apart.sheets(cloth.mesh)


def momentum(mesh):
    corners = mesh.v[mesh.faces] - np.einsum("mij,mkj->mki", mesh.gradients, mesh.slide[mesh.faces])
    return DENSITY / 3.0 * np.einsum("m,mki->i", mesh.areas, corners)


def test_what_falls_on_a_sheet_in_a_frame_is_caught_by_it(tmp_path):
    world = two(tmp_path / "job")
    *_, (_, (held, napkin)) = steps(world, 16)
    # it fell for the first few steps, and would be 13 cm lower
    assert napkin.x[:, 2].min() > held.x[:, 2].min() and napkin.x[:, 2].min() > -0.05
    assert [name for name, _, _ in world.bodies] == ["Cloth", "Napkin"] and len(world.parts) == 1
    np.testing.assert_allclose([held.areas.sum(), napkin.areas.sum()], [WIDE**2, SMALL**2], rtol=1e-9)


def test_two_sheets_that_meet_in_flight_keep_their_momentum(tmp_path):
    world = two(tmp_path / "job", gravity=0.0, free=True, above=0.012)
    part, start = world.parts[-1], world.initial_state()
    mine = world.parted(start)[0]
    v = np.zeros_like(mine.memory["v"])
    v[part.apart.sheet_of(mine.memory["material"]) == 1] = [0.0, 0.0, -1.0]
    begun = world.joined([replace(mine, memory={**mine.memory, "v": v})], start)
    moving = -DENSITY * SMALL**2
    for _, both in steps(world, 4, begun):
        one, other = (momentum(mesh) for mesh in both)
        np.testing.assert_allclose(one + other, [0.0, 0.0, moving], atol=2e-3 * abs(moving))
    assert one[2] < 0.2 * moving and other[2] > 0.8 * moving


def test_two_that_are_not_alike_pass_and_the_log_says_so(tmp_path):
    world = two(tmp_path / "job", density=0.3)
    assert len(world.parts) == 2 and any("It passes through" in note for note in world.notes)
    assert len(two(tmp_path / "apart", touches=[]).parts) == 2


@pytest.mark.long
def test_one_lies_on_the_other_on_a_table(tmp_path):
    world = two(tmp_path / "job", table=True, cells=(10, 6))
    *_, (_, (_, napkin)) = steps(world, 36)
    assert (napkin.x[:, 2] > THICK).all() and (napkin.x[:, 2] < 3.0 * THICK).all()
    assert np.abs(napkin.v).max() < 0.05
