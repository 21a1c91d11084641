"""Soft bodies that touch each other are one simulation: one job, one bake, each with what plays it and its settings."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import LAST, add_ball, balls, crosses, world_at  # noqa: E402, F401
from jelly import frames_of, rest_of, scene, seen_at  # noqa: E402, F401
from worlds import nodes_of  # noqa: E402

from conjac.conjac_addon import bake, gather, members  # noqa: E402
from conjac.conjac_addon.bake import cli, place  # noqa: E402
from conjac.conjac_addon.gather.job import scene_settings as gather_settings  # noqa: E402
from conjac.examples_blend import jelly  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402
from solver.job.load import load as load_plainly  # noqa: E402


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
    nodes = np.intersect1d(part.contacts[0].surfaces.nodes, np.arange(part.bodies_in_world[0].nodes.stop))
    height = x[nodes, 2] - low.location.z
    assert friction[nodes][height > 0.03].min() > 0.45 and friction[nodes][height < -0.03].max() < 0.05
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
    """The button bakes both: both play without intersections, and have one report."""
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
    assert bake.status(low).state == "stale"
    assert bake.status(high).text == 'It plays the bake of "Low"; bake again to see its own frames'
    assert np.abs(seen_at(high, LAST) - rest_of(high)).max() > 0.01
    high.conjac.contact.collides_with = "all"
    assert bake.status(high).state == bake.status(low).state == "complete"


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
    assert bake.status(copy).state == "stale" and bake.status(copy).text.startswith("Not baked yet")
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
    """One body was baked alone before it touched the other: that bake is not lost either."""
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


def test_what_crosses_at_the_start_is_reported_by_name_and_selected(balls, scene):  # noqa: F811
    low, high = balls
    bpy.context.view_layer.objects.active = low
    assert bpy.ops.conjac.select_crossing() == {"FINISHED"} and low.mode == "OBJECT"
    high.location.z = 0.3  # its lower face is 2 cm below the upper one of the other
    scene.frame_set(7)
    messages = []
    assert bake.bake_object(low, report=messages.append) == 2
    assert any('"Low"' in text and '"High"' in text and "crosses" in text for text in messages), messages
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


def test_objects_whose_names_files_do_not_distinguish_play_their_own(balls, scene):  # noqa: F811
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
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert [(event["object"], event["objects"]) for event in events if event["event"] == "baked"] == [
        ("Low", ["Low", "High"])]
    assert "Low, High" in [event["text"] for event in events if event["event"] == "baked"][0]
    assert cli.run(["bake"]) == 0
    assert "Low, High" in capfd.readouterr().out
    assert all(bake.status(obj).state == "complete" for obj in balls)


def test_whose_bake_plays_is_shown_without_the_name_of_a_deleted_body(balls, scene):  # noqa: F811
    low, high = balls
    scene.frame_end = 2
    for touching in ("none", "all"):
        low.conjac.contact.collides_with = high.conjac.contact.collides_with = touching
        assert bake.bake_object(high) == 0
    low.name = "Lower"
    assert bake.status(high).state == "complete"
    bpy.data.objects.remove(low)
    assert bake.status(high).text == "It plays the bake of an object that was deleted; bake again to see its own frames"


def test_a_body_that_never_had_a_bake_of_its_own_says_whose_it_plays(balls, scene):  # noqa: F811
    low, high = balls
    scene.frame_end = 2
    assert bake.bake_object(low) == 0
    folder = place.job_folder(low)
    bpy.data.objects.remove(low)
    status = bake.status(high)
    assert (status.state, status.text) == (
        "stale", "It plays the bake of an object that was deleted; bake again to see its own frames")
    shutil.rmtree(folder)
    assert bake.status(high).text == "The file that it plays is missing; bake again to see its own frames"
    assert bake.bake_object(high) == 0
    assert bake.status(high).state == "complete"


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


def test_a_body_that_is_disabled_has_a_hint(balls, scene, tmp_path):  # noqa: F811
    balls[1].hide_viewport = True
    with pytest.raises(BadInput, match='"High": it is baked together with "Low", but it is disabled in viewports'):
        gather.write_job(balls[0], scene, tmp_path)


@pytest.mark.examples
def test_files_from_before_there_was_contact_bake_each_body_alone(addon, tmp_path):
    """The examples in the repository without contact were saved before."""
    seen = 0
    for path in sorted(Path(__file__).parents[2].glob("examples_blend/*.blend")):
        if path.stem in ("belly", "bowl", "bridge", "crane", "ducks", "edge", "friction", "hammock", "jaws", "key",
                         "lo_res", "nails", "necklace", "puppet", "push", "shirt", "tree",
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
