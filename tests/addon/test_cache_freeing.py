"""Free removes a bake from its object, whatever the object's name, and nothing that another object plays."""

import numpy as np
import pytest
from matrix import crossed, some

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


@pytest.mark.parametrize("key, linked", crossed(["pc2", "abc", "shapekeys"], [False, True]))
def test_freeing_the_original_leaves_its_copy_playing(scene, capfd, key, linked):  # noqa: F811
    obj = add_jelly()
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    rest, shown = rest_of(obj), seen_at(obj, LAST).copy()
    copy = duplicate(obj, linked)
    output = free(obj, capfd)
    np.testing.assert_allclose(seen_at(copy, LAST), shown, atol=1e-6)
    np.testing.assert_allclose(seen_at(obj, LAST), rest, atol=1e-6)
    assert f"{LAST} frames" in output and not frames_of(obj)
    if key != "shapekeys":
        assert f'Jelly.{key}, which "Jelly.001" still plays' in output
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
    own_action = rig.animation_data.action
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
    assert rig.animation_data.action == (bpy.data.actions["Over It"] if own else own_action)
    assert not [listed for listed in bpy.data.actions if action.FOUND in listed]
    if not own:
        scene.frame_set(1)
        np.testing.assert_allclose(world_of(rig, "B2"), before, atol=1e-6)


@pytest.mark.parametrize("swapped", [False, True])
def test_what_was_renamed_after_the_bake_comes_back_too(scene, swapped):  # noqa: F811
    rig, constraint = add_rig()
    own = rig.constraints.new("LIMIT_LOCATION")
    extra = rig.pose.bones["B1"].constraints.new("LIMIT_SCALE")
    extra.mute = True
    driver = rig.driver_add('pose.bones["B2"].location', 1)
    driver.driver.expression = "0.0"
    rig.conjac.mechanism.follow = False
    rig.pose.bones["B2"].rotation_mode = "XYZ"
    rig.pose.bones["B2"].rotation_euler = 0.1, 0.2, 0.3
    assert rig.conjac.bake() == 0
    muted = [constraint, driver]
    assert all(track.mute for track in muted) and extra.mute
    before = {path.name: path.read_bytes() for path in (place.job_folder(rig) / "cache" / "poses").iterdir()}
    rig.data.bones["B2"].name = "Tip"
    if swapped:
        rig.data.bones["B0"].name = "Root"
        rig.data.bones["B1"].name = "B0"
    else:
        rig.data.bones["B1"].name = "Middle"
    middle = "B0" if swapped else "Middle"
    constraint = rig.pose.bones[middle].constraints[0]
    constraint.name = "Copied"
    own.name = "Own"
    with action.set_aside(rig):
        assert not constraint.mute and not rig.animation_data.drivers[0].mute and not own.mute
    assert constraint.mute and rig.animation_data.drivers[0].mute
    assert (middle, "Copied") in action.switched_off(rig)
    # baked again it is the same, by the new names
    assert rig.conjac.bake() == 0
    after = {path.name: path.read_bytes() for path in (place.job_folder(rig) / "cache" / "poses").iterdir()}
    assert after == before
    free(rig)
    constraint = rig.pose.bones[middle].constraints["Copied"]
    assert not constraint.mute and not own.mute and not rig.animation_data.drivers[0].mute
    assert rig.pose.bones[middle].constraints[1].mute  # as the artist has it
    assert rig.pose.bones["Tip"].rotation_euler[:] == pytest.approx((0.1, 0.2, 0.3))
    assert not any(action.CALLED in bone for bone in rig.pose.bones)


def shared_with_another(tmp_path, key="pc2"):
    """Return a baked and saved object, the path of its .blend, and the path of one that was saved from it and plays its
    bake."""
    obj, first, other = add_jelly(), bpy.data.filepath, tmp_path / "sub" / "other.blend"
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    bpy.ops.wm.save_mainfile()
    other.parent.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(other))
    return place.job_folder(obj), seen_at(obj, LAST).copy(), first, other


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Jelly"]
    bpy.context.view_layer.objects.active = obj
    return obj


@pytest.mark.parametrize("key", some(["pc2", "abc"], "pc2"))
def test_freeing_leaves_another_file_playing_until_it_has_a_bake_of_its_own(scene, tmp_path, capfd, key):  # noqa: F811
    folder, shown, first, other = shared_with_another(tmp_path, key)
    obj = opened(first)
    assert f"except Jelly.{key}, which other.blend still plays" in free(obj, capfd)
    assert not frames_of(obj) and not obj.modifiers
    bpy.ops.wm.save_mainfile()
    obj = opened(other)
    np.testing.assert_allclose(seen_at(obj, LAST), shown, atol=1e-6)
    bpy.ops.wm.save_mainfile()  # and still after that
    free(opened(first))
    obj = opened(other)
    np.testing.assert_allclose(seen_at(obj, LAST), shown, atol=1e-6)
    assert obj.conjac.bake() == 0 and place.of(obj).own
    # what is on the disk still plays the first one's
    free(opened(first))
    np.testing.assert_allclose(seen_at(opened(other), LAST), shown, atol=1e-6)
    assert bpy.data.objects["Jelly"].conjac.bake() == 0
    bpy.ops.wm.save_mainfile()
    free(opened(first))
    assert not [path for path in folder.iterdir() if path.is_file() and path.name != "scene.json"]
    assert_plays(opened(other), (1, LAST))


def test_freeing_ignores_files_that_were_deleted_or_freed_their_own(scene, tmp_path, capfd):  # noqa: F811
    folder, shown, first, other = shared_with_another(tmp_path)
    other.unlink()
    assert "still" not in free(opened(first), capfd)
    assert not list(folder.glob("*.pc2")) and not (folder / "players.json").exists()


def test_a_copy_that_was_saved_goes_on_playing(scene, tmp_path, capfd):  # noqa: F811
    obj, first = add_jelly(), bpy.data.filepath
    assert obj.conjac.bake() == 0
    bpy.ops.wm.save_mainfile()
    shown = seen_at(obj, LAST).copy()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    assert bpy.data.filepath == first and "copy.blend still plays" in free(obj, capfd)
    copy = opened(tmp_path / "copy.blend")
    np.testing.assert_allclose(seen_at(copy, LAST), shown, atol=1e-6)
    # freed there and saved, nobody plays it any more
    free(copy)
    bpy.ops.wm.save_mainfile()
    assert "still" not in free(opened(first), capfd)


def test_a_bake_that_moves_to_another_folder_leaves_what_another_file_plays(scene, tmp_path):  # noqa: F811
    folder, shown, first, other = shared_with_another(tmp_path)
    obj = opened(first)
    obj.conjac.cache_folder = str(tmp_path / "big disk")
    bpy.context.scene.frame_end = LAST + 2
    assert obj.conjac.bake() == 0 and place.job_folder(obj).parent == tmp_path / "big disk"
    assert (folder / "cache").exists(), "the saved .blend plays it until it is saved again"
    bpy.ops.wm.save_mainfile()
    assert not (folder / "cache").exists()
    np.testing.assert_allclose(seen_at(opened(other), LAST), shown, atol=1e-6)
    assert_plays(opened(first), (1, LAST + 2))


@pytest.mark.parametrize("text", ["[]", '{"files": 3}', '{"files": {"a.blend": 3, "b.blend": ["../", 7]}}', "[" * 9999])
def test_a_list_of_players_that_is_none_is_no_list(scene, tmp_path, text):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    folder = place.job_folder(obj)
    (folder / "players.json").write_text(text)
    free(obj)
    assert not list(folder.glob("*.pc2"))
