"""If the window or the worker of Play Live dies, the other one does not hang."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parents[2]

#: a Blender that plays live, prints its worker's process and goes on
PLAYS = """
import sys, time
sys.path[:0] = {paths!r}
from examples_blend import addon
addon.load().register()
import bpy
from jelly import add_jelly
from conjac.conjac_addon.live import session
bpy.ops.wm.read_factory_settings(use_empty=True)
played = session.Played(add_jelly(), bpy.context.scene)
while played.tick():
    if played.frame is not None:
        print(played._worker.pid, flush=True)
        while played.tick():
            time.sleep(0.01)
    time.sleep(0.01)
"""


def is_running(pid):
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_the_worker_ends_with_a_window_that_is_killed(tmp_path):
    script = tmp_path / "plays.py"
    script.write_text(PLAYS.format(paths=[str(ROOT), str(ROOT / "tests" / "addon")]))
    window = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    try:
        worker = next(int(line) for line in window.stdout if line.strip().isdigit())
        assert is_running(worker)
        os.kill(window.pid, signal.SIGKILL)
        until = time.monotonic() + 5.0
        while is_running(worker) and time.monotonic() < until:
            time.sleep(0.05)
        assert not is_running(worker)
    finally:
        window.kill()
        window.wait()
