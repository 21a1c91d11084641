"""The worker is a real process: messages, pause, cancel, death from outside, death of its parent."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon.bake import worker as worker_module  # noqa: E402
from conjac.conjac_addon.bake.worker import BOOT, Worker  # noqa: E402

pytestmark = pytest.mark.own_worker

#: says what it was given, then what it reads from its standard input, until that says "pause"
TALKER = """
    import json, os, sys, time
    def say(**message):
        print(json.dumps(message), flush=True)
    say(event="log", text=" ".join(sys.argv[1:]), name=__name__, path=sys.path[0], stubborn="STUBBORN" in sys.argv)
    print("plain words")
    text = b""
    while b"pause" not in text:
        text += os.read(0, 64)
        say(event="log", text=text.decode())
    if "STUBBORN" in sys.argv:
        time.sleep(600)
    say(event="end", code=75, text="ä ☃")
    sys.exit(75)
"""


@pytest.fixture()
def start(tmp_path):
    """Return a function that starts a worker on a module made of some source; the worker ends after the test."""
    workers = []

    def start(source, *argv):
        (tmp_path / "child.py").write_text(textwrap.dedent(source), encoding="utf-8")
        workers.append(Worker("child", list(argv), root=tmp_path))
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop()


def everything(worker, seconds=20.0):
    """Return all messages of a worker until it ends."""
    until, messages = time.monotonic() + seconds, []
    while not worker.ended():
        assert time.monotonic() < until, messages
        messages += worker.messages(0.1)
    return messages + worker.messages()


def first(worker, seconds=20.0):
    messages = worker.messages(seconds)
    assert messages, worker.last_lines
    return messages[0]


def has_ended(pid, seconds):
    """Whether the process ends within a time [s]."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_messages_arguments_pause_and_exit_code(start, tmp_path):
    worker = start(TALKER, "a b", "Ж")
    assert first(worker) == {"event": "log", "text": "a b Ж", "name": "__main__", "path": str(tmp_path),
                             "stubborn": False}
    assert worker.exit_code is None and not worker.ended()
    worker.pause()
    messages = everything(worker)
    assert {"event": "output", "text": "plain words"} in messages
    assert {"event": "log", "text": "pause\n"} in messages
    assert messages[-1] == {"event": "end", "code": 75, "text": "ä ☃"}
    assert worker.exit_code == 75
    worker.pause()  # to a process that has has_ended: nothing happens


def test_a_line_sent_before_the_module_reads_is_not_lost(start):
    worker = start("import time; time.sleep(0.5)" + textwrap.dedent(TALKER))
    worker.pause()
    assert everything(worker)[-1]["code"] == 75


def test_who_waits_for_its_words_waits_no_longer_than_it_runs(start):
    worker = start("pass")
    start_time = time.monotonic()
    while not worker.ended():
        worker.messages(60.0)
    assert time.monotonic() - start_time < 30.0


def test_cancel_ends_a_worker_that_listens_and_kills_one_that_does_not(start):
    for argv, code in (((), 75), (("STUBBORN",), -signal.SIGKILL)):
        worker = start(TALKER, *argv)
        first(worker)
        worker.cancel()
        if argv:  # a worker that ignores it runs on: the window does not wait
            assert worker.exit_code is None and not worker.ended()
        everything(worker)
        assert worker.exit_code == code


def test_what_the_worker_has_started_is_killed_with_it(start):
    worker = start("""
        import json, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(json.dumps({"event": "log", "text": str(child.pid)}), flush=True)
        time.sleep(600)
    """)
    child = int(first(worker)["text"])
    assert worker.stop() == -signal.SIGKILL
    assert has_ended(child, 2.0)


def test_more_output_than_a_pipe_holds_does_not_stop_it(start):
    worker = start("""
        import json
        for i in range(20000):
            print(json.dumps({"event": "log", "text": "x" * 50, "i": i}))
    """)
    time.sleep(0.5)  # nobody reads meanwhile
    messages = everything(worker)
    assert worker.exit_code == 0
    assert [message["i"] for message in messages] == list(range(20000))


def test_a_worker_that_dies_leaves_its_last_words(start):
    worker = start("raise RuntimeError('broken on purpose')")
    everything(worker)
    assert worker.exit_code == 1
    assert worker.last_lines[-1] == "RuntimeError: broken on purpose"

    worker = start(TALKER)
    first(worker)
    os.kill(worker.pid, signal.SIGKILL)
    everything(worker)
    assert worker.exit_code == -signal.SIGKILL


def test_the_worker_ends_by_itself_when_its_standard_input_ends(start):
    worker = start("import time, json; print(json.dumps({'event': 'log', 'text': ''}), flush=True); time.sleep(600)")
    first(worker)
    worker._process.stdin.close()  # what the system does when Blender dies
    everything(worker)  # long before its ten minutes are over
    assert worker.exit_code == 75


def test_the_worker_is_this_python_and_needs_no_bpy(start):
    worker = start("""
        import json, sys, numpy
        print(json.dumps({"event": "log", "text": sys.version, "bpy": "bpy" in sys.modules, "isolated":
                          sys.flags.isolated, "numpy": numpy.__version__}))
    """)
    import numpy

    assert first(worker) == {"event": "log", "text": sys.version, "bpy": False, "isolated": 1,
                             "numpy": numpy.__version__}


def test_another_python_under_that_name_is_noticed(tmp_path, monkeypatch):
    """Blender itself is the worker then; the module has no Blender program, and says so."""
    impostor = tmp_path / "python3.11"
    impostor.write_text("#!/bin/sh\necho cpython-27 1\n")
    impostor.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(impostor))
    worker_module.command.cache_clear()
    try:
        with pytest.raises(Exception, match="is not the Python that runs here"):
            worker_module.command()
        monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
        with pytest.raises(Exception, match="is not the Python that runs here"):
            worker_module.command()
    finally:
        worker_module.command.cache_clear()


def test_the_boot_ends_where_nobody_speaks_to_it():
    ran = subprocess.run([sys.executable, "-I", str(BOOT)], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    assert ran.returncode == 75
