"""A file that was changed on the disk after a bake does not count as baked: frames, cuts, poses and snapshots."""

import json
import os
import random

import numpy as np
import pytest
from small_jobs import box_job
from springs import Springs

from solver.frames import files
from solver.frames.layout import CUTS, LOG, SNAPSHOT, file_of
from solver.frames.read import Cache
from solver.frames.write import FrameStore, plan
from solver.job import hashes
from solver.job.load import load
from solver.simulate import Timeline, simulate


@pytest.fixture
def job(tmp_path):
    """Return a job with 25 baked frames and a record of cuts after frame 8."""
    job = load(box_job(tmp_path / "job", end=25))
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), Springs().bodies, backend="exact", first=1)
    simulate(Springs(), Timeline.of(job.scene.time), store)
    store.write_cuts(8, {"bodies": np.array([0]), "0.parents": np.zeros((0, 2), np.int32), "0.shares": np.zeros(0),
                         "0.triangles": np.zeros((0, 3), np.int32), "0.source": np.zeros(0, np.int32)})
    return job


def spoil(path, dice) -> None:
    """Change one byte of a file; its size stays."""
    content = bytearray(path.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def planned(job, resume):
    return plan(Cache(job.cache), hashes.settings(job), range(1, 26), resume)


def test_a_changed_frame_of_the_same_size_is_seen(job):
    dice = random.Random(1)
    for frame in range(1, 24):
        path = file_of(job.cache, "frame", frame)
        before, stat = path.read_bytes(), path.stat()
        spoil(path, dice)
        status = Cache(job.cache).status()
        assert (status.state, status.done) == ("broken", 24) and frame not in Cache(job.cache).frames_done()
        assert not planned(job, True).finished and not planned(job, False).finished
        path.write_bytes(before)
        assert Cache(job.cache).status().state == "complete"  # written again, and the same
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert planned(job, True).finished and planned(job, False).finished


def test_a_changed_cut_is_seen(job):
    dice, path = random.Random(2), file_of(job.cache, CUTS, 8)
    before = path.read_bytes()
    for _ in range(16):
        spoil(path, dice)
        cache = Cache(job.cache)
        # frames up to the cut are what they were; those after it cannot be shown
        assert cache.frames_done() == list(range(1, 9)) and cache.status().state == "broken"
        assert cache.verify() == list(range(9, 26))
        todo = planned(job, True)
        assert (todo.finished, todo.snapshot) == (False, None) and not planned(job, False).finished
        path.write_bytes(before)
    assert Cache(job.cache).status().state == "complete" and planned(job, True).finished


def test_a_changed_snapshot_is_seen(job):
    spoil(file_of(job.cache, SNAPSHOT, 21), random.Random(3))
    assert Cache(job.cache).find_damaged_frames(SNAPSHOT) == [21]
    file_of(job.cache, "frame", 24).unlink()
    assert planned(job, True).snapshot == 11


def test_what_was_copied_counts_without_its_times(job, tmp_path):
    """A copy has other times, so its bytes are read, once."""
    for path in (job.cache / "frames").iterdir():
        os.utime(path, (1e9, 1e9))
    assert Cache(job.cache).status().state == "complete"
    assert sum(key[0].startswith(str(job.cache / "frames")) for key in files._looked_at) == 25


def test_a_look_reads_so_much_at_most(job, monkeypatch):
    """A panel looks at every redraw: a large copy is read over several redraws, and counts meanwhile."""
    for path in (job.cache / "frames").iterdir():
        os.utime(path, (1e9, 1e9))
    spoil(file_of(job.cache, "frame", 25), random.Random(4))
    size = file_of(job.cache, "frame", 25).stat().st_size
    monkeypatch.setattr(files, "DOUBTS", 10 * size)
    seen = [len(Cache(job.cache).frames_done()) for _ in range(4)]
    assert seen == [25, 25, 24, 24]


def test_older_caches_are_read(job):
    """Logs of older caches have no times: the size counts, and resuming reads every byte."""
    lines = [line.rsplit(" ", 1)[0] for line in (job.cache / LOG).read_text().splitlines()]
    (job.cache / LOG).write_text("\n".join(lines) + "\n")
    assert Cache(job.cache).status().state == "complete" and planned(job, True).finished
    spoil(file_of(job.cache, "frame", 7), random.Random(5))
    assert Cache(job.cache).verify() == [7] and not planned(job, True).finished


@pytest.mark.parametrize("kind, frame", [("frame", 7), ("frame", 25), (CUTS, 8)])
def test_a_line_with_a_wrong_size_is_no_line(job, kind, frame):
    """The line's digest fits, so a bake found nothing to do while the frame counted as missing."""
    lines = [line.split() for line in (job.cache / LOG).read_text().splitlines()]
    for fields in lines:
        if fields[:2] == [kind, str(frame)]:
            fields[2] = str(int(fields[2]) + 4)
    (job.cache / LOG).write_text("".join(f"{' '.join(fields)}\n" for fields in lines))
    cache = Cache(job.cache)
    assert cache.status().state == "broken" and len(cache.frames_done()) < 25
    assert cache.verify() == ([frame] if kind == "frame" else list(range(9, 26)))
    assert not planned(job, True).finished and not planned(job, False).finished


def test_a_damaged_log_is_no_reason_to_fail(job):
    dice = random.Random(6)
    whole = (job.cache / LOG).read_bytes()
    for _ in range(40):
        content = bytearray(whole)
        for _ in range(5):
            content[dice.randrange(len(content))] = dice.randrange(256)
        (job.cache / LOG).write_bytes(content)
        assert Cache(job.cache).status().done <= 25
        json.dumps(planned(job, True).finished)
