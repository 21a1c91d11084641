"""Blender's command line, through the handler that is registered with it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import add_ball  # noqa: E402
from jelly import LAST, add_jelly, assert_plays, frames_of, scene  # noqa: E402, F401

import conjac  # noqa: E402
from conjac.conjac_addon.bake import place, saving, session  # noqa: E402


@pytest.fixture()
def run(scene, monkeypatch):  # noqa: F811
    """Call the handler that Blender was given, not the function by its name."""
    conjac.unregister()
    given = {}
    register = bpy.utils.register_cli_command
    monkeypatch.setattr(bpy.utils, "register_cli_command",
                        lambda name, handler: given.update({name: handler}) or register(name, handler))
    conjac.register()
    return given["conjac"]


def test_every_soft_body_of_the_scene_is_baked_and_the_file_saved_on_request(run, capfd):
    add_jelly("Jelly")
    second = add_jelly("Second")
    second.conjac.export = "shapekeys"
    bpy.ops.mesh.primitive_plane_add()
    assert run(["bake", "--save"]) == 0
    output = capfd.readouterr().out
    assert f"Frame {LAST} of {LAST}" in output and "Second" in output
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert_plays(bpy.data.objects["Jelly"], (1, LAST))
    assert_plays(bpy.data.objects["Second"], (1, LAST))
    assert bpy.data.objects["Second"].data.shape_keys is not None


def test_frames_and_object_and_format_by_option(run):
    first, second = add_jelly("Jelly"), add_jelly("Second")
    assert run(["bake", "--object", "Second", "--frames", "3-5", "--format", "abc"]) == 0
    assert frames_of(first) == {}
    assert {f"{frame:06d}" for frame in (3, 4, 5)} <= set(frames_of(second)) and f"{LAST:06d}" not in frames_of(second)
    assert second.modifiers["ConJac"].type == "MESH_SEQUENCE_CACHE"
    assert_plays(second, (3, 5))
    # the rest goes on from there
    assert run(["bake", "--object", "Second"]) == 0
    assert len(frames_of(second)) == LAST
    files = sorted((place.job_folder(second) / "cache" / "frames").iterdir())
    stamps = [path.stat().st_mtime_ns for path in files]
    assert run(["bake", "--object", "Second", "--frames", "2"]) == 0
    assert len(stamps) == LAST and [path.stat().st_mtime_ns for path in files] == stamps  # nothing was simulated


@pytest.mark.parametrize("argv", [[], ["nope"], ["bake", "--frames", "a-b"], ["bake", "--format", "mp4"],
                                  ["bake", "--object", "Missing"], ["bake", "--object", "Plane"], ["bake"],
                                  ["bake", "--object", "Jelly", "--frames", "5-50"]])
def test_bad_input_is_2_and_reported(run, argv, capfd):
    if argv[-1:] == ["5-50"]:
        add_jelly()
    bpy.ops.mesh.primitive_plane_add()
    assert run(argv) == 2
    captured = capfd.readouterr()
    assert (captured.out + captured.err).strip()
    assert "Traceback" not in captured.err


def test_json_is_one_object_a_line(run, capfd):
    add_jelly()
    assert run(["bake", "--json"]) == 0
    messages = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    events = [message["event"] for message in messages]
    assert events[-2:] == ["baked", "end"] and events.count("start") == 1
    # the first frame is there from the start
    assert [message["frame"] for message in messages if message["event"] == "frame"] == list(range(2, LAST + 1))
    assert {message["object"] for message in messages[:-1]} == {"Jelly"}
    assert messages[-1] == {"event": "end", "code": 0, "text": "1 baked"} and messages[-2]["code"] == 0
    assert {"read", "tets", "write"} <= {message["stage"] for message in messages if message["event"] == "stage"}


def test_json_says_what_failed_and_where(run, capfd, tmp_path):
    first = add_jelly("Jelly")
    add_jelly("Second")
    first.conjac.cache_folder = str(tmp_path / "file" / "cache")
    (tmp_path / "file").write_text("in the way")
    assert run(["bake", "--json"]) == 4
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    failed, done = [message for message in events if message["event"] == "baked"]
    assert (failed["object"], failed["code"], failed["error"]) == ("Jelly", 4, "cache_unwritable")
    assert (done["object"], done["code"], done["error"]) == ("Second", 0, "")
    assert events[-1]["event"] == "end" and events[-1]["code"] == 4
    assert run(["bake", "--json", "--object", "Missing"]) == 2
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert [message["event"] for message in events] == ["end"] and "Missing" in events[0]["text"]


def test_a_still_object_is_reported_once_while_it_is_read(run, capfd):
    add_jelly()
    bpy.context.scene.frame_end = 60
    assert run(["bake", "--frames", "1-2"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert sum("Reading" in line for line in lines) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends processes no SIGTERM")
def test_a_farm_that_ends_the_job_gets_75_and_a_last_line_and_the_next_run_goes_on(run, capfd):
    first, second = add_jelly("Jelly"), add_jelly("Second")
    bpy.context.scene.frame_end = 400
    before = signal.getsignal(signal.SIGTERM)

    def end():
        while not (there := list(session.running.values())) or (there[0].progress.frame or 0) < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    farm = threading.Thread(target=end)
    farm.start()
    assert run(["bake", "--json"]) == 75
    farm.join()
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert [event["object"] for event in events if event["event"] == "baked"] == ["Jelly"]  # the other is not started
    assert (events[-1]["event"], events[-1]["code"]) == ("end", 75) and signal.getsignal(signal.SIGTERM) == before
    assert 3 <= len(frames_of(first)) < 400 and frames_of(second) == {}
    bpy.context.scene.frame_end = len(frames_of(first))
    assert run(["bake", "--object", "Jelly"]) == 0


def test_help_is_0(run, capfd):
    assert run(["bake", "--help"]) == 0
    assert "--frames A-B" in capfd.readouterr().out


def test_a_folder_that_cannot_be_written_is_4(run, tmp_path, capfd):
    obj = add_jelly()
    (tmp_path / "file").write_text("in the way")
    obj.conjac.cache_folder = str(tmp_path / "file" / "cache")
    assert run(["bake"]) == 4
    captured = capfd.readouterr()
    assert '"Jelly": ' in captured.out + captured.err and "cannot be written" in captured.out + captured.err


def test_a_frame_lost_from_a_finished_bake_is_made_again(run):
    obj = add_jelly()
    assert run(["bake"]) == 0
    lost = place.job_folder(obj) / "cache" / "frames" / "000007.npy"
    whole = lost.read_bytes()
    lost.write_bytes(whole[:-4])
    assert run(["bake"]) == 0  # noticed and made again
    assert lost.read_bytes() == whole


def test_a_bake_that_fails_does_not_touch_the_file(run, capfd):
    good, bad = add_jelly("Good"), add_jelly("Bad")
    bad.conjac.pin_group = "Missing"
    bpy.ops.wm.save_mainfile()
    blend = Path(bpy.data.filepath)
    before = blend.read_bytes()
    assert run(["bake", "--save"]) == 2
    assert blend.read_bytes() == before
    assert "is not saved" in capfd.readouterr().out
    assert_plays(good, (1, LAST))  # the other one is baked all the same
    bad.conjac.pin_group = "Pin"
    assert run(["bake", "--save"]) == 0
    assert blend.read_bytes() != before


def test_a_file_that_cannot_be_saved_is_4_and_one_sentence(run, capfd):
    """Frames of a farm's bake are complete, and the next run only has to save."""
    obj = add_jelly("Jelly")
    in_the_way = saving.beside(Path(bpy.data.filepath))  # what Blender writes first
    in_the_way.mkdir()
    assert run(["bake", "--save"]) == 4
    errors = capfd.readouterr().err
    assert f"very frame is baked, and {bpy.data.filepath} is not saved" in errors
    assert "Traceback" not in errors and len(errors.splitlines()) == 1
    stamps = [path.stat().st_mtime_ns for path in (place.job_folder(obj) / "cache" / "frames").iterdir()]
    in_the_way.rmdir()
    assert run(["bake", "--save"]) == 0
    assert stamps == [path.stat().st_mtime_ns for path in (place.job_folder(obj) / "cache" / "frames").iterdir()]


def test_nothing_to_save_is_reported_before_anything_is_baked(run, capfd):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_jelly()
    assert run(["bake", "--save"]) == 2
    assert "no .blend to save" in capfd.readouterr().err


REGISTERED_AT_EXIT = """
import importlib.util, pathlib, sys
root = pathlib.Path(sys.argv[1])
spec = importlib.util.spec_from_file_location("conjac", root / "__init__.py", submodule_search_locations=[str(root)])
conjac = importlib.util.module_from_spec(spec)
sys.modules["conjac"] = conjac
spec.loader.exec_module(conjac)
import bpy
conjac.register()
"""

BAKING_AT_EXIT = """
bpy.ops.mesh.primitive_cube_add()
soft = bpy.context.object.conjac
soft.enabled, soft.mesher, soft.edge_length = True, "grid", 0.5
from conjac.conjac_addon.bake import session
bake = session.Bake(bpy.context.object, bpy.context.scene)
while bake.worker is None:
    bake.tick()
print("WORKER", bake.worker.pid, flush=True)
"""


@pytest.mark.parametrize("more", ["", BAKING_AT_EXIT], ids=["idle", "baking"])
def test_a_script_may_end_without_taking_the_extension_back(more):
    """Blender as a module crashes with a command, and hangs with a handler, that is still registered when it exits."""
    ran = subprocess.run([sys.executable, "-c", REGISTERED_AT_EXIT + more, str(Path(conjac.__file__).parent)],
                         timeout=60, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "Not freed" not in ran.stdout + ran.stderr
    if more:
        worker = ran.stdout.partition("WORKER ")[2].split()[0]
        assert not Path("/proc", worker).exists()


def test_register_takes_the_command_back(run):
    from conjac.conjac_addon.bake import command

    assert command._handle is not None
    conjac.unregister()
    assert command._handle is None
    conjac.register()


def test_what_has_not_changed_keeps_its_frames_unless_all_is_solved(run, capfd):
    for name, along in (("Low", 0.0), ("Far", 20.0)):
        add_ball(name, 0.12, along)
    assert run(["bake"]) == 0
    far = bpy.data.objects["Far"]
    far.conjac.youngs_modulus = 4.0e4
    assert run(["bake", "--replace"]) == 0
    assert "Kept 1 of 2 objects as they were baked: Low" in capfd.readouterr().out
    frames = frames_of(far)
    far.conjac.youngs_modulus = 2.0e4
    assert run(["bake", "--replace", "--solve-all"]) == 0
    far.conjac.youngs_modulus = 4.0e4
    assert run(["bake", "--replace", "--solve-all"]) == 0
    assert "Kept" not in capfd.readouterr().out
    assert frames_of(far) == frames


def test_finished_frames_are_replaced_only_with_the_option(run, capfd):
    obj = add_jelly()
    assert run(["bake", "--save"]) == 0
    before = frames_of(obj)
    obj.conjac.youngs_modulus = 9.0e3
    capfd.readouterr()
    assert run(["bake"]) == 2
    captured = capfd.readouterr()
    output = captured.out + captured.err
    assert (f'"Jelly": its {LAST} finished frames were baked before these changed' in output
            and "Young's Modulus" in output)
    assert frames_of(obj) == before
    assert_plays(obj, (1, LAST))
    assert run(["bake", "--replace"]) == 0
    assert frames_of(obj)["000012"] != before["000012"]
