"""Cloth that touches: itself, obstacles, soft bodies. After every step nothing has gone through anything."""

import numpy as np
import pytest
from cloth_jobs import BOX, Quiet, cloth_body, cloth_job, obstacle, part_of, places
from sheets import grid
from small_jobs import box_tets

from solver.errors import BadScene
from solver.frames.read import Cache
from solver.simulate import bake


def crosses(part, state):
    return part.contacts[0].surfaces.intersection(places(part, state)) is not None


def stepped(part, state, h, count):
    for _ in range(count):
        state = part.step(state, h)
        assert not crosses(part, state)
    return state


def on_a_box(folder, cells=12, *, end=25, friction=0.4, solver="newton_d", **cloth):
    """A square of 0.4 m that falls onto a box of 0.2 m."""
    vertices, triangles = grid(cells, cells, 0.4, 0.4)
    arrays = {}
    body = cloth_body("Cloth", vertices - [0.2, 0.2, -0.02], triangles, arrays, **cloth)
    box = obstacle("Box", BOX[0] * [0.1, 0.1, 0.1] - [0, 0, 0.1], BOX[1], arrays)
    law = {"kind": "barrier", "params": {"friction_coefficient": friction}}
    return cloth_job(folder, [body], arrays, end=end, obstacles=[box], contact={"law": law},
                     stage_solver={"kind": solver})


@pytest.mark.long
@pytest.mark.parametrize("solver", ["newton_d", "newton_visible", "mixed"])
def test_a_tablecloth_hangs_over_a_box(tmp_path, solver):
    part = part_of(on_a_box(tmp_path / "job", solver=solver))
    state = stepped(part, part.initial_state(), 1 / 96, 72)
    x = places(part, state)[: 13 * 13]
    above = (np.abs(x[:, :2]) < 0.09).all(axis=1)
    # it lies on the box, a little less than its thickness above it, and its rim hangs down
    assert x[above, 2].min() > 0.0 and x[above, 2].max() < 5e-3
    assert part.contacts[0].activation == pytest.approx(1e-3)
    assert x[:, 2].min() < -0.04
    assert above.sum() >= 16


def test_cloth_that_is_split_along_a_seam_is_refused_with_how_to_join_it(tmp_path):
    """As imported clothes are: corners of both sides lie on each other, so it seems to go through itself there."""
    vertices, triangles = grid(4, 4, 0.4, 0.4)
    split, right = [], (vertices[triangles].mean(axis=1)[:, 0] > 0.2) | (vertices[triangles].mean(axis=1)[:, 1] > 0.2)
    for each in (~right, right):
        used, faces = np.unique(triangles[each], return_inverse=True)
        split.append((vertices[used] + [0, 0, 1.0], faces.reshape(-1, 3)))
    seam = np.concatenate([split[0][0], split[1][0]])
    faces = np.concatenate([split[0][1], split[1][1] + len(split[0][0])])
    shifted = np.concatenate([split[0][0] + [0.05, 0.03, 0], split[1][0]])
    for corners, advice in ((seam, "Merge > By Distance"), (shifted, "Move its parts away")):
        arrays = {}
        job = cloth_job(tmp_path / advice[:5], [cloth_body("Shirt", corners, faces, arrays)], arrays, contact={})
        with pytest.raises(BadScene, match="it crosses itself at the start") as refused:
            part_of(job)
        assert advice in refused.value.remedy


@pytest.mark.long
def test_cloth_keeps_from_itself(tmp_path):
    """A strip hung by its end over the floor piles up in folds."""
    vertices, triangles = grid(24, 3, 0.6, 0.075)
    vertices = np.column_stack([0.004 * np.sin(15 * vertices[:, 0]), vertices[:, 1], 0.62 - vertices[:, 0]])
    arrays = {}
    floor = obstacle("Floor", BOX[0] * [0.5, 0.5, 0.05] - [0, 0, 0.05], BOX[1], arrays)
    body = cloth_body("Strip", vertices, triangles, arrays, bending={"kind": "quadratic_bending",
                                                                     "params": {"bending_stiffness": 1e-4}},
                      thickness=2e-3)
    job = cloth_job(tmp_path / "job", [body], arrays, obstacles=[floor], contact={})
    part = part_of(job)
    state = stepped(part, part.initial_state(), 1 / 96, 60)
    x = places(part, state)[: len(vertices)]
    assert x[:, 2].min() > 0.0
    assert x[:, 2].max() < 0.35


def test_cloth_lies_on_a_soft_body(tmp_path):
    nodes, tets = box_tets((3, 3, 3), (0.2, 0.2, 0.2))
    vertices, triangles = grid(8, 8, 0.3, 0.3)
    base = np.flatnonzero(nodes[:, 2] < 1e-9).astype(np.int32)
    arrays = {"nodes": nodes - [0.1, 0.1, 0.2], "tets": tets, "base": base}
    jelly = {"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "method": {"kind": "vanilla"},
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4}},
             "pin": {"nodes": "arrays/base.npy"}}
    cloth = cloth_body("Cloth", vertices - [0.15, 0.15, -0.01], triangles, arrays)
    part = part_of(cloth_job(tmp_path / "job", [cloth, jelly], arrays, contact={}))
    state = stepped(part, part.initial_state(), 1 / 96, 28)
    x = places(part, state)[:81]
    above = (np.abs(x[:, :2]) < 0.07).all(axis=1)
    assert x[above, 2].min() > -0.02 and x[above, 2].max() < 0.01


@pytest.mark.parametrize(("mu", "slides"), [(0.3, True), (0.7, False)])
def test_friction_holds_cloth_on_a_slope(tmp_path, mu, slides):
    """A small cloth on a slope of 26.6°, tan = 0.5: above μ it slides at g (sin − μ cos), below it stands."""
    angle = np.arctan(0.5)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    vertices, triangles = grid(4, 4, 0.1, 0.1)
    arrays = {}
    slope = obstacle("Slope", (BOX[0] * [1.0, 0.5, 0.05] - [0, 0, 0.05]) @ turn.T, BOX[1], arrays)
    cloth = cloth_body("Cloth", (vertices + [-0.5, -0.05, 9e-4]) @ turn.T, triangles, arrays, drag=0, air_friction=0)
    part = part_of(cloth_job(tmp_path / "job", [cloth], arrays, obstacles=[slope],
                             contact={"law": {"kind": "barrier", "params": {"friction_coefficient": mu}}}))
    state = part.initial_state()
    state = stepped(part, state, 1 / 96, 10)
    initial_rate = part.velocity(state)[:25].mean(axis=0) @ turn[:, 0]
    state = stepped(part, state, 1 / 96, 20)
    gained = part.velocity(state)[:25].mean(axis=0) @ turn[:, 0] - initial_rate
    if slides:
        assert gained == pytest.approx(9.81 * (np.sin(angle) - mu * np.cos(angle)) * 20 / 96, rel=0.1)
    else:
        assert abs(gained) < 0.02


@pytest.mark.long
def test_a_bake_in_contact_that_was_stopped_goes_on_with_the_same_bytes(tmp_path):
    frames = []
    for name, ends in (("whole", [8]), ("parts", [6, 8])):
        job = on_a_box(tmp_path / name, 8, end=8)
        text = (job / "scene.json").read_text().replace('"step"', '"snapshot_every": 4, "step"')
        (job / "scene.json").write_text(text)
        for end in ends:
            bake(job, Quiet(), frames=(1, end), resume=True)
        frames.append(Cache(job / "cache").vertices(8))
    assert np.array_equal(*frames)
