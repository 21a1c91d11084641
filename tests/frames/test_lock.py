"""The lock: a death never refuses the next bake, other machines are told alive by their beats, and it can be broken."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import forked_command
import numpy as np
import pytest
from small_jobs import box_job

from solver.errors import CacheBusy, CacheUnwritable
from solver.frames import lock
from solver.frames.read import Cache
from solver.frames.write import FrameStore
from solver.job.load import load

ROOT = Path(__file__).resolve().parents[2]
FARM = lock.Holder(4711, "farm-7", "", "another boot 1", beats=True)


def leave(folder: Path, who: lock.Holder, age: float = 0.0) -> Path:
    """The lock file of some process, last heard of so many seconds ago."""
    path = folder / lock.LOCK
    path.write_text(json.dumps(asdict(who)))
    os.utime(path, (time.time() - age,) * 2)
    return path


def child(code: str, *arguments, **options) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


#: for each number of its standard input: a fork takes and frees the lock, and is killed after so many system calls
TAKE = """
import os, signal, sys
from pathlib import Path
from solver.frames import lock
left = 0
def step(event, _):
    global left
    if event.startswith(("open", "os.", "fcntl.")) and event != "os.kill":
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
folder = Path(sys.argv[1])
for line in sys.stdin:
    taker = os.fork()
    if not taker:
        with lock.held(folder):  # once before it is counted, so that all is imported
            pass
        left = int(line)
        sys.addaudithook(step)
        with lock.held(folder):
            pass
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(taker, 0)[1]), flush=True)
"""


def test_a_kill_at_any_moment_of_taking_never_refuses_the_next(tmp_path):
    """Every call of the system between the first look at the lock and its end is the last one in turn."""
    taking, code, kills = child(TAKE, tmp_path), None, 0
    while code != 0:
        taking.stdin.write(f"{kills}\n")
        taking.stdin.flush()
        code = int(taking.stdout.readline())
        assert code in (0, -signal.SIGKILL)
        began = time.monotonic()
        with lock.held(tmp_path):
            pass
        assert time.monotonic() - began < 3 and not any(tmp_path.iterdir()), kills
        kills += 1
    assert kills > 8
    taking.communicate()


def test_a_kill_at_any_time_never_refuses_the_next(tmp_path):
    code = "import sys\nfrom pathlib import Path\nfrom solver.frames import lock\nprint('on', flush=True)\n" \
           "while True:\n    with lock.held(Path(sys.argv[1])): pass"
    dice = random.Random(3)
    for _ in range(6):
        taker = child(code, tmp_path)
        assert taker.stdout.readline() == "on\n"
        time.sleep(dice.uniform(0.0, 0.05))
        taker.kill()
        taker.communicate()
        with lock.held(tmp_path):
            pass


def test_the_lock_is_whole_as_soon_as_it_is_there(tmp_path):
    """Somebody who looks all the time while it is taken and freed never sees an empty or a torn one."""
    code = "import sys\nfrom pathlib import Path\nfrom solver.frames import lock\n" \
           "while True:\n    with lock.held(Path(sys.argv[1])): pass"
    taker = child(code, tmp_path)
    seen = set()
    try:
        until = time.monotonic() + 60
        while len(seen) < 20 and time.monotonic() < until:
            try:
                with open(tmp_path / lock.LOCK, "rb") as stream:
                    content, inode = stream.read(), os.fstat(stream.fileno()).st_ino
            except FileNotFoundError:
                continue
            assert json.loads(content)["pid"] == taker.pid
            seen.add((inode, os.stat(tmp_path).st_mtime_ns))
    finally:
        taker.kill()
        taker.communicate()
    assert len(seen) == 20


@pytest.mark.parametrize("age", [0.0, 60.0, -60.0, 250.0])
def test_another_machine_that_beats_is_respected(tmp_path, age):
    leave(tmp_path, FARM, age)
    assert Cache(tmp_path).status().state == "baking"
    with pytest.raises(CacheBusy, match="farm-7"), lock.held(tmp_path):
        pass


@pytest.mark.parametrize("age", [400.0, 1e6, -400.0, -1e9], ids=["old", "very old", "future", "far future"])
def test_another_machine_that_beats_no_more_is_not(tmp_path, monkeypatch, age):
    """Whatever its date: a lock of 2050 expires as well."""
    monkeypatch.setattr(lock, "BEAT", 0.2)
    leave(tmp_path, FARM, age)
    assert not lock.busy(tmp_path)
    with lock.held(tmp_path):
        assert lock.holder(tmp_path) == lock.here()


def test_a_machine_whose_clock_is_wrong_is_seen_to_beat(tmp_path, monkeypatch):
    """The file's time is an hour off, and it is set again while it is watched."""
    monkeypatch.setattr(lock, "BEAT", 1.0)
    path = leave(tmp_path, FARM, 3600.0)
    beat = child("import os, sys, time\nfor k in range(40):\n    t = time.time() - 3600 + k\n"
                 "    os.utime(sys.argv[1], (t, t))\n    time.sleep(0.25)", path)
    try:
        with pytest.raises(CacheBusy, match="farm-7"), lock.held(tmp_path):
            pass
    finally:
        beat.kill()
        beat.communicate()


def test_a_lock_without_beats_is_respected_until_it_is_broken(tmp_path):
    """An older ConJac on another machine does not beat: it may bake for hours."""
    leave(tmp_path, replace(FARM, beats=False, machine=""), 4000.0)
    with pytest.raises(CacheBusy, match="farm-7, last heard of 67 min ago.*Break Lock"), lock.held(tmp_path):
        pass
    assert "farm-7" in lock.break_lock(tmp_path)
    with lock.held(tmp_path):
        pass
    assert not any(tmp_path.iterdir())


def test_who_was_started_anew_does_not_wait(tmp_path, monkeypatch):
    """This machine's name, another boot: its bakes died with it."""
    monkeypatch.setattr(lock, "BEAT", 0.1)
    leave(tmp_path, replace(lock.here(), machine="the boot before 1"), 45.0)
    with lock.held(tmp_path):
        pass


def test_who_holds_it_beats(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "BEAT", 0.05)
    with lock.held(tmp_path):
        os.utime(tmp_path / lock.LOCK, (0, 0))
        until = time.monotonic() + 20
        while lock.silence(tmp_path) > 100 and time.monotonic() < until:
            time.sleep(0.02)
        assert lock.silence(tmp_path) < 10


def test_a_bake_whose_lock_was_broken_writes_no_more(tmp_path):
    job = load(box_job(tmp_path / "job", end=5))
    with lock.held(job.cache) as holding:
        store = FrameStore(job.cache, holding.check)
        store.write(1, np.zeros((3, 3)))
        lock.break_lock(job.cache)
        leave(job.cache, FARM)
        with pytest.raises(CacheBusy, match="taken away.*farm-7"):
            store.write(2, np.zeros((3, 3)))
    # what is another's now stays
    assert lock.holder(job.cache) == FARM and Cache(job.cache).log.keys() == {("frame", 1)}


def test_a_broken_lock_ends_a_bake_with_a_sentence(tmp_path):
    job = box_job(tmp_path / "job", end=200)
    baking = forked_command.Started("bake", job, "--json")
    for line in baking.stdout:
        if json.loads(line)["event"] == "frame":
            break
    lock.break_lock(job / "cache")
    events = [json.loads(line) for line in baking.communicate(timeout=60)[0].splitlines()]
    assert baking.returncode == 4 and events[-2]["code"] == "cache_busy" and "taken away" in events[-2]["text"]
    assert Cache(job / "cache").verify() == []


def test_eight_take_it_in_turn(tmp_path):
    """None is refused for another who only takes or frees it, and no two hold it at once."""
    code = """
import sys, time
from pathlib import Path
from solver.errors import CacheBusy
from solver.frames import lock
folder, mark = Path(sys.argv[1]), Path(sys.argv[2])
done = 0
while done < 15:
    try:
        with lock.held(folder):
            mark.mkdir()  # fails where another one is inside
            mark.rmdir()
            done += 1
    except CacheBusy:
        time.sleep(0.002)
print(done)
"""
    takers = [child(code, tmp_path / "cache", tmp_path / "inside") for _ in range(4)]
    said = [taker.communicate(timeout=120) for taker in takers]
    assert [out for out, _ in said] == ["15\n"] * 4, said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="a file system of its own needs root")
def test_a_disk_that_turns_read_only_is_told_in_a_sentence(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("no right to mount here")
    try:
        with pytest.raises(CacheUnwritable, match="can only be read") as refused, lock.held(disk / "cache") as holding:
            store = FrameStore(disk / "cache", holding.check)
            store.write(1, np.zeros((3, 3)))
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            store.write(2, np.zeros((3, 3)))
        assert refused.value.exit_code == 4
        with pytest.raises(CacheUnwritable, match="can only be read"), lock.held(disk / "cache"):
            pass
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_stopped_process_is_alive(tmp_path):
    holder = child("import sys\nfrom pathlib import Path\nfrom solver.frames import lock\n"
                   "with lock.held(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()", tmp_path)
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGSTOP)
    try:
        os.utime(tmp_path / lock.LOCK, (0, 0))
        with pytest.raises(CacheBusy, match=str(holder.pid)), lock.held(tmp_path):
            pass
    finally:
        holder.send_signal(signal.SIGCONT)
        holder.communicate("")
