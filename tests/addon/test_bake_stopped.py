"""Bakes that are cancelled, paused, killed, locked out or closed go on later to the bytes of an unbroken bake."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from matrix import some

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, run_until, scene, seen_at  # noqa: E402, F401

import conjac  # noqa: E402
from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import foreground, place, session  # noqa: E402
from conjac.solver.errors import CacheBusy  # noqa: E402

ROOT = Path(conjac.__file__).parent


def test_frames_play_while_they_come_and_a_cancelled_bake_goes_on_to_the_same_bytes(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 18
    whole = session.Bake(obj, scene)
    run_until(whole, lambda: whole.exit_code is not None or whole.progress.frame == 18)
    assert whole.wait() == 0
    unbroken = frames_of(obj)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert frames_of(obj) == {}

    bake = session.Bake(obj, scene)
    assert addon_bake.status(obj).state == "baking" and not bpy.ops.conjac.bake.poll()
    run_until(bake, lambda: (bake.progress.frame or 0) >= 8 and "ConJac" in obj.modifiers)
    assert bpy.ops.conjac.cancel.poll() and bpy.ops.conjac.pause.poll()
    status = addon_bake.status(obj)
    assert status.state == "baking" and status.mine and 8 <= status.done < 18 and status.left_s > 0
    np.testing.assert_allclose(seen_at(obj, 3), np.frombuffer(unbroken["000003"], "<f4", offset=128).reshape(-1, 3),
                               atol=1e-6)

    # undo may take the modifier away: it comes back with the next frame
    obj.modifiers.clear()
    shown = bake.progress.frame
    run_until(bake, lambda: bake.progress.frame > shown + 1 and "ConJac" in obj.modifiers)
    assert obj.modifiers["ConJac"].frame_start == 1

    bpy.ops.conjac.cancel()
    while bake.tick():
        time.sleep(0.01)
    assert bake.exit_code == 75 and bake.worker.exit_code == 75  # it stopped by itself, long before the last frame
    finished = frames_of(obj)
    assert 8 <= len(finished) < 18 and all(unbroken[frame] == content for frame, content in finished.items())
    assert addon_bake.status(obj).state == "partial"
    assert not bpy.ops.conjac.cancel.poll()

    assert obj.conjac.bake() == 0
    assert frames_of(obj) == unbroken
    assert_plays(obj, (1, 9, 18))


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


@pytest.mark.own_worker  # what is forked for tests dies a moment after the process that asked for it
def test_a_worker_killed_from_outside_is_reported_and_its_bake_goes_on(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 400
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 6)
    os.kill(bake.worker.pid, signal.SIGKILL)
    assert bake.wait() == 4
    assert '"Jelly": the solver\'s process ended unexpectedly (exit code -9)' in bake.progress.error
    assert addon_bake.status(obj).state in ("partial", "broken")
    scene.frame_end = len(frames_of(obj)) + 6
    assert obj.conjac.bake() == 0
    assert addon_bake.status(obj).state == "complete"


@pytest.mark.parametrize("deleted", [".", "cache", "cache/frames"])
def test_a_folder_deleted_in_mid_bake_is_reported_and_goes_on_when_it_is_back(scene, tmp_path, deleted):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 60
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 6)
    trash = tmp_path / "trash"
    (bake.folder / deleted).rename(trash)
    assert bake.wait() == 4
    assert any(word in bake.progress.error for word in ("disappeared", "is missing"))
    assert ". Restore it, or its disk, and resume" in bake.progress.error
    trash.rename(bake.folder / deleted)
    finished = frames_of(obj)
    assert len(finished) >= 6 and addon_bake.status(obj).state == "partial"
    scene.frame_end = len(finished) + 4
    assert obj.conjac.bake() == 0 and finished.items() <= frames_of(obj).items()


def test_one_bake_at_a_time_into_one_cache(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 200
    bake = session.Bake(obj, scene)
    with pytest.raises(CacheBusy, match='"Jelly": it is already being baked'):
        session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    # another process, another Blender say, sees the lock
    other = subprocess.run([sys.executable, "-m", "solver", "bake", str(bake.folder), "--json"], cwd=ROOT, timeout=60,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert other.returncode == 4 and '"cache_busy"' in other.stdout
    bake.cancel()
    assert bake.wait() == 75


@pytest.mark.long
def test_another_process_that_bakes_keeps_this_blender_out(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 300
    assert foreground.bake(obj, scene, frames=(1, 2)) == 0
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
        with pytest.raises(RuntimeError, match="already being baked"):
            bpy.ops.conjac.bake()
        with pytest.raises(RuntimeError, match="running"):
            bpy.ops.conjac.free_bake()
    finally:
        stranger.kill()
        stranger.wait()


def test_another_file_ends_the_bake(scene):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 300
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.progress.frame is not None)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert bake.exit_code == 75 and bake.worker.exit_code is not None and session.running == {}


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
while (bake.progress.frame or 0) < 6:
    bake.tick()
    time.sleep(0.01)
print(bake.worker.pid, flush=True)
os._exit(0) if how == "exit" else time.sleep(600)
"""


@pytest.mark.parametrize("how", some(["exit", "kill"], "kill"))
def test_when_blender_closes_in_mid_bake_the_worker_ends_and_the_bake_can_go_on(scene, how):  # noqa: F811
    obj = add_jelly(step=1 / 480)
    scene.frame_end = 80
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
    until = time.monotonic() + 30.0
    while Path(f"/proc/{worker}").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    finished = frames_of(obj)
    assert 6 <= len(finished) < 80
    scene.frame_end = 80
    assert foreground.bake(obj, scene, frames=(1, 12)) == 0
    again = frames_of(obj)
    assert len(again) >= 12 and all(again[frame] == content for frame, content in finished.items() if frame in again)


def test_free_says_how_many_frames_and_how_much_of_the_disk(scene, capfd):  # noqa: F811
    from conjac.conjac_addon.bake import freeing

    obj = add_jelly()
    assert obj.conjac.bake() == 0
    folder = place.job_folder(obj)
    files = [path for path in (folder / "cache").rglob("*") if path.is_file()] + list(folder.glob("*.pc2"))
    size = freeing.size_on_disk(folder)
    assert size == f"12 frames, {sum(path.stat().st_size for path in files) / 1e3:.0f} kB"
    capfd.readouterr()
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert f'"Jelly": {size} freed' in capfd.readouterr().out
    assert not any(path.exists() for path in files)
    assert freeing.size_on_disk(folder) == "0 frames, 0 kB"
    assert [freeing.size_in_words(size) for size in (850e3, 12.34e6, 1.2e9)] == ["850 kB", "12.3 MB", "1.2 GB"]


def test_a_stopped_bake_whose_range_is_shortened_to_what_is_there_is_complete(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    scene.frame_end = 400
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: (bake.progress.frame or 0) > LAST)
    bake.cancel()
    assert bake.wait() == 75 and addon_bake.status(obj).state == "partial"
    scene.frame_end = LAST
    assert addon_bake.status(obj).state == "complete" and obj.conjac.bake() == 0
    obj.conjac.youngs_modulus *= 2.0
    # the panel called it complete: it is not replaced unless the artist asks
    request = session.Bake(obj, scene, replaces=False)
    assert request.wait() == 2
    assert f"its {LAST} finished frames" in request.progress.error and "plays the same" not in request.progress.error


@pytest.mark.parametrize("last", [LAST, 2 * LAST])
def test_a_bake_over_the_frames_of_another_scene_is_reported(scene, last):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    obj.conjac.youngs_modulus *= 2.0
    other = bpy.data.scenes.new("Shot 2")
    other.collection.objects.link(obj)
    other.frame_end = last
    requested = session.Bake(obj, other, replaces=False)
    assert requested.wait() == 2
    message = f'Scene "{scene.name}" plays the same frames: an object has one bake, in all scenes.'
    assert requested.progress.error.endswith(message)
    keeps, notes = session.Bake(obj, other, keeps=True), []
    assert keeps.wait(notes.append) == 0 and any("take 1" in note and message[:-1] in note for note in notes)
