"""Soft bodies that touch each other are one simulation: one job, one bake, each with what plays it and its settings."""

import json
from pathlib import Path

import ipctk
import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import frames_of, rest_of, scene, seen_at  # noqa: E402, F401
from rig import add_chain, job_of  # noqa: E402
from test_attach import add_flesh  # noqa: E402
from worlds import nodes_of  # noqa: E402

from conjac.conjac_addon import bake, gather, members  # noqa: E402
from conjac.conjac_addon.bake import cli, place  # noqa: E402
from conjac.conjac_addon.gather.job import scene_settings as gather_settings  # noqa: E402
from conjac.examples_blend import jelly  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402
from solver.job.load import load as load_plainly  # noqa: E402

LAST = 10


def add_ball(name, height, along=0.0, size=0.2):
    """A box of 20 cm without pins that falls from a height on the ground at 0, and collides with all."""
    bpy.ops.mesh.primitive_cube_add(size=size, location=(along, 0, height))
    obj = bpy.context.object
    obj.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    settings = obj.conjac
    settings.kind = "soft_body"
    settings.method, settings.integrator = "vanilla", "backward_euler"
    settings.mesher, settings.edge_length, settings.step = "grid", 0.1, 1 / 48
    settings.youngs_modulus = 2.0e4
    settings.use_ground, settings.ground_stiffness = True, 1.0e3
    settings.contact.collides_with = "all"
    return obj


@pytest.fixture()
def balls(scene):  # noqa: F811
    """Two of them, one above the other, that meet at once."""
    scene.frame_end = LAST
    return add_ball("Low", 0.12), add_ball("High", 0.34, along=0.05)


def world_at(obj, frame):
    seen = seen_at(obj, frame)
    matrix = np.array(obj.matrix_world)
    return seen @ matrix[:3, :3].T + matrix[:3, 3]


def crosses(objects, frame):
    """Whether any face that is seen of them goes through another one, by the exact test of ipctk."""
    places, faces, first = [], [], 0
    for obj in objects:
        places.append(world_at(obj, frame))
        obj.data.calc_loop_triangles()
        faces.append(np.array([one.vertices for one in obj.data.loop_triangles]) + first)
        first += len(places[-1])
    places, faces = np.concatenate(places).astype(float), np.concatenate(faces).astype(np.int32)
    mesh = ipctk.CollisionMesh(places, ipctk.edges(faces), faces)
    return ipctk.has_intersections(mesh, places)


def test_bodies_that_touch_are_one_job(balls, scene, tmp_path):  # noqa: F811
    low, high = balls
    assert members.owner(low) == members.owner(high) == low
    assert members.title(low, scene) == "Low, High"
    low.conjac.contact.itself = True
    high.conjac.contact.friction, high.conjac.step = 0.25, 1 / 200
    gather.write_job(low, scene, tmp_path)
    document = json.loads((tmp_path / "scene.json").read_text())
    load(tmp_path)
    assert document["contact"]["law"]["kind"] == "barrier"
    assert [(body["name"], body["touches"], body["friction"]) for body in document["bodies"]] == [
        ("Low", ["Low", "High"], 0.5), ("High", ["Low"], 0.25)]
    assert ["thickness" in body for body in document["bodies"]] == [False, False]
    assert document["time"]["step"] == pytest.approx(1 / 200)  # the shorter of both
    assert gather.changed_settings(low, scene, tmp_path) == []
    high.conjac.contact.friction = 0.3
    assert gather.changed_settings(low, scene, tmp_path) == ["Friction"]
    high.conjac.contact.friction = 0.25
    high.conjac.contact.thickness = 0.003
    assert gather.changed_settings(low, scene, tmp_path) == ["Thickness"]
    gather.write_job(low, scene, tmp_path)
    assert load(tmp_path).scene.bodies[1].thickness == pytest.approx(0.003)
    high.conjac.contact.pins_yield = True
    assert gather.changed_settings(low, scene, tmp_path) == ["Pins Yield"]
    gather.write_job(low, scene, tmp_path)
    assert [body.pins_yield for body in load(tmp_path).scene.bodies] == [False, True]
    high.conjac.contact.by_mesh = True
    assert gather.changed_settings(low, scene, tmp_path) == ["Collide by Mesh"]
    gather.write_job(low, scene, tmp_path)
    assert [body.touches_by_mesh for body in load(tmp_path).scene.bodies] == [False, True]
    high.conjac.contact.collides_with = "none"
    assert gather.changed_settings(low, scene, tmp_path) == ["Soft Bodies", "Time Step"]


def test_friction_is_painted_as_a_vertex_group(balls, scene, tmp_path):  # noqa: F811
    low, _ = balls
    top = [vertex.index for vertex in low.data.vertices if vertex.co.z > 0.0]
    low.vertex_groups.new(name="Friction").add(top, 1.0, "REPLACE")
    gather.write_job(low, scene, tmp_path)
    part = nodes_of(load_plainly(tmp_path))
    # none below, all of it above
    friction, x = part.contacts[0]._friction, part.rest
    mine = np.intersect1d(part.contacts[0].surfaces.nodes, np.arange(part.parts[0].nodes.stop))
    height = x[mine, 2] - low.location.z
    assert friction[mine][height > 0.03].min() > 0.45 and friction[mine][height < -0.03].max() < 0.05
    assert gather.changed_settings(low, scene, tmp_path) == []


def test_friction_is_painted_on_colliders_too(balls, scene, tmp_path):  # noqa: F811
    low, _ = balls
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=2.0, location=(0.0, 0.0, -1.0))
    floor = bpy.context.object
    bpy.ops.conjac.add_collider()
    left = [vertex.index for vertex in floor.data.vertices if vertex.co.x < 0.0]
    floor.vertex_groups.new(name="Friction").add(left, 0.5, "REPLACE")
    gather.write_job(low, scene, tmp_path)
    part = nodes_of(load_plainly(tmp_path))
    friction, x = part.contacts[0]._friction, part.rest
    of_floor = np.arange(len(x) - len(floor.data.vertices), len(x))
    assert np.unique(friction[of_floor][x[of_floor, 0] < -0.01]) == pytest.approx([0.25])
    assert not friction[of_floor][x[of_floor, 0] > 0.01].any()
    assert gather.changed_settings(low, scene, tmp_path) == []


def test_what_collides_with_nothing_is_baked_as_before(balls, scene, tmp_path):  # noqa: F811
    low, high = balls
    for obj in balls:
        obj.conjac.contact.collides_with = "none"
    assert members.owner(high) == high
    gather.write_job(high, scene, tmp_path)
    document = json.loads((tmp_path / "scene.json").read_text())
    assert len(document["bodies"]) == 1 and "contact" not in document
    assert {"touches", "friction", "method"}.isdisjoint(document["bodies"][0])
    assert place.job_folder(low) != place.job_folder(high)


def test_a_collection_joins_those_in_it_alone(balls, scene):  # noqa: F811
    low, high = balls
    far = add_ball("Far", 2.0)
    chosen = bpy.data.collections.new("Chosen")
    scene.collection.children.link(chosen)
    chosen.objects.link(low)
    for obj in (low, high):
        obj.conjac.contact.collides_with, obj.conjac.contact.collection = "collection", chosen
    chosen.objects.link(high)
    assert members.soft_bodies(low, scene) == [low, high] and members.soft_bodies(far, scene) == [far]
    chosen.objects.link(far)  # far collides with all, so now they touch
    assert members.soft_bodies(low, scene) == [low, high, far]
    chosen.objects.unlink(low)
    assert members.soft_bodies(low, scene) == [low, high, far]  # low reaches high by nothing, but far does both
    far.conjac.contact.collides_with = "none"
    assert members.soft_bodies(low, scene) == [low]


def test_two_bodies_fall_onto_each_other(balls, scene):  # noqa: F811
    """Through the button: both play, nothing goes through anything, and both say the same."""
    low, high = balls
    bpy.context.view_layer.objects.active = high
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert place.job_folder(low) == place.job_folder(high)
    for obj in balls:
        assert bake.status(obj).state == "complete", bake.status(obj)
        assert np.abs(seen_at(obj, LAST) - rest_of(obj)).max() > 0.01
    assert not any(crosses(balls, frame) for frame in range(1, LAST + 1))
    cache = place.cache_of(place.job_folder(low))
    for frame in (1, LAST):
        for obj in balls:
            np.testing.assert_allclose(seen_at(obj, frame), cache.frame(frame)[obj.name], atol=1e-6)
    before = frames_of(low)

    # a new name changes nothing; another setting of one makes both stale
    high.name = "Upper"
    assert bake.status(high).state == bake.status(low).state == "complete"
    high.conjac.youngs_modulus *= 2.0
    assert bake.status(low).state == bake.status(high).state == "stale"
    assert "Young" in bake.status(low).text
    high.conjac.youngs_modulus /= 2.0
    assert bake.bake_object(low) == 0 and frames_of(low) == before

    # saved and read again
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    low, high = (bpy.data.objects[name] for name in ("Low", "Upper"))
    assert members.owner(high) == low
    assert bake.status(high).state == bake.status(low).state == "complete"

    # one leaves: what it plays stays, and it is baked alone from now on
    high.conjac.contact.collides_with = "none"
    assert bake.status(low).state == "stale" and bake.status(high).state == "none"
    assert np.abs(seen_at(high, LAST) - rest_of(high)).max() > 0.01
    high.conjac.contact.collides_with = "all"
    assert bake.status(high).state == bake.status(low).state == "complete"


def add_collider(name, size, location, scale=(1, 1, 1)):
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    obj = bpy.context.object
    obj.name, obj.scale = name, scale
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    return obj


def test_colliders_are_gathered_still_moving_and_deforming(balls, scene, tmp_path):  # noqa: F811
    low, high = balls
    still = add_collider("Still", 0.1, (1, 0, 0))
    lift = add_collider("Lift", 0.1, (2, 0, 0), scale=(-1, 1, 1))
    lift.keyframe_insert("location", frame=1)
    lift.location.z = 0.5
    lift.keyframe_insert("location", frame=LAST)
    soft = add_collider("Soft", 0.1, (3, 0, 0))
    soft.shape_key_add(name="Basis")
    soft.shape_key_add(name="Tall").data[0].co.z -= 0.2
    soft.data.shape_keys.key_blocks["Tall"].value = 0.0  # a new one is on at once in Blender 5.2
    soft.data.shape_keys.key_blocks["Tall"].keyframe_insert("value", frame=1)
    soft.data.shape_keys.key_blocks["Tall"].value = 1.0
    soft.data.shape_keys.key_blocks["Tall"].keyframe_insert("value", frame=LAST)
    still.conjac.contact.thickness, still.conjac.contact.friction = 0.02, 0.0
    gather.write_job(low, scene, tmp_path)
    document, job = json.loads((tmp_path / "scene.json").read_text()), load(tmp_path)
    assert [(one["name"], one["friction"], "motion" in one) for one in document["obstacles"]] == [
        ("Still", 0.0, False), ("Lift", 0.5, True), ("Soft", 0.5, True)]
    assert [body["touches"] for body in document["bodies"]] == [
        ["High", "Still", "Lift", "Soft"], ["Low", "Still", "Lift", "Soft"]]
    places = [job.array(one["vertices"]) for one in document["obstacles"]]
    np.testing.assert_allclose(np.abs(places[0] - [1, 0, 0]), 0.07, atol=1e-6)  # each face 2 cm out
    motion = job.array(document["obstacles"][1]["motion"])
    assert motion.shape == (2 * LAST - 1, 8, 3)
    np.testing.assert_allclose(motion[-1] - motion[0], np.broadcast_to([0, 0, 0.5], (8, 3)), atol=1e-6)
    deformed = job.array(document["obstacles"][2]["motion"])
    assert np.abs(deformed[-1] - deformed[0]).max() == pytest.approx(0.2, abs=1e-5)
    for k in (0, 1, 2):  # outwards, also of the mirrored one
        faces = job.array(document["obstacles"][k]["triangles"])
        corners = places[k][faces] - places[k].mean(axis=0)
        assert np.linalg.det(corners).sum() > 0.0
    assert gather.changed_settings(low, scene, tmp_path) == [] and gather.moved(low, scene, tmp_path) == []
    still.name = "Table"
    assert gather.changed_settings(low, scene, tmp_path) == []
    still.location.x += 0.5
    bpy.context.view_layer.update()
    assert gather.moved(low, scene, tmp_path) == ["Table"]
    lift.conjac.kind = "none"
    assert "Colliders" in gather.changed_settings(low, scene, tmp_path)


def test_colliders_that_cannot_be_touched_are_refused_by_name(balls, scene, tmp_path):  # noqa: F811
    low, _ = balls
    box = add_collider("Box", 0.1, (1, 0, 0))
    box.hide_viewport = True
    with pytest.raises(BadInput, match='"Box": it is a collider of "Low" and is disabled in viewports'):
        gather.write_job(low, scene, tmp_path)
    box.hide_viewport = False
    box.data.clear_geometry()
    with pytest.raises(BadInput, match='"Box": the mesh has no vertices'):
        gather.write_job(low, scene, tmp_path)
    bpy.data.objects.remove(box)
    sheet = add_collider("Sheet", 0.1, (1, 0, 0))
    array = sheet.modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 1), (LAST, 3)):
        array.count = count
        sheet.keyframe_insert('modifiers["Array"].count', frame=frame)
    with pytest.raises(BadInput, match='"Sheet", frame 3: it is a collider, and has .* vertices where it had'):
        gather.write_job(low, scene, tmp_path)
    assert not (tmp_path / "arrays.new").exists()


def test_a_lift_carries_what_collides_and_nothing_else(scene):  # noqa: F811
    """A plate that rises under two boxes: one rides on it, one goes through; a copy of what rides does as well."""
    scene.frame_end = 6
    rides, ghost = add_ball("Rides", 0.16), add_ball("Ghost", 0.16, along=1.0)
    lift = add_collider("Lift", 0.1, (0.5, 0, 0), scale=(20, 10, 1))
    for frame, height in ((1, 0.0), (6, 0.2)):
        lift.location.z = height
        lift.keyframe_insert("location", frame=frame)
    rides.conjac.use_ground = ghost.conjac.use_ground = False
    ghost.conjac.contact.collides_with = "none"
    for obj in (rides, ghost):
        assert members.owner(obj) == obj
        assert bake.bake_object(obj) == 0
    assert not crosses([rides, lift], 6)
    assert world_at(rides, 6)[:, 2].min() > 0.2
    assert world_at(ghost, 6)[:, 2].min() < 0.06  # it has fallen for 5 frames, 0.21 m
    assert bake.status(rides).state == bake.status(ghost).state == "complete"

    # what is baked may be what another one bumps into, as it plays
    rides.conjac.contact.collides_with, rides.conjac.contact.is_collider = "none", True
    ghost.conjac.contact.collides_with = "all"
    assert members.colliders(ghost, scene) == [rides, lift] and members.owner(ghost) == ghost
    folder = place.job_folder(ghost)
    gather.write_job(ghost, scene, folder)
    document, job = json.loads((folder / "scene.json").read_text()), load(folder)
    motion = job.array(document["obstacles"][0]["motion"])
    np.testing.assert_allclose(motion[-1], world_at(rides, 6), atol=1e-5)


def test_free_takes_one_and_leaves_the_other(balls, scene):  # noqa: F811
    low, high = balls
    scene.frame_end = last = 5
    assert bake.bake_object(low) == 0
    folder, before = place.job_folder(low), frames_of(low)
    bpy.context.view_layer.objects.active = low
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert not low.modifiers and high.modifiers and frames_of(high) == before
    assert not (folder / "Low.pc2").exists() and (folder / "High.pc2").exists()
    assert bake.status(low).state == "stale" and "nothing plays them" in bake.status(low).text
    assert bake.status(high).state == "complete"
    assert bake.bake_object(high) == 0  # nothing is simulated again, and both play
    assert frames_of(low) == before and bake.status(low).state == bake.status(high).state == "complete"

    # a copy plays what it was copied from, joins, and gets its own at the next bake
    bpy.ops.object.select_all(action="DESELECT")
    low.select_set(True)
    bpy.context.view_layer.objects.active = low
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    copy.location.x += 1.0
    assert members.soft_bodies(low, scene) == [low, high, copy] and members.owner(copy) == low
    np.testing.assert_array_equal(seen_at(copy, last), seen_at(low, last))
    assert bake.status(copy).state == "stale" and "Soft Bodies" in bake.status(copy).text
    assert bake.bake_object(copy) == 0
    assert len({obj.conjac.cache.uuid for obj in (low, high, copy)}) == 3
    assert all(bake.status(obj).state == "complete" for obj in (low, high, copy))

    # the one that has the bake goes: the others play on, and have a bake of their own from the next time on
    bpy.data.objects.remove(low)
    assert members.owner(high) == members.owner(copy) == high
    assert np.abs(seen_at(high, last) - rest_of(high)).max() > 0.01 and frames_of(high) == {}
    assert (folder / "cache" / "manifest.json").exists()

    bpy.context.view_layer.objects.active = copy
    assert bpy.ops.conjac.free_bake(together=True) == {"FINISHED"}
    assert not high.modifiers and not copy.modifiers


def test_a_bake_in_a_file_never_saved_is_taken_along(scene, tmp_path):  # noqa: F811
    """One was baked alone before it touched the other: that bake is not lost either."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = 3
    bpy.context.scene.render.fps = 24
    low, high = add_ball("Low", 0.12), add_ball("High", 0.34)
    high.conjac.contact.collides_with = "none"
    assert bake.bake_object(high) == 0
    alone = place.job_folder(high)
    high.conjac.contact.collides_with = "all"
    assert bake.bake_object(high) == 0
    together = place.job_folder(high)
    assert together != alone and (alone / "cache" / "manifest.json").exists()
    frames = frames_of(high)
    (tmp_path / "other").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other" / "named.blend"))
    for folder in (alone, together):
        assert not folder.exists()
    assert frames_of(low) == frames and place.job_folder(low).is_relative_to(tmp_path / "other")
    assert bake.status(low).state == bake.status(high).state == "complete"
    high.conjac.contact.collides_with = "none"
    assert place.job_folder(high) != place.job_folder(low) and len(frames_of(high)) == 3


def test_what_crosses_at_the_start_is_told_by_name_and_selected(balls, scene):  # noqa: F811
    low, high = balls
    bpy.context.view_layer.objects.active = low
    assert bpy.ops.conjac.select_crossing() == {"FINISHED"} and low.mode == "OBJECT"
    high.location.z = 0.3  # its lower face is 2 cm below the upper one of the other
    scene.frame_set(7)
    said = []
    assert bake.bake_object(low, report=said.append) == 2
    assert any('"Low"' in text and '"High"' in text and "crosses" in text for text in said), said
    assert bpy.ops.conjac.select_crossing() == {"FINISHED"}
    assert scene.frame_current == 1 and low.mode == high.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = [face for face in low.data.polygons if face.select]
    assert 0 < len(chosen) < len(low.data.polygons)
    assert all(max(low.data.vertices[vertex].co.z for vertex in face.vertices) > 0.09 for face in chosen)
    assert bpy.ops.conjac.free_bake.poll() is False  # nothing was baked


def test_what_crosses_is_pushed_apart_where_frames_are_given(balls, scene):  # noqa: F811
    low, high = balls
    high.location.z, scene.frame_end = 0.3, 12
    members.owner(low).conjac.contact.push_apart = 4
    assert bake.bake_object(low) == 0
    # as it was put at first, on top of the other at last
    scene.frame_set(1)
    assert (seen_at(high, 1)[:, 2].min() + high.location.z) < seen_at(low, 1)[:, 2].max() + low.location.z - 0.015
    assert jelly.clearance([low, high], range(9, 13)) > 0.0
    members.owner(low).conjac.contact.push_apart = 5
    assert bake.status(low).state == "stale" and "Push Apart" in bake.status(low).text


def test_names_that_files_cannot_tell_apart_play_each_their_own(balls, scene):  # noqa: F811
    low, high = balls
    low.name, high.name = "Ball A", "ball_a"
    paths = [place.playback_path(obj) for obj in balls]
    assert paths[0].parent == paths[1].parent and len({str(path).casefold() for path in paths}) == 2
    high.conjac.contact.collides_with = "none"
    assert place.playback_path(low).name == "Ball_A"


def test_the_command_line_bakes_what_touches_once(balls, scene, capfd):  # noqa: F811
    low, high = balls
    scene.frame_end = 3
    assert cli.run(["bake", "--json", "--object", "High", "--object", "Low"]) == 0
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert [(one["object"], one["objects"]) for one in told if one["event"] == "baked"] == [("Low", ["Low", "High"])]
    assert "Low, High" in [one["text"] for one in told if one["event"] == "baked"][0]
    assert cli.run(["bake"]) == 0
    assert "Low, High" in capfd.readouterr().out
    assert all(bake.status(obj).state == "complete" for obj in balls)


def test_whose_bake_plays_is_told_by_its_name_where_the_other_body_is_gone(balls, scene):  # noqa: F811
    low, high = balls
    scene.frame_end = 2
    for touching in ("none", "all"):
        low.conjac.contact.collides_with = high.conjac.contact.collides_with = touching
        assert bake.bake_object(high) == 0
    bpy.data.objects.remove(low)
    assert bake.status(high).text == 'It plays the bake of "Low"; bake again to see its own frames'


def test_undo_of_a_bake_loses_nothing(balls, scene):  # noqa: F811
    scene.frame_end = 3
    bpy.context.view_layer.objects.active = balls[1]
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="baked")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    low, high = (bpy.data.objects[name] for name in ("Low", "High"))
    assert not low.modifiers and not low.conjac.cache.leads and members.owner(high) == low
    before = frames_of(high)
    assert len(before) == 3 and bake.status(high).state == "stale"
    assert bake.bake_object(high) == 0 and frames_of(low) == before
    assert bake.status(low).state == bake.status(high).state == "complete"


def test_both_appended_to_another_file_play_there_and_bake_their_own(balls, scene, tmp_path):  # noqa: F811
    scene.frame_end = 3
    assert bake.bake_object(balls[0]) == 0
    first, before = place.job_folder(balls[0]), frames_of(balls[0])
    bpy.ops.wm.save_mainfile()
    source = bpy.data.filepath
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end, bpy.context.scene.render.fps = 3, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "second.blend"))
    with bpy.data.libraries.load(source) as (_, wanted):
        wanted.objects = ["Low", "High"]
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    low, high = wanted.objects
    assert members.owner(high) == low and bake.status(high).state == bake.status(low).state == "complete"
    assert "its first bake makes its own" in bake.status(high).text
    high.conjac.youngs_modulus *= 1.5
    assert bake.bake_object(high) == 0
    assert place.job_folder(low) != first and len(frames_of(low)) == 3
    assert {path.stem: path.read_bytes() for path in (first / "cache" / "frames").glob("*.npy")} == before
    assert bake.status(high).state == bake.status(low).state == "complete"


def test_cloth_joins_what_it_falls_on(balls, scene, tmp_path):  # noqa: F811
    low, high = balls
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=0.5, location=(0, 0, 0.6))
    sheet = bpy.context.object
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    assert members.owner(sheet) == low and members.soft_bodies(low, scene) == [low, high, sheet]
    gather.write_job(low, scene, tmp_path)
    body = json.loads((tmp_path / "scene.json").read_text())["bodies"][2]
    load(tmp_path)
    assert body["touches"] == [low.name, high.name, sheet.name]
    # let go of, it is bumped into as it plays
    sheet.conjac.contact.collides_with, sheet.conjac.contact.is_collider = "none", True
    assert members.colliders(low, scene) == [sheet] and members.soft_bodies(low, scene) == [low, high]


def test_a_body_that_is_disabled_is_told_of(balls, scene, tmp_path):  # noqa: F811
    balls[1].hide_viewport = True
    with pytest.raises(BadInput, match='"High": it is baked together with "Low" and is disabled in viewports'):
        gather.write_job(balls[0], scene, tmp_path)


def test_what_hangs_on_bones_touches_colliders(scene, tmp_path):  # noqa: F811
    """Flesh on a chain that falls on a plate, in the bake of the chain; another body stays apart from it."""
    rig = add_chain(2)
    flesh, also, free = add_flesh(rig), add_flesh(rig, "Also"), add_ball("Free", 3.0)
    flesh.conjac.contact.collides_with = "all"
    rig.conjac.method = "vanilla"
    plate = add_collider("Plate", 1.0, (0, 0, -0.75))
    document, job = job_of(rig, tmp_path / "job")
    assert members.colliders(rig, scene) == [plate] and members.soft_bodies(free, scene) == [free]
    assert [one["touches"] for one in document["bodies"]] == [["Plate"], []]
    assert [one["name"] for one in document["obstacles"]] == ["Plate"]
    assert job.array(document["obstacles"][0]["vertices"]).shape == (8, 3)
    assert gather.changed_settings(rig, scene, tmp_path / "job") == []
    also.conjac.contact.collides_with = "all"
    assert gather.changed_settings(rig, scene, tmp_path / "job") == ["Collides With"]
    plate.conjac.kind = "none"
    flesh.conjac.contact.collides_with = also.conjac.contact.collides_with = "none"
    document, _ = job_of(rig, tmp_path / "alone")
    assert {"contact", "obstacles"}.isdisjoint(document)


@pytest.mark.examples
def test_files_from_before_there_was_contact_bake_each_body_alone(addon, tmp_path):
    """The examples in the repository were saved before, but for those of contact."""
    seen = 0
    for path in sorted(Path(__file__).parents[2].glob("examples_blend/*.blend")):
        if path.stem in ("belly", "bowl", "ducks", "edge", "friction", "jaws", "key", "lo_res", "nails", "push",
                         "rabbit", "rollers", "slices", "stack", "tablecloth", "throw", "tumble", "wire", "wrung"):
            continue
        bpy.ops.wm.open_mainfile(filepath=str(path))
        for obj in bpy.context.scene.objects:
            if members.is_soft_body(obj) and members.mechanism_of(obj) is None:
                seen += 1
                assert members.owner(obj) == obj and members.soft_bodies(obj, bpy.context.scene) == [obj]
                document = gather_settings(obj, bpy.context.scene)
                assert {"contact", "obstacles"}.isdisjoint(document)
                assert {"touches", "friction", "method"}.isdisjoint(document["bodies"][0])
    assert seen > 3
