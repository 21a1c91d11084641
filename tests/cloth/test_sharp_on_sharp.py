"""Two cloths with Sharp Edges touch each other, both ways, whatever each is made of."""

from dataclasses import replace

import numpy as np
import pytest
from cloth_jobs import BOX, bending, cloth_body, cloth_job, membrane
from sheets import grid

from solver.build.world import build
from solver.job.load import load
from solver.parts.eol.eol_elements import Assembler
from solver.simulate import advance

H, THICK, WIDE, SMALL, DENSITY = 1 / 96, 1e-3, 0.4, 0.15, 0.15
#: a napkin of felt: all that a cloth may say is other than the sheet below says it
REACTION = {"area_density": 0.4, "membrane": membrane(4000.0, 1500.0, 0.2), "bending": bending(1e-4),
            "drag": 1.0, "thickness": 2.0 * THICK,
            "eulerian": {"finest": 0.01, "coarsest": 0.02, "friction": 0.4, "capstan": True, "exact": True,
                         "angle": 0.4},
            "laws": {"friction": 0.8, "damping": {"kind": "rayleigh", "params": {"stiffness_damping": 2e-3,
                                                                               "mass_damping": 0.3}}}}


def two(folder, table=False, free=False, gravity=9.81, above=0.006, cells=(8, 4), touches=None, napkin=None):
    """A sheet that a frame holds, or a table, and a smaller one above its middle. napkin: how that is different.
    touches: of both."""
    arrays = {}
    vertices, triangles = grid(cells[0], cells[0], WIDE, WIDE)
    others, faces = grid(cells[1], cells[1], SMALL, SMALL)
    x = np.column_stack([vertices[:, :2] - WIDE / 2, np.full(len(vertices), 1.5 * THICK)])
    rim = {} if table or free else {"pinned": np.flatnonzero(np.abs(x[:, :2]).max(axis=1) > WIDE / 2 - 1e-9)}
    given = {"thickness": THICK, "eulerian": {}, "drag": 0.0, "air_friction": 0.0, "area_density": DENSITY}
    bodies = [cloth_body("Cloth", x, triangles, arrays, **given, **rim),
              cloth_body("Napkin", others + [-SMALL / 2, -SMALL / 2, above], faces, arrays,
                         **{**given, **(napkin or {})})]
    for body, touched in zip(bodies, touches or (None, None)):
        if touched is not None:
            body["touches"] = touched
    arrays["table"], arrays["of_table"] = BOX[0] * [0.15, 0.15, 0.2] + [0, 0, -0.2], BOX[1]
    table_as = [{"name": "Table", "vertices": "arrays/table.npy", "triangles": "arrays/of_table.npy"}] if table else []
    return build(load(cloth_job(folder, bodies, arrays, end=17, contact={}, obstacles=table_as,
                                gravity=[0, 0, -gravity])), lambda *_: None)[0]


def steps(world, count, first_state=None):
    """The meshes of both after each step; nothing crosses."""
    state, part = first_state or world.initial_state(), world.parts[-1]
    for _ in range(count):
        state = advance(world, state, H, 1)
        cloth = part.cloth(world.split_state(state)[-1])
        assert part.steps.contact.intersecting_pair(cloth.mesh, part.steps.obstacles.at(state.time, H)) is None
        yield state, part.offsets.sheets(cloth.mesh)


def momentum(mesh, density=DENSITY):
    corners = mesh.v[mesh.faces] - np.einsum("mij,mkj->mki", mesh.gradients, mesh.slide[mesh.faces])
    return density / 3.0 * np.einsum("m,mki->i", mesh.areas, corners)


def test_what_falls_on_a_sheet_in_a_frame_is_caught_by_it(tmp_path):
    world = two(tmp_path / "job")
    *_, (_, (pinned_sheet, napkin)) = steps(world, 16)
    # it fell for the first few steps, and would be 13 cm lower
    assert napkin.x[:, 2].min() > pinned_sheet.x[:, 2].min() and napkin.x[:, 2].min() > -0.05
    assert [name for name, _, _ in world.bodies] == ["Cloth", "Napkin"] and len(world.parts) == 1
    np.testing.assert_allclose([pinned_sheet.areas.sum(), napkin.areas.sum()], [WIDE**2, SMALL**2], rtol=1e-9)


def test_two_sheets_that_meet_in_flight_keep_their_momentum(tmp_path):
    world = two(tmp_path / "job", gravity=0.0, free=True, above=0.012)
    part, start = world.parts[-1], world.initial_state()
    mine = world.split_state(start)[0]
    v = np.zeros_like(mine.memory["v"])
    v[part.offsets.sheet_of(mine.memory["material"]) == 1] = [0.0, 0.0, -1.0]
    first_state = world.merge_states([replace(mine, memory={**mine.memory, "v": v})], start)
    moving = -DENSITY * SMALL**2
    for _, both in steps(world, 4, first_state):
        one, other = (momentum(mesh) for mesh in both)
        np.testing.assert_allclose(one + other, [0.0, 0.0, moving], atol=2e-3 * abs(moving))
    assert one[2] < 0.2 * moving and other[2] > 0.8 * moving


def test_unlike_sheets_that_meet_in_flight_keep_their_momentum(tmp_path):
    """Felt that comes onto cotton; in no air."""
    world = two(tmp_path / "job", gravity=0.0, free=True, above=0.012, napkin={**REACTION, "drag": 0.0, "laws": {}})
    part, start = world.parts[-1], world.initial_state()
    mine = world.split_state(start)[0]
    v = np.zeros_like(mine.memory["v"])
    v[part.offsets.sheet_of(mine.memory["material"]) == 1] = [0.0, 0.0, -1.0]
    first_state = world.merge_states([replace(mine, memory={**mine.memory, "v": v})], start)
    moving = -REACTION["area_density"] * SMALL**2
    for _, both in steps(world, 4, first_state):
        one, other = (momentum(mesh, density) for mesh, density in zip(both, (DENSITY, REACTION["area_density"])))
        np.testing.assert_allclose(one + other, [0.0, 0.0, moving], atol=2e-3 * abs(moving))
    assert one[2] < 0.1 * moving and other[2] > 0.9 * moving


def test_each_sheet_weighs_and_resists_as_it_does_alone(tmp_path):
    """The matrix and the right side of both in one are those of either."""
    world = two(tmp_path / "job", napkin=REACTION)
    part, state = world.parts[-1], world.initial_state()
    mesh = part.cloth(world.split_state(state)[-1]).mesh
    rng = np.random.default_rng(3)
    at = rng.choice(len(mesh.x), 12, replace=False)
    on, slide = mesh.on.copy(), np.zeros_like(mesh.slide)
    on[at], slide[at] = 0, rng.normal(size=(12, 2))
    mesh = mesh.replace(x=mesh.x + 2e-3 * rng.normal(size=mesh.x.shape), v=rng.normal(size=mesh.v.shape), on=on,
                        slide=slide)
    own = part.offsets.sheet_of(mesh.material)
    whole = part.steps._solving.assembler.assemble(mesh, H)
    A, b = whole.matrix.toarray(), whole.rhs
    of_rate = np.repeat(own, np.diff(whole.unknowns.first))
    assert not A[np.ix_(of_rate == 0, of_rate == 1)].any() and not A[np.ix_(of_rate == 1, of_rate == 0)].any()
    for k, (fabric, sheet) in enumerate(zip(part.steps.sheet_properties, part.offsets.sheets(mesh))):
        alone = Assembler([fabric], part.steps.gravity, part.steps.air).assemble(sheet, H)
        mine = of_rate == k
        np.testing.assert_allclose(A[np.ix_(mine, mine)], alone.matrix.toarray(), atol=1e-12 * np.abs(A).max())
        np.testing.assert_allclose(b[mine], alone.rhs, atol=1e-12 * np.abs(b).max())
    assert part.steps.sheet_properties[0].drag == 0.0 and part.steps.air is not None


def test_each_sheet_has_its_own_edges_and_rubs_as_it_says(tmp_path):
    """Cloths at one place take the more careful setting of both, and the log names it."""
    world = two(tmp_path / "job", table=True, cells=(6, 6), napkin=REACTION)
    part, = world.parts
    things = part.steps.obstacles
    usual = things.friction[0, 0]
    np.testing.assert_allclose(things.friction, np.tile([usual, np.sqrt(0.8 * usual)], (len(things.triangles), 1)))
    np.testing.assert_allclose(things.each[0].sharp_friction, [usual, 0.4])
    assert [properties.friction is None for properties in part.steps.sheet_properties] == [True, False]
    assert part.steps.limits.thickness == 2.0 * THICK and part.steps.contact is not None
    touched = " ".join(world.notes)
    assert '"Cloth": Thickness counts as 2 mm' in touched and '"Cloth": Feature Angle counts as 22.9 degrees' in touched
    *_, (_, (sheet, napkin)) = steps(world, 2)
    longest = [np.linalg.norm(np.diff(mesh.material[mesh.edges], axis=1), axis=2).max() for mesh in (sheet, napkin)]
    assert 0.06 < longest[0] < 0.11 and longest[1] < 0.02 * 1.001


def test_two_that_touch_not_the_same_pass_and_the_log_says_so(tmp_path):
    one = two(tmp_path / "job", table=True, touches=(["Cloth", "Napkin", "Table"], ["Cloth", "Napkin"]))
    assert len(one.parts) == 2 and any("It passes through" in note for note in one.notes)
    assert len(two(tmp_path / "apart", touches=([], [])).parts) == 2


@pytest.mark.long
@pytest.mark.parametrize("like", [{}, REACTION])
def test_one_lies_on_the_other_on_a_table(tmp_path, like):
    world = two(tmp_path / "job", table=True, cells=(10, 6), napkin=like)
    *_, (_, (_, napkin)) = steps(world, 36)
    thick = world.parts[0].steps.limits.thickness
    assert (napkin.x[:, 2] > thick).all() and (napkin.x[:, 2] < 3.0 * thick).all()
    assert np.abs(napkin.v).max() < 0.05
