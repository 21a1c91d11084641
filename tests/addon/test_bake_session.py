"""A complete bake from real Blender through the real solver: its frames, its formats, and the modifiers above and
below."""


import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, run_until, scene, seen_at  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place, session  # noqa: E402
from conjac.conjac_addon.playback import pc2  # noqa: E402
from conjac.solver.errors import NoSuchThing  # noqa: E402


def test_the_bake_button_leaves_a_whole_bake_that_plays(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_set(5)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert scene.frame_current == 5
    status = addon_bake.status(obj)
    assert (status.state, status.done, status.total) == ("complete", LAST, LAST)
    assert_plays(obj, range(1, LAST + 1))
    # it is a simulation: the free end has sunk, the top has not, and the first frame is the artist's own shape
    rest = rest_of(obj)
    np.testing.assert_allclose(seen_at(obj, 1), rest, atol=1e-6)
    moved = seen_at(obj, LAST) - rest
    assert moved[rest[:, 2] < -0.09, 2].max() < -1e-3
    np.testing.assert_allclose(moved[rest[:, 2] > 0.09], 0, atol=1e-6)
    assert pc2.read_header(place.playback_path(obj).with_suffix(".pc2")) == (len(rest), 1, LAST)

    # asked again it is done at once, and nothing is written anew
    before = frames_of(obj)
    assert len(before) == LAST
    files = [place.job_folder(obj) / "cache" / "frames" / f"{frame}.npy" for frame in before]
    stamps = [path.stat().st_mtime_ns for path in files]
    assert obj.conjac.bake() == 0
    assert frames_of(obj) == before
    assert [path.stat().st_mtime_ns for path in files] == stamps


def test_a_body_without_dynamic_nodes_is_called_quasistatic_once(scene):  # noqa: F811
    obj, messages, scene.frame_end = add_jelly(), [], 2
    obj.vertex_groups.remove(obj.vertex_groups["Dynamic"])
    assert addon_bake.bake_object(obj, report=messages.append) == 0
    assert [text for text in messages if "quasistatic" in text] == [
        '"Jelly": it has no dynamic node, so it moves quasistatically: it follows its pins without swinging']


@pytest.mark.parametrize("key", some(["abc", "shapekeys", "pc2"], "abc"))
def test_the_chosen_format_plays_the_cache(scene, key):  # noqa: F811
    obj = add_jelly()
    obj.modifiers.new("Fine", "SUBSURF")
    obj.modifiers["Fine"].show_viewport = False
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    assert [m.type for m in obj.modifiers] == {
        "pc2": ["MESH_CACHE", "SUBSURF"], "abc": ["MESH_SEQUENCE_CACHE", "SUBSURF"], "shapekeys": ["SUBSURF"]}[key]
    assert_plays(obj, (1, 7, LAST))
    # baking what plays its own bake gives the same bake, not one of the deformed shape
    before = frames_of(obj)
    scene.frame_set(LAST)
    obj.conjac.youngs_modulus = 6.0e3
    assert obj.conjac.bake() == 0
    assert frames_of(obj)["000001"] == before["000001"] and frames_of(obj)["000012"] != before["000012"]
    for other in ("pc2", "shapekeys", "abc"):
        assert bpy.ops.conjac.export(format=other) == {"FINISHED"}
        assert_plays(obj, (1, 6, LAST))


def test_a_rig_above_and_subdivision_below_are_applied_once(scene):  # noqa: F811
    obj = add_jelly()
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    obj.vertex_groups.new(name=rig.data.bones[0].name).add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.modifiers.new("Rig", "ARMATURE").object = rig
    obj.modifiers.new("Smooth", "SUBSURF").levels = 1
    pose = rig.pose.bones[0]
    pose.keyframe_insert("location", frame=1)
    pose.location = (0.3, 0.2, 0.1)
    pose.keyframe_insert("location", frame=LAST)
    move = np.array(rig.matrix_world.to_3x3() @ pose.bone.matrix_local.to_3x3() @ pose.location)

    assert obj.conjac.bake() == 0
    assert [m.name for m in obj.modifiers] == ["Rig", "ConJac", "Smooth"]
    frames = place.cache_of(place.job_folder(obj))
    rest, last = rest_of(obj), frames.frame(LAST)["Jelly"]
    top = rest[:, 2] > 0.09
    np.testing.assert_allclose((last - rest)[top], np.tile(move, (top.sum(), 1)), atol=1e-5)  # pins follow the rig once
    assert np.abs(last - rest - move)[~top].max() > 1e-3  # the rest does not simply follow
    # what is seen is the subdivision of the frame, and of nothing else
    plain = obj.data.copy()
    plain.vertices.foreach_set("co", last.ravel())
    smooth = bpy.data.objects.new("Smooth", plain)
    smooth.modifiers.new("Smooth", "SUBSURF").levels = 1
    scene.collection.objects.link(smooth)
    np.testing.assert_allclose(seen_at(obj, LAST), seen_at(smooth, LAST), atol=1e-6)


def test_the_object_may_be_renamed_but_not_deleted_while_it_is_baked(scene):  # noqa: F811
    obj = add_jelly(step=1 / 240)
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    obj.name = "Renamed"
    assert bake.wait() == 0
    cache = place.cache_of(bake.folder)
    np.testing.assert_allclose(seen_at(obj, LAST), cache.frame(LAST)["Jelly"], atol=1e-6)

    obj = add_jelly("Other", step=1 / 240)
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    bpy.data.objects.remove(obj)
    assert bake.wait() == NoSuchThing.exit_code
    assert '"Other": it was deleted while it was baked' in bake.progress.error
    assert len(place.cache_of(bake.folder).frames_done()) == LAST


def test_a_file_never_saved_says_where_its_frames_are(scene):  # noqa: F811
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = 3
    obj = add_jelly()
    messages = []
    assert addon_bake.bake_object(obj, wait=False, report=messages.append) == 0  # no window: it is waited for
    assert any("never been saved" in text for text in messages)
    assert_plays(obj, (1, 3))


def test_a_name_of_any_alphabet(scene):  # noqa: F811
    obj = add_jelly("Желе/../ 骨")
    scene.frame_end = 3
    assert obj.conjac.bake() == 0
    assert_plays(obj, (1, 3))
    assert place.job_folder(obj).parent.name == "conjac_cache"
