"""Two Blenders open one .blend and bake it at the same moment: one bakes, and the other names it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, frames_of, scene  # noqa: E402, F401

import conjac  # noqa: E402
from conjac.conjac_addon.bake import place, session  # noqa: E402
from conjac.solver.errors import CacheBusy  # noqa: E402
from conjac.solver.frames import lock  # noqa: E402

ANOTHER_BLENDER = """
import importlib.util, os, pathlib, sys
root, blend, gate = sys.argv[1:]
spec = importlib.util.spec_from_file_location("conjac", root + "/__init__.py", submodule_search_locations=[root])
conjac = importlib.util.module_from_spec(spec)
sys.modules["conjac"] = conjac
spec.loader.exec_module(conjac)
import bpy
conjac.register()
bpy.ops.wm.open_mainfile(filepath=blend)
from conjac.conjac_addon.bake import cli
print("READY", flush=True)
while not os.path.exists(gate):
    pass
code = cli.run(["bake", "--json"])
conjac.unregister()
os._exit(code)
"""

LOCKING_BLENDER = """
import sys
from pathlib import Path
from solver.frames.lock import acquire
with acquire(Path(sys.argv[1])):
    print("HOLDS", flush=True)
    sys.stdin.read()
"""


def test_of_two_that_begin_at_once_one_bakes_and_the_other_one_says_so(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    bpy.ops.wm.save_mainfile()
    gate = tmp_path / "gate"
    command = [sys.executable, "-c", ANOTHER_BLENDER, str(Path(conjac.__file__).parent), bpy.data.filepath, str(gate)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    try:
        for process in both:
            while "READY" not in (output := process.stdout.readline()):
                assert output, "it ended before it was asked to bake"
        gate.touch()
        outputs = [process.communicate(timeout=240)[0] for process in both]
    finally:
        for process in both:
            process.kill()
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 4], outputs
    refused = [json.loads(line) for line in outputs[codes.index(4)].splitlines() if line.startswith("{")]
    failed = next(message for message in refused if message["event"] == "baked")
    assert failed["error"] == "cache_busy"
    assert f"already being baked by process {both[codes.index(0)].pid} on" in failed["text"], failed
    assert len(frames_of(obj)) == LAST
    folder = place.job_folder(obj)
    assert not list(folder.glob("lock*")) and not list(folder.glob("*.new")) and not list(folder.glob("*.tmp"))


def test_a_bake_that_another_blender_locks_is_neither_taken_nor_freed_until_its_lock_is_broken(scene):  # noqa: F811
    obj = add_jelly()
    assert session.Bake(obj, scene).wait() == 0
    folder = place.job_folder(obj)
    other = subprocess.Popen([sys.executable, "-c", LOCKING_BLENDER, str(folder)], cwd=Path(conjac.__file__).parent,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "HOLDS\n" and not lock.busy(folder / "cache")
        with pytest.raises(CacheBusy, match=f'"Jelly": it is already being baked by process {other.pid} .*Break Lock'):
            session.Bake(obj, scene)
        with pytest.raises(RuntimeError, match="is running. Cancel it first"):
            bpy.ops.conjac.free_bake()
        assert len(frames_of(obj)) == LAST
        assert bpy.ops.conjac.break_lock() == {"FINISHED"}
        assert session.Bake(obj, scene).wait() == 0
    finally:
        other.communicate("")
    assert not list(folder.glob("lock*"))


def test_what_a_blender_that_died_left_is_taken_over_and_freed(scene):  # noqa: F811
    obj = add_jelly()
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    folder = place.own_folder(obj)
    folder.mkdir(parents=True)
    dead = lock.Holder(ended.pid, lock.this_process().host, "1", lock.machine(), beats=True)
    (folder / lock.LOCK).write_text(json.dumps(dead.__dict__))
    bake = session.Bake(obj, scene)
    assert lock.holder(folder) == lock.this_process()
    assert bake.wait() == 0 and lock.holder(folder) is None
    (folder / lock.LOCK).write_text(json.dumps(dead.__dict__))
    bpy.ops.conjac.free_bake()
    assert not list(folder.glob("lock*"))
