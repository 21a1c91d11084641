"""Saving never loses a bake: the first save, a save under another name, one that fails, renamed files and folders."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, run_until, scene, seen_at  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place, session  # noqa: E402

#: what the file on the disk shows at a frame, without ConJac
SHOWN = """
import sys, bpy, numpy as np
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
bpy.context.scene.frame_set(int(sys.argv[2]))
obj = bpy.data.objects[sys.argv[3]]
mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
co = np.empty(3 * len(mesh.vertices), np.float32)
mesh.vertices.foreach_get("co", co)
np.save(sys.argv[4], co.reshape(-1, 3))
"""


def on_disk(tmp_path, blend, frame=LAST, name="Jelly"):
    seen = tmp_path / "seen.npy"
    subprocess.run([sys.executable, "-c", SHOWN, str(blend), str(frame), name, str(seen)], check=True, timeout=120,
                   capture_output=True)
    return np.load(seen)


@pytest.fixture()
def unsaved(scene):  # noqa: F811
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = LAST
    return bpy.context.scene


@pytest.mark.parametrize("key", some(["pc2", "abc"], "pc2"))
def test_the_first_save_takes_the_bake_along(unsaved, tmp_path, key):
    obj = add_jelly()
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    temporary, before, shown = place.job_folder(obj), frames_of(obj), seen_at(obj, LAST)
    assert temporary.is_relative_to(bpy.app.tempdir)
    (tmp_path / "shot").mkdir()
    blend = tmp_path / "shot" / "first.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    assert place.job_folder(obj).parent == tmp_path / "shot" / "conjac_cache" and not temporary.exists()
    assert frames_of(obj) == before and addon_bake.status(obj).state == "complete"
    assert_plays(obj, (1, 5, LAST))
    # what a farm or tomorrow's Blender opens; the project has moved meanwhile
    os.rename(tmp_path / "shot", tmp_path / "moved")
    blend = tmp_path / "moved" / "first.blend"
    np.testing.assert_allclose(on_disk(tmp_path, blend), shown, atol=1e-6)
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    obj = bpy.data.objects["Jelly"]
    assert addon_bake.status(obj).state == "complete" and frames_of(obj) == before
    assert addon_bake.bake_object(obj) == 0 and frames_of(obj) == before


def test_the_first_save_during_a_bake_moves_it_when_it_has_ended(unsaved, tmp_path):
    obj = add_jelly(step=1 / 480)
    bpy.context.scene.frame_end = 26
    bake = session.Bake(obj, bpy.context.scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 5 and "ConJac" in obj.modifiers)
    temporary = place.job_folder(obj)
    blend = tmp_path / "first.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    status = addon_bake.status(obj)
    assert status.state == "baking" and status.mine and bpy.ops.conjac.cancel.poll()
    run_until(bake, lambda: bake.progress.frame >= 12)
    np.testing.assert_allclose(seen_at(obj, 10), place.cache_of(bake.folder).frame(10)["Jelly"], atol=1e-6)
    assert bake.wait() == 0
    assert place.job_folder(obj).parent == tmp_path / "conjac_cache"
    assert temporary.is_relative_to(bpy.app.tempdir) and not temporary.exists()
    assert sorted(path.name for path in place.job_folder(obj).glob("*.pc2")) == ["Jelly.pc2"]
    assert_plays(obj, (1, 26))
    # the .blend that was saved in between plays it as well
    np.testing.assert_allclose(on_disk(tmp_path, blend, 26), seen_at(obj, 26), atol=1e-6)


def test_a_bake_that_is_stopped_by_another_file_still_arrives_where_it_was_saved(unsaved, tmp_path):
    obj = add_jelly(step=1 / 480)
    bpy.context.scene.frame_end = 200
    bake = session.Bake(obj, bpy.context.scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 12)
    blend = tmp_path / "first.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    obj = bpy.data.objects["Jelly"]
    assert addon_bake.status(obj).state == "partial" and len(frames_of(obj)) >= 12


@pytest.mark.own_worker  # what is forked for tests dies a moment after the process that asked for it
def test_the_first_save_during_a_bake_whose_worker_dies_moves_it_too(unsaved, tmp_path):
    obj = add_jelly(step=1 / 480)
    bpy.context.scene.frame_end = 400
    bake = session.Bake(obj, bpy.context.scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 8 and "ConJac" in obj.modifiers)
    temporary = place.job_folder(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "first.blend"))
    os.kill(bake.worker.pid, signal.SIGKILL)
    assert bake.wait() == 4
    assert place.job_folder(obj).parent == tmp_path / "conjac_cache" and not temporary.exists()
    done = len(frames_of(obj))
    assert done >= 8 and addon_bake.status(obj).state == "partial"
    playing = bpy.path.abspath(obj.modifiers["ConJac"].filepath)
    assert os.path.exists(playing) and playing.startswith(str(tmp_path))
    assert_plays(obj, (1, 5))
    bpy.context.scene.frame_end = done + 6
    assert obj.conjac.bake() == 0 and addon_bake.status(obj).state == "complete"


def test_a_first_save_that_fails_or_is_a_copy_leaves_the_bake_where_it_is(unsaved, tmp_path):
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    temporary, shown = place.job_folder(obj), seen_at(obj, LAST)
    with pytest.raises(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "nowhere" / "a.blend"))
    assert place.job_folder(obj) == temporary and not (tmp_path / "nowhere").exists()
    assert_plays(obj, (1, LAST))
    (tmp_path / "copy").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy" / "a.blend"), copy=True)
    assert place.job_folder(obj) == temporary and addon_bake.status(obj).state == "complete"
    assert_plays(obj, (1, LAST))
    np.testing.assert_allclose(on_disk(tmp_path, tmp_path / "copy" / "a.blend"), shown, atol=1e-6)


def baked_and_saved(tmp_path, key="pc2"):
    obj = add_jelly()
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    bpy.ops.wm.save_mainfile()
    return obj, place.job_folder(obj), frames_of(obj)


@pytest.mark.parametrize("choice", [None, "SHARE", "COPY", "EMPTY"])
def test_save_as_shares_until_the_first_bake_or_does_what_is_chosen(scene, tmp_path, choice):  # noqa: F811
    obj, folder, before = baked_and_saved(tmp_path)
    first = bpy.data.filepath
    (tmp_path / "sub").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "sub" / "other.blend"))
    assert not place.of(obj).own and place.job_folder(obj) == folder
    if choice is not None:
        assert bpy.ops.conjac.shared_bakes(choice=choice) == {"FINISHED"}
        assert bpy.ops.conjac.shared_bakes.poll() == (choice == "SHARE")
    if choice == "EMPTY":
        assert addon_bake.status(obj).state == "none" and not obj.modifiers
        np.testing.assert_allclose(seen_at(obj, LAST), rest_of(obj), atol=1e-6)
    else:
        assert addon_bake.status(obj).state == "complete"
        # both files call it Jelly
        assert ('of "scene.blend": its first' in addon_bake.status(obj).text) == (choice != "COPY")
        assert place.of(obj).own == (choice == "COPY") and (place.job_folder(obj) == folder) == (choice != "COPY")
        assert_plays(obj, (1, LAST))
    # saved and loaded again it is the same, and its own bake touches nothing of the first file's
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Jelly"]
    assert addon_bake.status(obj).state == ("none" if choice == "EMPTY" else "complete")
    assert place.of(obj).own == (choice in ("COPY", "EMPTY"))
    obj.conjac.youngs_modulus = 9.0e3
    assert obj.conjac.bake() == 0
    assert place.job_folder(obj).is_relative_to(tmp_path / "sub") and frames_of(obj)["000012"] != before["000012"]
    assert_plays(obj, (1, LAST))
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    bpy.ops.wm.open_mainfile(filepath=first)
    obj = bpy.data.objects["Jelly"]
    assert place.of(obj).own and frames_of(obj) == before and addon_bake.status(obj).state == "complete"
    assert_plays(obj, (1, LAST))


def test_a_copy_that_is_saved_changes_nothing_for_the_file_that_is_open(scene, tmp_path):  # noqa: F811
    obj, folder, before = baked_and_saved(tmp_path)
    first = bpy.data.filepath
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "backup.blend"), copy=True)
    assert bpy.data.filepath == first and place.of(obj) == place.Place(folder, obj.conjac.cache.uuid, True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "backup.blend"))
    obj = bpy.data.objects["Jelly"]
    assert not place.of(obj).own and addon_bake.status(obj).state == "complete"
    assert_plays(obj, (1, LAST))


@pytest.mark.parametrize("key", some(["pc2", "abc"], "abc"))
def test_a_renamed_object_file_or_folder_keeps_the_bake(scene, tmp_path, key):  # noqa: F811
    obj, folder, before = baked_and_saved(tmp_path, key)
    stamp = (folder / "cache" / "frames" / "000005.npy").stat().st_mtime_ns
    obj.name = "Ham"
    assert addon_bake.status(obj).state == "complete" and place.job_folder(obj) == folder
    bpy.ops.wm.save_mainfile()

    os.rename(bpy.data.filepath, tmp_path / "renamed.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "renamed.blend"))
    obj = bpy.data.objects["Ham"]
    assert place.of(obj).own and addon_bake.status(obj).state == "complete"

    os.rename(tmp_path / "conjac_cache", tmp_path / "frames of it")
    obj.conjac.cache_folder = "//frames of it/"
    status = addon_bake.status(obj)
    assert (status.state, status.done) == ("stale", LAST) and "The file that it plays is missing" in status.text
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Ham"]
    assert addon_bake.status(obj).state == "complete" and frames_of(obj) == before
    shown = place.cache_of(place.job_folder(obj)).frame(LAST)["Jelly"]
    np.testing.assert_allclose(seen_at(obj, LAST), shown, atol=1e-6)
    # another cache folder for what comes: the next bake takes the frames along, and makes none anew
    obj.conjac.cache_folder = str(tmp_path / "big disk")
    assert addon_bake.status(obj).state == "complete"
    assert obj.conjac.bake() == 0
    assert place.job_folder(obj).parent == tmp_path / "big disk" and frames_of(obj) == before
    assert (place.job_folder(obj) / "cache" / "frames" / "000005.npy").stat().st_mtime_ns == stamp
    np.testing.assert_allclose(seen_at(obj, LAST), shown, atol=1e-6)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    assert not list(tmp_path.rglob("*.npy")) or not frames_of(obj)
    assert not list(tmp_path.rglob("*.pc2")) and not list(tmp_path.rglob("*.abc"))


def test_appended_linked_and_overridden_objects_begin_without_a_bake_of_their_own(scene, tmp_path):  # noqa: F811
    _, folder, before = baked_and_saved(tmp_path)
    library = bpy.data.filepath
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))  # beside the library: the same cache folder
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Jelly"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    override = linked.override_create(remap_local_usages=True)
    with bpy.data.libraries.load(library, link=False) as (_, wanted):
        wanted.objects = ["Jelly"]
    appended = wanted.objects[0]
    bpy.context.scene.collection.objects.link(appended)
    assert len({linked, override, appended}) == 3
    for obj in (linked, override, appended):
        assert not place.of(obj).own
        if obj != linked:  # it is in no collection any more
            np.testing.assert_allclose(seen_at(obj, LAST), place.cache_of(folder).frame(LAST)["Jelly"], atol=1e-6)
    folders = {folder}
    for number, obj in enumerate((override, appended)):
        obj.conjac.youngs_modulus = 8.0e3 + 1.0e3 * number
        assert obj.conjac.bake() == 0
        folders.add(place.job_folder(obj))
        assert place.of(obj).own
        cache = place.cache_of(place.job_folder(obj))
        np.testing.assert_allclose(seen_at(obj, LAST), cache.frame(LAST)[cache.bodies()[0][0]], atol=1e-6)
    assert len(folders) == 3
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    local = [obj for obj in bpy.data.objects if obj.library is None]
    assert len(local) == 2 and all(place.of(obj).own for obj in local)
    assert {place.job_folder(obj) for obj in local} == folders - {folder}
    for obj in local:
        assert addon_bake.status(obj).state == "complete"
        bpy.context.view_layer.objects.active = obj
        assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    bpy.ops.wm.open_mainfile(filepath=library)
    assert frames_of(bpy.data.objects["Jelly"]) == before
    assert_plays(bpy.data.objects["Jelly"], (1, LAST))


def test_an_override_in_a_file_of_the_librarys_name_keeps_its_own_bake_when_it_is_saved(scene, tmp_path):  # noqa: F811
    baked_and_saved(tmp_path)
    library = Path(bpy.data.filepath)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = LAST
    (tmp_path / "shot").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot" / library.name))
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Jelly"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    override = wanted.objects[0].override_create(remap_local_usages=True)
    override.conjac.youngs_modulus = 8.0e3
    assert override.conjac.bake() == 0
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    override = next(obj for obj in bpy.data.objects if obj.library is None)
    # Blender saves of an override only what reads otherwise than in the library
    status = addon_bake.status(override)
    assert status.state == "complete", status.text
    assert place.job_folder(override).is_relative_to(tmp_path / "shot")
    assert_plays(override, (1, LAST))


def test_closing_without_saving_after_save_as_and_a_bake_shows_no_tick_beside_the_other_files_motion(
        scene, tmp_path):  # noqa: F811
    obj, folder, before = baked_and_saved(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    obj.conjac.youngs_modulus = 9.0e3
    bpy.ops.wm.save_mainfile()
    assert obj.conjac.bake() == 0
    own, after = place.job_folder(obj), frames_of(obj)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)  # without saving
    obj = bpy.data.objects["Jelly"]
    shows_first = np.allclose(seen_at(obj, LAST), place.cache_of(folder).frame(LAST)["Jelly"], atol=1e-6)
    status = addon_bake.status(obj)
    assert shows_first and status.state != "complete", status
    # nothing is lost: baked again it finds every frame
    assert addon_bake.bake_object(obj) == 0
    assert place.job_folder(obj) == own and frames_of(obj) == after
    assert_plays(obj, (1, LAST))
    assert addon_bake.status(obj).state == "complete"


def test_a_longer_range_goes_on_and_a_shorter_one_keeps_what_is_baked(scene, tmp_path):  # noqa: F811
    obj, folder, before = baked_and_saved(tmp_path)
    scene.frame_end = 20
    status = addon_bake.status(obj)
    assert (status.state, status.done, status.total) == ("partial", LAST, 20)
    messages = []
    assert addon_bake.bake_object(obj, report=messages.append) == 0
    longer = frames_of(obj)
    assert len(longer) == 20 and all(longer[frame] == content for frame, content in before.items())
    assert not any("starts again" in text for text in messages)
    assert_plays(obj, (1, LAST, 20))
    scene.frame_end = 6
    status = addon_bake.status(obj)
    assert (status.state, status.done, status.total) == ("complete", 6, 6)
    assert addon_bake.bake_object(obj) == 0 and frames_of(obj) == longer
    assert addon_bake.status(obj).state == "complete"
    assert_plays(obj, (1, 6))
    scene.frame_end = 20
    assert addon_bake.status(obj).state == "complete"
    assert addon_bake.bake_object(obj) == 0 and frames_of(obj) == longer
    assert_plays(obj, (1, 20))


@pytest.mark.parametrize("folder", ["//conjac_cache", "/conjac_cache"])
def test_a_file_in_blenders_temporary_folder_keeps_its_bake_when_it_is_saved_again(unsaved, folder):
    blend = os.path.join(bpy.app.tempdir, "here.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    obj = add_jelly()
    obj.conjac.cache_folder = folder if folder.startswith("//") else os.path.join(bpy.app.tempdir, folder[1:])
    assert obj.conjac.bake() == 0
    before = frames_of(obj)
    for _ in range(2):
        bpy.ops.wm.save_mainfile()
        assert frames_of(obj) == before and addon_bake.status(obj).state == "complete"
        assert_plays(obj, (1, LAST))
