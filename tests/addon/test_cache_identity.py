"""A bake belongs to an object by a UUID of both: names and paths may change, and copies get bakes of their own."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, run_until, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import home, place, session  # noqa: E402


def duplicate(obj, linked=False):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.duplicate(linked=linked) == {"FINISHED"}
    return bpy.context.object


def test_object_manifest_and_folder_keep_one_uuid(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    own = obj.conjac.cache.uuid
    folder = place.job_folder(obj)
    assert len(own) == 32 and place.cache_of(folder).uuid == own == home.read(folder).uuid
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Jelly"]
    assert obj.conjac.cache.uuid == own and place.of(obj) == place.Place(folder, own, True)
    assert addon_bake.status(obj).state == "complete"


def test_undo_of_a_first_bake_does_not_lose_its_folder(scene):  # noqa: F811
    obj = add_jelly()
    bpy.ops.ed.undo_push(message="before")
    assert obj.conjac.bake() == 0
    folder, before = place.job_folder(obj), frames_of(obj)
    bpy.ops.ed.undo_push(message="baked")
    obj.name = "Ham"
    bpy.ops.ed.undo_push(message="renamed")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Jelly"]
    assert not obj.conjac.cache.uuid and "ConJac" not in obj.modifiers
    assert place.job_folder(obj) == folder and frames_of(obj) == before
    assert addon_bake.bake_object(obj) == 0 and frames_of(obj) == before and obj.conjac.cache.uuid
    assert_plays(obj, (1, LAST))


def test_a_bake_whose_uuid_was_never_saved_is_found_again_by_its_own_object_only(scene):  # noqa: F811
    obj = add_jelly()
    bpy.ops.wm.save_mainfile()
    assert obj.conjac.bake() == 0
    folder, own = place.job_folder(obj), obj.conjac.cache.uuid
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)  # without saving
    obj = bpy.data.objects["Jelly"]
    assert not obj.conjac.cache.uuid and place.of(obj) == place.Place(folder, own, True)
    # another object that is given the name has nothing of it
    assert addon_bake.bake_object(obj) == 0
    obj.name = "Ham"
    other = add_jelly("Jelly")
    assert place.job_folder(other) != folder and addon_bake.status(other).state == "none"


def test_the_panel_and_cancel_find_a_running_bake_whatever_the_object_is_called(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 60
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    obj.name, obj.conjac.cache_folder = "Ham", "//elsewhere/"
    assert addon_bake.status(obj).state == "baking" and addon_bake.status(obj).mine
    assert bpy.ops.conjac.cancel.poll() and not bpy.ops.conjac.bake.poll()
    run_until(bake, lambda: bake.progress.frame >= 5)
    bpy.ops.conjac.cancel()
    assert bake.wait() == 75
    assert addon_bake.status(obj).done >= 5


def test_two_files_of_one_name_and_one_cache_folder_keep_their_bakes_apart(scene, tmp_path):  # noqa: F811
    frames = {}
    for shot in ("a", "b"):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.frame_end = LAST
        (tmp_path / shot).mkdir()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / shot / "anim.blend"))
        obj = add_jelly()
        obj.conjac.cache_folder = str(tmp_path / "cache")
        obj.conjac.youngs_modulus = 5.0e3 if shot == "a" else 8.0e3
        assert addon_bake.status(obj).state == "none"
        assert obj.conjac.bake() == 0
        frames[shot] = frames_of(obj)
        bpy.ops.wm.save_mainfile()
    assert frames["a"]["000012"] != frames["b"]["000012"]
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a" / "anim.blend"))
    obj = bpy.data.objects["Jelly"]
    assert frames_of(obj) == frames["a"] and addon_bake.status(obj).state == "complete"
    assert_plays(obj, (1, LAST))


def test_a_copy_plays_the_bake_until_it_has_its_own(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    before, folder = frames_of(obj), place.job_folder(obj)
    copy = duplicate(obj)
    copy.location.x = 1.0
    shared = place.of(copy)
    assert shared.folder == folder and not shared.own and addon_bake.status(copy).state == "complete"
    np.testing.assert_allclose(seen_at(copy, LAST), seen_at(obj, LAST), atol=1e-6)
    # the .blend stores which of the two is the copy
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj, copy = bpy.data.objects["Jelly"], bpy.data.objects["Jelly.001"]
    obj.name, copy.name = "B", "A"  # also in the order in which Blender reads them
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj, copy = bpy.data.objects["B"], bpy.data.objects["A"]
    assert place.of(obj).own and not place.of(copy).own
    copy.conjac.youngs_modulus = 8.0e3
    assert copy.conjac.bake() == 0
    assert place.of(copy).own and place.job_folder(copy) != folder
    assert frames_of(obj) == before and frames_of(copy)["000012"] != before["000012"]
    assert_plays(copy, (1, LAST))


def test_a_bake_from_before_there_were_uuids_is_taken_up(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    folder, before = place.job_folder(obj), frames_of(obj)
    # as an earlier version left it
    (folder / home.FILE).unlink()
    for path in (folder / "scene.json", folder / "cache" / "manifest.json"):
        path.write_text(path.read_text().replace(obj.conjac.cache.uuid, ""))
    obj.conjac.cache.uuid = obj.conjac.cache.folder = ""
    bpy.ops.wm.save_mainfile()
    place.forget()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Jelly"]
    assert addon_bake.status(obj).state == "complete" and place.job_folder(obj) == folder
    stamp = (folder / "cache" / "frames" / "000005.npy").stat().st_mtime_ns
    assert obj.conjac.bake() == 0
    assert frames_of(obj) == before and (folder / "cache" / "frames" / "000005.npy").stat().st_mtime_ns == stamp
    assert home.read(folder).uuid == obj.conjac.cache.uuid != ""


def test_a_copy_gets_handles_of_its_own_where_the_originals_are_on_the_original(scene):  # noqa: F811
    obj = add_jelly()
    scene.cursor.location = (-0.08, -0.08, -0.08)
    assert bpy.ops.conjac.add_handle() == {"FINISHED"}
    handle, free = obj.conjac.handles[0].object, bpy.data.objects.new("Free", None)
    scene.collection.objects.link(free)
    obj.conjac.handles.add().object = free
    copy = duplicate(obj)
    copy.location, copy.rotation_euler = (1.0, 2.0, 0.0), (0.0, 0.0, 1.0)
    assert copy.conjac.handles[0].object == handle
    assert copy.conjac.bake() == 0
    own = copy.conjac.handles[0].object
    assert own != handle and own.parent == copy and obj.conjac.handles[0].object == handle
    assert [jelly.conjac.handles[1].object for jelly in (obj, copy)] == [free, free]  # it hangs on none of them
    bpy.context.view_layer.update()
    wanted = copy.matrix_world @ obj.matrix_world.inverted() @ handle.matrix_world.translation
    np.testing.assert_allclose(own.matrix_world.translation, wanted, atol=1e-6)
    points = np.load(place.job_folder(copy) / "arrays" / "handles.npy")
    np.testing.assert_allclose(points[0], wanted, atol=1e-6)
    count = len(bpy.data.objects)
    copy.conjac.youngs_modulus = 8.0e3
    assert copy.conjac.bake() == 0 and len(bpy.data.objects) == count


def test_an_appended_object_shows_whose_bake_it_plays(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    (tmp_path / "shot").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot" / "shot.blend"))
    bpy.ops.wm.append(filename="Jelly", directory=str(tmp_path / "scene.blend" / "Object"))
    obj = bpy.data.objects["Jelly"]
    status = addon_bake.status(obj)
    assert (status.state == "stale"
            and status.text == 'It plays its bake of "scene.blend"; bake again to see its own frames')


def test_a_copy_names_whose_bake_it_plays_as_that_is_called_now_and_none_that_was_deleted(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    copy = duplicate(obj)
    assert ', of "Jelly": its first bake' in addon_bake.status(copy).text
    obj.name = "Pudding"
    assert ', of "Pudding": its first bake' in addon_bake.status(copy).text
    bpy.data.objects.remove(obj)
    status = addon_bake.status(copy)
    assert status.state == "complete" and ", of an object that was deleted: its first bake" in status.text


def test_what_came_and_went_since_a_bake_is_reported_as_that_and_not_as_moved(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    bpy.context.view_layer.objects.active = obj
    bpy.ops.conjac.add_handle()
    assert addon_bake.status(obj).text == "Baked before Handles were added; bake again"
    obj.location.x += 1.0
    bpy.context.view_layer.update()
    assert addon_bake.status(obj).text == "Baked before Jelly moved and Handles were added; bake again"
    obj.location.x -= 1.0
    bpy.context.view_layer.update()
    assert obj.conjac.bake() == 0
    bpy.ops.conjac.remove_handle(index=0)
    assert addon_bake.status(obj).text == "Baked before Handles were removed; bake again"
