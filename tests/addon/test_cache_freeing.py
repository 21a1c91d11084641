"""Free takes a bake from its object, whatever that is called, and nothing that another object plays."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, scene, seen_at  # noqa: E402, F401
from rig import add_chain, world_of  # noqa: E402

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.playback import action  # noqa: E402


def duplicate(obj, linked):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.duplicate(linked=linked) == {"FINISHED"}
    return bpy.context.object


def free(obj, capfd=None):
    bpy.context.view_layer.objects.active = obj
    if capfd is not None:
        capfd.readouterr()
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    return "" if capfd is None else capfd.readouterr().out


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("key", ["pc2", "abc", "shapekeys"])
def test_freeing_the_original_leaves_its_copy_playing(scene, capfd, key, linked):  # noqa: F811
    obj = add_jelly()
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    rest, shown = rest_of(obj), seen_at(obj, LAST).copy()
    copy = duplicate(obj, linked)
    said = free(obj, capfd)
    np.testing.assert_allclose(seen_at(copy, LAST), shown, atol=1e-6)
    np.testing.assert_allclose(seen_at(obj, LAST), rest, atol=1e-6)
    assert f"{LAST} frames" in said and not frames_of(obj)
    if key != "shapekeys":
        assert f'Jelly.{key}, which "Jelly.001" still plays' in said
    # and after a night on the disk
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj, copy = bpy.data.objects["Jelly"], bpy.data.objects["Jelly.001"]
    np.testing.assert_allclose(seen_at(copy, LAST), shown, atol=1e-6)
    # the copy's turn: what is left of the first bake can be freed then
    free(copy)
    np.testing.assert_allclose(seen_at(copy, LAST), rest, atol=1e-6)
    if key != "shapekeys":
        free(obj)
    assert not [path for path in place.job_folder(obj).glob("*.*") if path.suffix in (".pc2", ".abc")]


def test_freeing_a_copy_frees_nothing_of_the_original(scene, capfd):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    before, copy = frames_of(obj), duplicate(obj, False)
    assert 'the frames of "Jelly" stay' in free(copy, capfd)
    assert "ConJac" not in copy.modifiers and frames_of(obj) == before
    assert_plays(obj, (1, LAST))
    assert not bpy.ops.conjac.free_bake.poll()


def test_free_after_a_rename_frees_the_files_and_says_how_many(scene, capfd):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    folder = place.job_folder(obj)
    obj.name = "Ham"
    assert f'"Ham": {LAST} frames' in free(obj, capfd)
    assert not list(folder.rglob("frames/*.npy")) and not list(folder.glob("*.pc2"))
    assert addon_bake.status(obj).state == "none" and not obj.modifiers


def add_rig():
    rig = add_chain()
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    for bone in rig.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
    constraint = rig.pose.bones["B1"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.influence = target, 0.25
    bpy.context.view_layer.objects.active = rig
    return rig, constraint


@pytest.mark.parametrize("own", [False, True])
def test_a_bake_that_was_pushed_down_into_the_nla_goes_with_free(scene, own):  # noqa: F811
    rig, constraint = add_rig()
    mine = rig.animation_data.action
    before = world_of(rig, "B2")
    assert rig.conjac.bake() == 0
    baked = action.ours(rig)
    assert constraint.mute and baked is not None
    scene.frame_set(LAST)
    shown = world_of(rig, "B2")
    track = rig.animation_data.nla_tracks.new()
    track.strips.new(baked.name, 1, baked)
    rig.animation_data.action = bpy.data.actions.new("Over It") if own else None
    scene.frame_set(LAST)
    np.testing.assert_allclose(world_of(rig, "B2"), shown, atol=1e-5)
    assert action.ours(rig) == baked and bpy.ops.conjac.free_bake.poll()
    # baked again it is the same bake: what the strip plays is no input
    frames = {path.name: path.read_bytes() for path in (place.job_folder(rig) / "cache" / "poses").iterdir()}
    if not own:
        assert rig.conjac.bake() == 0
        again = {path.name: path.read_bytes() for path in (place.job_folder(rig) / "cache" / "poses").iterdir()}
        assert again == frames
    free(rig)
    assert not rig.animation_data.nla_tracks and not constraint.mute
    assert rig.animation_data.action == (bpy.data.actions["Over It"] if own else mine)
    assert not [one for one in bpy.data.actions if action.FOUND in one]
    if not own:
        scene.frame_set(1)
        np.testing.assert_allclose(world_of(rig, "B2"), before, atol=1e-6)
