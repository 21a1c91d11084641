"""Forked test workers behave like those that Blender starts, and end with their parent."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from small_jobs import box_job

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon.bake import worker as worker_module  # noqa: E402
from conjac.conjac_addon.bake.worker import BOOT, Worker  # noqa: E402
from conjac.solver.frames.lock import holder  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")


@pytest.fixture(scope="module")
def ready(warm_worker):
    until = time.monotonic() + 600.0
    while "ask" not in warm_worker():
        assert time.monotonic() < until
        time.sleep(0.1)


def run_command(*argv):
    """Return (exit code, messages) of a command; what differs from run to run is left out."""
    worker, messages = Worker("solver", [*map(str, argv), "--json"]), []
    while not worker.ended():
        messages += worker.messages(0.1)
    messages += worker.messages()
    return worker.exit_code, [
        {key: value for key, value in message.items() if key in ("event", "frame", "code", "exit")}
        for message in messages if message["event"] != "stage"]


def test_it_says_and_does_what_another_does(ready, monkeypatch, tmp_path):
    results = {}
    for name in ("forked", "started"):
        if name == "started":
            monkeypatch.setattr(worker_module, "command", lambda: (sys.executable, "-I", str(BOOT)))
        job = box_job(tmp_path / name, end=3)
        results[name] = [run_command("bake", job), run_command("check", tmp_path / "nothing"),
                         [path.read_bytes() for path in sorted((job / "cache" / "frames").iterdir())]]
    assert results["forked"] == results["started"]
    assert results["forked"][0][0] == 0 and results["forked"][1][0] == 2 and len(results["forked"][2]) == 3


def test_it_dies_with_the_one_who_asked(ready, tmp_path):
    job = box_job(tmp_path / "job", end=2000)
    worker = Worker("solver", ["bake", str(job), "--json"])
    while not any(message["event"] == "frame" for message in worker.messages(0.1)):
        assert worker.exit_code is None, worker.last_lines
    bakes = holder(job / "cache").pid
    assert bakes != worker.pid and Path(f"/proc/{bakes}").exists()
    os.kill(worker.pid, signal.SIGKILL)
    until = time.monotonic() + 20.0
    while Path(f"/proc/{bakes}").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
