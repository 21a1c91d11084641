"""A bake from real Blender through the real solver: whole, stopped, killed, gone on with, freed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, scene, seen_at  # noqa: E402, F401
from test_panels import drawn  # noqa: E402

import conjac  # noqa: E402
from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place, session  # noqa: E402
from conjac.conjac_addon.playback import pc2  # noqa: E402
from conjac.solver.errors import CacheBusy, NoSuchThing  # noqa: E402

ROOT = Path(conjac.__file__).parent


def run_until(bake, condition, seconds=240.0):
    """Tick as the window's timer does."""
    until = time.monotonic() + seconds
    while not condition():
        assert bake.tick(), bake.progress
        assert time.monotonic() < until, bake.progress
        time.sleep(0.01)


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
    stamp = (place.job_folder(obj) / "cache" / "frames" / "000005.npy").stat().st_mtime_ns
    began = time.monotonic()
    assert obj.conjac.bake() == 0
    assert time.monotonic() - began < 3.0
    assert frames_of(obj) == before
    assert (place.job_folder(obj) / "cache" / "frames" / "000005.npy").stat().st_mtime_ns == stamp


@pytest.mark.parametrize("key", ["abc", "shapekeys", "pc2"])
def test_the_format_that_was_asked_for_plays_the_cache(scene, key):  # noqa: F811
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


def test_frames_play_while_they_come_and_a_cancelled_bake_goes_on_to_the_same_bytes(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 40
    whole = session.Bake(obj, scene)
    run_until(whole, lambda: whole.exit_code is not None or whole.progress.frame == 40)
    assert whole.wait() == 0
    unbroken = frames_of(obj)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert frames_of(obj) == {}

    bake = session.Bake(obj, scene)
    assert addon_bake.status(obj).state == "baking" and not bpy.ops.conjac.bake.poll()
    run_until(bake, lambda: (bake.progress.frame or 0) >= 14 and "ConJac" in obj.modifiers)
    assert bpy.ops.conjac.cancel.poll() and bpy.ops.conjac.pause.poll()
    status = addon_bake.status(obj)
    assert status.state == "baking" and status.mine and 14 <= status.done < 40 and status.left_s > 0
    np.testing.assert_allclose(seen_at(obj, 3), np.frombuffer(unbroken["000003"], "<f4", offset=128).reshape(-1, 3),
                               atol=1e-6)

    # undo may take the modifier away: it comes back with the next frame
    obj.modifiers.clear()
    shown = bake.progress.frame
    run_until(bake, lambda: bake.progress.frame > shown + 1 and "ConJac" in obj.modifiers)
    assert obj.modifiers["ConJac"].frame_start == 1

    began = time.monotonic()
    bpy.ops.conjac.cancel()
    while bake.tick():
        time.sleep(0.01)
    assert time.monotonic() - began < 2.0
    assert bake.exit_code == 75 and bake.worker.exit_code == 75
    kept = frames_of(obj)
    assert 14 <= len(kept) < 40 and all(unbroken[frame] == content for frame, content in kept.items())
    assert addon_bake.status(obj).state == "partial"
    assert not bpy.ops.conjac.cancel.poll()

    assert obj.conjac.bake() == 0
    assert frames_of(obj) == unbroken
    assert_plays(obj, (1, 13, 40))


def test_pause_stops_after_the_step_in_hand(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 60
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 2)
    bpy.ops.conjac.pause()
    assert bake.wait() == 75
    assert bake.worker.exit_code == 75  # it ended by itself
    assert addon_bake.status(obj).state == "partial" and obj.modifiers["ConJac"].type == "MESH_CACHE"


def test_stopping_while_the_scene_is_read_leaves_it_as_it_was(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_end = 400
    scene.frame_set(7)
    bake = session.Bake(obj, scene)
    bake.tick(budget=0.0)
    bake.tick(budget=0.0)
    assert bake.worker is None
    bake.cancel()
    assert bake.wait() == 75
    assert scene.frame_current == 7 and not place.job_folder(obj).joinpath("scene.json").exists()
    assert session.running == {}


def test_a_worker_killed_from_outside_is_told_and_gone_on_with(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 30
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 12)
    os.kill(bake.worker.pid, signal.SIGKILL)
    assert bake.wait() == 4
    assert '"Jelly": the solver\'s process ended by itself (exit code -9)' in bake.progress.error
    assert addon_bake.status(obj).state in ("partial", "broken")
    assert obj.conjac.bake() == 0
    assert addon_bake.status(obj).state == "complete"


def test_a_diverging_bake_keeps_its_frames_and_says_what_to_change(scene):  # noqa: F811
    obj = add_jelly(step=1 / 24)
    obj.conjac.method, obj.conjac.beta, obj.conjac.youngs_modulus = "vanilla", 0.0, 1.0e7
    with pytest.raises(RuntimeError, match='"Jelly", frame .*Damping'):
        bpy.ops.conjac.bake()
    status = addon_bake.status(obj)
    assert status.state == "partial" and 1 <= status.done < LAST
    assert_plays(obj, range(1, status.done + 1))
    assert session.running == {} and bpy.ops.conjac.bake.poll()
    assert obj.conjac.bake() == 3


def test_a_changed_setting_makes_it_stale_by_name_and_baked_anew(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    before = frames_of(obj)
    obj.conjac.youngs_modulus = 2.0e4
    status = addon_bake.status(obj)
    assert status.state == "stale" and "Young's Modulus" in status.text
    obj.conjac.youngs_modulus = 5.0e3
    assert addon_bake.status(obj).state == "complete"
    obj.conjac.youngs_modulus = 2.0e4
    said = []
    assert addon_bake.bake_object(obj, report=said.append) == 0
    assert any("the bake begins anew" in text for text in said)
    assert addon_bake.status(obj).state == "complete"
    assert frames_of(obj)["000012"] != before["000012"]
    assert_plays(obj, (1, LAST))


def test_other_vertices_make_it_stale_where_no_modifier_hides_their_number(scene):  # noqa: F811
    obj = add_jelly()
    obj.modifiers.new("Smooth", "SUBSURF")  # below the ConJac modifier
    assert obj.conjac.bake() == 0
    whole = obj.data
    obj.data = whole.copy()
    obj.data.vertices.add(3)
    status = addon_bake.status(obj)
    assert status.state == "stale" and "56 vertices, the mesh has 59 now" in status.text
    obj.modifiers.move(0, 1)  # what counts now is what comes out of Smooth
    assert addon_bake.status(obj).state == "complete"
    obj.modifiers.move(1, 0)
    obj.data = whole
    assert addon_bake.status(obj).state == "complete"


def test_what_a_bake_that_did_not_begin_changed_is_named_in_the_artists_words(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    obj.conjac.youngs_modulus, obj.data.vertices[0].co.x = 6.0e3, -0.11
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.worker is not None)
    bake.close()
    status = addon_bake.status(obj)
    assert status.state == "stale" and status.text == "Baked before Vertices, Young's Modulus changed; bake again"


def test_one_bake_at_a_time_into_one_cache(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 200
    bake = session.Bake(obj, scene)
    with pytest.raises(CacheBusy, match='"Jelly": it is being baked already'):
        session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    # another process, another Blender say, sees the lock
    other = subprocess.run([sys.executable, "-m", "solver", "bake", str(bake.folder), "--json"], cwd=ROOT, timeout=60,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert other.returncode == 4 and '"cache_busy"' in other.stdout
    bake.cancel()
    assert bake.wait() == 75


def test_another_process_that_bakes_keeps_this_blender_out(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 300
    assert session.bake(obj, scene, frames=(1, 2)) == 0
    folder = place.job_folder(obj)
    stranger = subprocess.Popen([sys.executable, "-m", "solver", "bake", str(folder), "--json", "--resume"], cwd=ROOT,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for line in stranger.stdout:
            if json.loads(line)["event"] == "frame":
                break
        time.sleep(1.1)  # a status is believed for a second
        status = addon_bake.status(obj)
        assert status.state == "baking" and not status.mine
        with pytest.raises(RuntimeError, match="being baked already"):
            bpy.ops.conjac.bake()
        with pytest.raises(RuntimeError, match="running"):
            bpy.ops.conjac.free_bake()
    finally:
        stranger.kill()
        stranger.wait()


def test_free_deletes_what_was_baked_and_nothing_else(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    assert not bpy.ops.conjac.free_bake.poll() and not bpy.ops.conjac.export.poll()
    assert obj.conjac.bake() == 0
    bpy.ops.conjac.export(format="abc")
    folder = place.job_folder(obj)
    (folder / "cache" / "notes.txt").write_text("the artist's")
    (folder / "render.png").write_text("the artist's")
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert [path for path in left if not path.startswith(("arrays", "stages"))] == [
        "cache/notes.txt", "render.png", "scene.json"]
    assert not obj.modifiers and addon_bake.status(obj).state == "none"
    np.testing.assert_allclose(seen_at(obj, LAST), rest_of(obj), atol=1e-6)
    assert not bpy.ops.conjac.free_bake.poll()


def test_a_refused_mesh_is_one_sentence_and_leaves_a_usable_panel(scene):  # noqa: F811
    obj = add_jelly()
    good = obj.data
    obj.data = bpy.data.meshes.new("Nothing")
    with pytest.raises(RuntimeError, match='^Error: "Jelly"'):
        bpy.ops.conjac.bake()
    assert session.running == {} and bpy.ops.conjac.bake.poll()
    obj.data = good
    obj.conjac.mesher = "grid"
    good.vertices[0].co.x += 0.05  # no box any more: the solver refuses it
    with pytest.raises(RuntimeError, match='"Jelly".*box'):
        bpy.ops.conjac.bake()
    good.vertices[0].co.x -= 0.05
    assert bpy.ops.conjac.bake() == {"FINISHED"}


def test_shape_keys_survive_undo_redo_and_a_bake_that_is_refused(scene):  # noqa: F811
    def jelly():
        return bpy.data.objects["Jelly"]  # undo moves it in memory

    add_jelly()
    assert jelly().conjac.bake() == 0
    bpy.ops.ed.undo_push(message="PC2 plays")
    assert bpy.ops.conjac.export(format="shapekeys") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="shape keys play")
    bpy.ops.ed.undo()
    assert jelly().data.shape_keys is None and jelly().modifiers["ConJac"].type == "MESH_CACHE"
    assert_plays(jelly(), (1, 7, LAST))
    bpy.ops.ed.redo()
    assert jelly().data.shape_keys is not None and not jelly().modifiers
    assert_plays(jelly(), (1, 7, LAST))

    # refused while it reads: what plays goes on playing
    jelly().conjac.pin_group = "Missing"
    with pytest.raises(RuntimeError, match="no vertex group"):
        bpy.ops.conjac.bake()
    assert_plays(jelly(), (1, 7, LAST))
    jelly().conjac.pin_group = "Pin"

    # undone in the middle of the next bake: its end is as it would have been
    jelly().conjac.export, jelly().conjac.step, jelly().conjac.youngs_modulus = "shapekeys", 1 / 480, 6.0e3
    before = frames_of(jelly())
    bpy.ops.ed.undo_push(message="before the bake")
    jelly().location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bake = session.Bake(jelly(), bpy.context.scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 4 and "ConJac" in jelly().modifiers)
    bpy.ops.ed.undo()
    assert jelly().location.x == 0.0 and "ConJac" not in jelly().modifiers
    assert bake.wait() == 0, bake.progress.error
    assert len(jelly().data.shape_keys.key_blocks) == LAST + 1 and not jelly().modifiers
    assert_plays(jelly(), (1, 7, LAST))
    assert frames_of(jelly())["000012"] != before["000012"]


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


def test_a_body_that_is_pinned_all_over_is_refused_by_name(scene):  # noqa: F811
    obj = add_jelly()
    obj.vertex_groups["Pin"].add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.vertex_groups["Dynamic"].remove(range(len(obj.data.vertices)))
    with pytest.raises(RuntimeError, match='"Jelly": every node is pinned'):
        bpy.ops.conjac.bake()
    assert session.running == {} and bpy.ops.conjac.bake.poll()
    obj.vertex_groups["Pin"].remove(np.flatnonzero(rest_of(obj)[:, 2] < 0.09).tolist())
    assert bpy.ops.conjac.bake() == {"FINISHED"}


def test_every_operator_that_fails_leaves_a_usable_panel(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_end = 3
    assert obj.conjac.bake() == 0
    first = place.job_folder(obj) / "cache" / "frames" / "000001.npy"
    whole = first.read_bytes()
    buttons = {name for kind, name in drawn(obj) if kind == "operator"}

    def refused(operator, why, **words):
        with pytest.raises(RuntimeError, match=why):
            operator(**words)
        assert session.running == {} and {name for kind, name in drawn(obj) if kind == "operator"} == buttons
        assert bpy.context.active_object == obj and obj.mode == "OBJECT" and len(bpy.data.scenes) == 1
        for name in ("bake", "preview_tets", "export", "free_bake", "remove", "add_group", "add_handle"):
            assert getattr(bpy.ops.conjac, name).poll(), name

    refused(bpy.ops.conjac.remove_handle, "only 0 handles", index=2)
    obj.conjac.pin_group = "Missing"
    refused(bpy.ops.conjac.bake, '"Jelly": there is no vertex group "Missing"')
    refused(bpy.ops.conjac.preview_tets, '"Jelly": there is no vertex group "Missing"')
    obj.conjac.pin_group = "Pin"
    mesh, obj.data = obj.data, bpy.data.meshes.new("Nothing")
    for key in ("pc2", "abc", "shapekeys"):
        refused(bpy.ops.conjac.export, '"Jelly": it(s mesh)? has 0 vertices', format=key)
    obj.data = mesh
    first.unlink()
    refused(bpy.ops.conjac.export, '"Jelly": nothing is baked yet', format="abc")
    first.mkdir()  # a file that cannot be deleted
    refused(bpy.ops.conjac.free_bake, '"Jelly": .*000001.npy')
    first.rmdir()
    first.write_bytes(whole)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert_plays(obj, (1, 3))


def test_the_object_may_be_renamed_but_not_deleted_while_it_is_baked(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    obj.name = "Renamed"
    assert bake.wait() == 0
    cache = place.cache_of(bake.folder)
    np.testing.assert_allclose(seen_at(obj, LAST), cache.frame(LAST)["Jelly"], atol=1e-6)

    obj = add_jelly("Other", step=1 / 480)
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    bpy.data.objects.remove(obj)
    assert bake.wait() == NoSuchThing.exit_code
    assert '"Other": it was deleted while it was baked' in bake.progress.error
    assert len(place.cache_of(bake.folder).frames_done()) == LAST


def test_another_file_ends_the_bake(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 300
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert bake.exit_code == 75 and bake.worker.exit_code is not None and session.running == {}


def test_a_file_never_saved_says_where_its_frames_are(scene):  # noqa: F811
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = 3
    obj = add_jelly()
    said = []
    assert addon_bake.bake_object(obj, wait=False, report=said.append) == 0  # no window: it is waited for
    assert any("never saved" in text for text in said)
    assert_plays(obj, (1, 3))


def test_a_name_of_any_alphabet(scene):  # noqa: F811
    obj = add_jelly("Желе/../ 骨")
    scene.frame_end = 3
    assert obj.conjac.bake() == 0
    assert_plays(obj, (1, 3))
    assert place.job_folder(obj).parent.name == "conjac_cache"


CLOSED_IN_MID_BAKE = """
import importlib.util, os, pathlib, sys, time
root, blend, how = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
spec = importlib.util.spec_from_file_location("conjac", root / "__init__.py", submodule_search_locations=[str(root)])
conjac = importlib.util.module_from_spec(spec)
sys.modules["conjac"] = conjac
spec.loader.exec_module(conjac)
import bpy
conjac.register()
bpy.ops.wm.open_mainfile(filepath=blend)
from conjac.conjac_addon.bake import session
bake = session.Bake(bpy.data.objects["Jelly"], bpy.context.scene)
while (bake.progress.frame or 0) < 12:
    bake.tick()
    time.sleep(0.01)
print(bake.worker.pid, flush=True)
os._exit(0) if how == "exit" else time.sleep(600)
"""


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_when_blender_closes_in_mid_bake_the_worker_ends_and_the_bake_can_go_on(scene, how):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 200
    bpy.ops.wm.save_mainfile()
    blender = subprocess.Popen([sys.executable, "-c", CLOSED_IN_MID_BAKE, str(ROOT), bpy.data.filepath, how],
                               stdout=subprocess.PIPE, text=True)
    try:
        worker = 0
        for line in blender.stdout:
            if line.strip().isdigit():
                worker = int(line)
                break
        assert worker
    finally:
        if how == "kill":
            blender.kill()
        blender.wait(30)
    until = time.monotonic() + 5.0
    while Path(f"/proc/{worker}").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    kept = frames_of(obj)
    assert 12 <= len(kept) < 200
    scene.frame_end = 200
    assert session.bake(obj, scene, frames=(1, 30)) == 0
    again = frames_of(obj)
    assert len(again) >= 30 and all(again[frame] == content for frame, content in kept.items() if frame in again)
