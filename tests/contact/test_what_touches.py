"""Scenes with contact that are refused, and by which name; which bodies touch; settings that count in the hash."""

import numpy as np
import pytest
from small_jobs import change
from touching import box, refused, sheet, stepped, two_on_a_floor
from worlds import nodes_of

from solver.errors import BadMesh, BadScene
from solver.job.load import load
from solver.job.validate_contact import MOST_FACES

H = 1 / 96


@pytest.mark.parametrize("touches,passes,falls", [
    ({"Top": ["Jelly"]}, False, False),  # itself left out: it touches all that it needs
    ({"Top": ["Top"]}, True, True),
    ({"Jelly": ["Floor"]}, True, False),  # both have to want it
    ({"Top": ["Floor"], "Jelly": ["Floor"]}, True, False),
])
def test_what_does_not_touch_goes_through(tmp_path, touches, passes, falls):
    """The floor is at 0, the jelly at 0.03 to 0.23 and the top one at 0.26: with nothing below it falls through."""
    job = two_on_a_floor(tmp_path / "job")
    for i, name in enumerate(("Jelly", "Top")):
        if name in touches:
            change(job, f"bodies.{i}.touches", touches[name])
    part = nodes_of(load(job))
    state = stepped(part, part.initial_state(), H, 28)
    x = part.coordinates.positions(state.q, state.time)
    assert (x[27:54, 2].mean() < 0.2) == passes
    assert (x[27:54, 2].min() < -0.05) == falls
    assert x[:27, 2].min() > 0.0


def test_what_does_not_touch_may_cross_at_the_start(tmp_path):
    job = two_on_a_floor(tmp_path / "job")
    top = np.load(job / "arrays" / "Top_nodes.npy")
    np.save(job / "arrays" / "Top_nodes.npy", top - [0.0, 0.0, 0.1])
    change(job, "bodies.1.touches", ["Top", "Floor"])
    part = nodes_of(load(job))
    stepped(part, part.initial_state(), H, 1)


def test_names_of_what_touches_move_nothing(tmp_path):
    from solver.frames.compared import different
    from solver.job import hashes

    job = two_on_a_floor(tmp_path / "job")
    for i in (0, 1):
        change(job, f"bodies.{i}.touches", ["Jelly", "Top", "Floor"])
        change(job, f"bodies.{i}.uuid", f"id {i}")
    before = load(job)
    for where, name in (("bodies.0.name", "Cube"), ("obstacles.0.name", "Table")):
        change(job, where, name)
    for i in (0, 1):
        change(job, f"bodies.{i}.touches", ["Table", "Cube", "Top"])
    after = load(job)
    assert hashes.hashes(hashes.settings(before)).solve == hashes.hashes(hashes.settings(after)).solve
    assert different(before.raw, after.raw) == []
    change(job, "bodies.1.touches", ["Table", "Top"])
    assert different(before.raw, load(job).raw) == ['touches of "Top"']


def test_starts_that_cross_are_refused_by_name(tmp_path):
    job = two_on_a_floor(tmp_path / "job")
    top = np.load(job / "arrays" / "Top_nodes.npy")
    np.save(job / "arrays" / "Top_nodes.npy", top - [0.0, 0.0, 0.1])
    message = refused(job)
    assert '"Jelly"' in message
    assert '"Top"' in message
    assert "near (" in message
    np.save(job / "arrays" / "Top_nodes.npy", top)
    floor = np.load(job / "arrays" / "Floor_vertices.npy")
    np.save(job / "arrays" / "Floor_vertices.npy", floor + [0.0, 0.0, 0.1])
    assert '"Floor"' in refused(job)


def test_a_body_inside_a_closed_obstacle_is_refused(tmp_path):
    from solver.meshing.volume import boundary_faces

    job = two_on_a_floor(tmp_path / "job")
    nodes, tets = box((1, 1, 1), (2.0, 2.0, 2.0), (-1.0, -1.0, -0.5))
    faces = boundary_faces(tets)[0].astype(np.int32)
    np.save(job / "arrays" / "Floor_vertices.npy", nodes)
    np.save(job / "arrays" / "Floor_triangles.npy", faces)
    message = refused(job)
    assert 'inside "Floor"' in message
    assert "normals inwards" in message
    # a room whose normals look inwards is one to be in
    np.save(job / "arrays" / "Floor_triangles.npy", faces[:, ::-1].copy())
    part = nodes_of(load(job))
    stepped(part, part.initial_state(), H, 2)


@pytest.mark.parametrize("field,value,message", [
    ("obstacles", [], None),
    ("method", {"kind": "conjac"}, None),
    ("integrator", {"kind": "tr_bdf2"}, "TR-BDF2 does not support contact"),
    ("integrator", {"kind": "generalized_alpha"}, "Generalized Alpha does not support contact"),
    ("obstacles.0.name", "Jelly", 'two things called "Jelly"'),
    ("obstacles.0.name", "", "no name"),
    ("bodies.0.nails", [{"frame": 3, "head": [0, 0, 0], "tip": [0, 0, 1], "radius": 0.1}], None),
    ("bodies.0.touches", ["Top", "Nobody"], 'touches "Nobody"'),
    ("time.tolerance", 1e-3, "steps of constant length"),
    ("contact.law", {"kind": "wall"}, 'no contact "wall"'),
    ("contact.law", {"kind": "barrier", "params": {"distance": -1.0}}, "Contact Distance"),
    ("contact", None, "obstacles and no contact"),
])
def test_what_does_not_go_with_contact_is_refused(tmp_path, field, value, message):
    job = two_on_a_floor(tmp_path / "job")
    change(job, field, value)
    if message is None:
        load(job)
    else:
        with pytest.raises(BadScene, match=message):
            load(job)


def test_bad_obstacles_are_refused(tmp_path):
    job = two_on_a_floor(tmp_path / "job")
    vertices, triangles = sheet(2.0, 3)
    for array, name, error, message in (
            (triangles[:0], "triangles", BadMesh, '"Floor" has no face'),
            (np.concatenate([triangles, [[0, 0, 1]]]).astype(np.int32), "triangles", BadMesh, "1 faces without area"),
            (np.repeat(triangles[:1], MOST_FACES + 1, axis=0), "triangles", BadMesh, '"Floor" has 1,000,001 faces'),
            (triangles + 100, "triangles", BadScene, "vertices"),
            (np.where(vertices == 0.0, np.nan, vertices), "vertices", BadScene, "Floor_vertices|finite|number")):
        np.save(job / "arrays" / "Floor_vertices.npy", vertices)
        np.save(job / "arrays" / "Floor_triangles.npy", triangles)
        np.save(job / "arrays" / f"Floor_{name}.npy", array)
        with pytest.raises(error, match=message):
            load(job)
    np.save(job / "arrays" / "Floor_vertices.npy", vertices)
    motion = np.broadcast_to(vertices, (49, *vertices.shape)).copy()
    motion[20:] += [0.0, 0.0, -9.0]
    np.save(job / "arrays" / "jump.npy", motion)
    change(job, "obstacles.0.motion", "arrays/jump.npy")
    with pytest.raises(BadScene, match='"Floor" jumps by 9 m at frame 10.5'):
        load(job)


def test_contact_counts_in_the_hash_and_its_absence_does_not(tmp_path):
    from solver.job.hashes import hashes, settings

    job = two_on_a_floor(tmp_path / "job")
    first = hashes(settings(load(job))).solve
    change(job, "obstacles.0.name", "Ground")
    assert hashes(settings(load(job))).solve == first
    change(job, "contact.law", {"kind": "barrier", "params": {"distance": 0.004}})
    second = hashes(settings(load(job))).solve
    assert second != first
    change(job, "obstacles", [])
    assert hashes(settings(load(job))).solve not in (first, second)
    change(job, "contact", None)
    read = settings(load(job))
    assert not [name for name in read.scene if name.startswith(("contact", "obstacles"))]
