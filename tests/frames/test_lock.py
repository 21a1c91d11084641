"""The lock of a cache folder: one process may write, whatever other processes are or were there."""

import json
import os
import time
from dataclasses import asdict

import pytest
from child_process import child

from solver.errors import CacheBusy
from solver.frames import lock
from solver.frames.read import Cache

HOLD = """
import sys
from pathlib import Path
from solver.frames.lock import acquire
with acquire(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_bakers_cannot_share_a_cache(tmp_path):
    other = child(HOLD, tmp_path)
    assert other.stdout.readline() == "held\n"
    try:
        assert Cache(tmp_path).status().state == "baking"
        with pytest.raises(CacheBusy, match=f"rocess {other.pid} on "), lock.acquire(tmp_path):
            pass
        with pytest.raises(CacheBusy):
            Cache(tmp_path).free()
    finally:
        other.communicate("")
    assert not (tmp_path / lock.LOCK).exists()
    with lock.acquire(tmp_path):
        assert lock.holder(tmp_path) == lock.this_process()


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path):
    other = child(HOLD, tmp_path)
    assert other.stdout.readline() == "held\n"
    other.kill()
    other.wait()
    assert (tmp_path / lock.LOCK).exists() and Cache(tmp_path).status().state == "none"
    with lock.acquire(tmp_path):
        assert lock.holder(tmp_path).pid == os.getpid()
    assert not any(tmp_path.iterdir())


def leave_lock(folder, holder):
    (folder / lock.LOCK).write_text(json.dumps(asdict(holder)))


def test_a_process_number_given_out_again_is_not_mistaken(tmp_path):
    leave_lock(tmp_path, lock.Holder(os.getpid(), lock.this_process().host, "1"))
    assert not lock.busy(tmp_path)
    with lock.acquire(tmp_path):
        pass


def test_a_lock_of_another_host_is_respected(tmp_path):
    leave_lock(tmp_path, lock.Holder(1, "farm-7", ""))
    with pytest.raises(CacheBusy, match="farm-7"), lock.acquire(tmp_path):
        pass


def test_an_empty_lock_is_young_or_dead(tmp_path):
    path = tmp_path / lock.LOCK
    path.touch()
    assert lock.busy(tmp_path)
    os.utime(path, (time.time() - 60,) * 2)
    assert not lock.busy(tmp_path)
    with lock.acquire(tmp_path):
        pass


def test_only_one_heir_takes_over(tmp_path):
    """Eight processes find the lock of a dead one at once: one acquires it, for the others it is busy."""
    leave_lock(tmp_path, lock.Holder(2**22 + 1, lock.this_process().host, ""))
    code = """
import sys, time
from pathlib import Path
from solver.errors import CacheBusy
from solver.frames.lock import acquire
time.sleep(max(0.0, float(sys.argv[2]) - time.time() - 0.02))
while time.time() < float(sys.argv[2]): pass
try:
    with acquire(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
except CacheBusy:
    print("busy", flush=True)
"""
    heirs = [child(code, tmp_path, time.time() + 1.5) for _ in range(8)]
    output = [heir.stdout.readline() for heir in heirs]
    for heir in heirs:
        heir.communicate("")
    assert sorted(output) == ["busy\n"] * 7 + ["held\n"]
