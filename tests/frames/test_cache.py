"""The cache folder: complete files, a torn log, stale frames, deletable files, and full disks."""

import errno
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from calls import calls
from child_process import child
from small_jobs import box_job, change
from springs import Springs

from solver import catalogue
from solver.errors import BadInput, CacheUnwritable, NoSuchThing, StaleCache
from solver.frames import lock
from solver.frames.layout import LOG, MANIFEST, file_of
from solver.frames.read import Cache
from solver.frames.write import FrameStore, plan
from solver.job import hashes
from solver.job.files import replace, write_whole
from solver.job.load import load
from solver.simulate import Timeline, simulate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def job(tmp_path):
    """Return a job of 25 frames that springs have baked."""
    job = load(box_job(tmp_path / "job", end=25))
    bake(job, 25)
    return job


def bake(job, last):
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), Springs().bodies, backend="exact", first=1)
    simulate(Springs(), Timeline.of(job.scene.time, last), store)
    return store


def planned(job, first=1, last=25, resume=True):
    again = load(job.path)
    return plan(Cache(job.cache), hashes.settings(again), range(first, last + 1), resume)


def test_status_of_nothing_partial_and_complete(tmp_path):
    job = load(box_job(tmp_path / "job", end=25))
    assert Cache(job.cache).status().state == "none" and Cache(job.cache).frames_done() == []
    bake(job, 12)
    status = Cache(job.cache).status()
    assert (status.state, status.done, status.total) == ("partial", 12, 25)
    bake(job, 25)
    status = Cache(job.cache).status()
    assert (status.state, status.done, status.total, status.changed) == ("complete", 25, 25, ())


def test_manifest_says_what_was_baked(job):
    manifest = Cache(job.cache).manifest
    assert (manifest["start"], manifest["end"], manifest["fps"]) == (1, 25, 24)
    assert manifest["hashes"] == hashes.hashes(hashes.settings(job)).plain()
    assert Cache(job.cache).bodies() == [("Springs ß", 0, 2), ("..", 2, 1)]
    run = manifest["runs"][-1]
    assert run["host"] and run["backend"] == "exact" and run["versions"]["numpy"] == np.__version__


def test_stale_names_the_setting(job):
    change(job.path, "method", {"kind": "conjac", "params": {"beta": 2}})
    status = Cache(job.cache).status()
    assert (status.state, status.changed) == ("stale", ("method",)) and "method" in status.text
    with pytest.raises(StaleCache, match="Damping"):
        planned(job)
    todo = planned(job, resume=False)
    assert not todo.finished and todo.snapshot is None and todo.stale == ("Damping",)


def test_stale_names_the_array(job):
    path = job.path / "arrays/pin_motion.npy"
    values = np.load(path)
    os.utime(path)
    assert Cache(job.cache).status().state == "complete"  # touched, and the same
    values[3, 0, 0] += 1
    np.save(path, values)
    assert Cache(job.cache).status().changed == ("arrays/pin_motion.npy",)
    with pytest.raises(StaleCache, match='motion of the pins of "Ear"'):
        planned(job)


def test_the_name_of_the_job_makes_nothing_stale(job):
    change(job.path, "name", "another name")
    assert Cache(job.cache).status().state == "complete" and planned(job).finished


def test_a_missing_or_short_frame_is_broken(job):
    file_of(job.cache, "frame", 7).unlink()
    with open(file_of(job.cache, "frame", 9), "r+b") as stream:
        stream.truncate(100)
    cache = Cache(job.cache)
    assert cache.status().state == "broken" and cache.status().done == 23 and cache.verify() == [7, 9]
    with pytest.raises(NoSuchThing, match="frame 7|Frame 7"):
        cache.frame(7)
    with pytest.raises(BadInput, match="damaged"):
        cache.frame(9)


def test_one_changed_bit_is_found(job):
    path = file_of(job.cache, "frame", 18)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert Cache(job.cache).verify() == [18]
    # frames 1 to 11 are whole, so the bake goes on from there
    todo = planned(job)
    assert (todo.finished, todo.snapshot) == (False, 11)


def test_resume_goes_on_from_the_last_good_snapshot(job):
    assert planned(job).finished
    file_of(job.cache, "frame", 24).unlink()
    assert planned(job).snapshot == 21
    path = file_of(job.cache, "snapshot", 21)
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    assert planned(job).snapshot == 11
    file_of(job.cache, "snapshot", 11).unlink()
    assert planned(job).snapshot is None and not planned(job).finished


def test_only_the_requested_frames_count(job):
    file_of(job.cache, "frame", 3).unlink()
    assert planned(job, 4, 25).finished and planned(job, 4, 25, resume=False).finished
    file_of(job.cache, "frame", 25).unlink()
    assert planned(job, 4, 25).snapshot == 21 and planned(job, 1, 25).snapshot is None


@pytest.mark.parametrize("torn", ["frame 26 104 abc", "frame 26", "snapshot", "frame x 3 " + "0" * 40 + "\n", "\x00\n"])
def test_a_torn_log_line_is_left_out_and_mended(job, torn):
    before = Cache(job.cache).log
    with open(job.cache / LOG, "a") as stream:
        stream.write(torn)
    assert Cache(job.cache).log == before
    bake(job, 1)
    FrameStore(job.cache).write(31, np.zeros((3, 3)))
    # the first line after the torn one is whole
    text = (job.cache / LOG).read_text().splitlines()
    assert all(len(line.split()) == 5 for line in text if line.startswith(("frame", "snapshot"))
               and line + "\n" != torn)
    assert len(text) == len(before) + 2 + (torn.endswith("\n")) and Cache(job.cache).log.keys() - before.keys() == {
        ("frame", 31)}


def test_free_touches_only_what_is_ours(job):
    foreign = [job.cache / "notes.txt", job.cache / "frames/render.png", job.cache / "frames/000099.npy",
               job.cache / "000001.npy"]
    for path in foreign:
        path.write_text("keep me")
    left_by_a_crash = job.cache / "frames/000005.npy.tmp"
    left_by_a_crash.write_text("half")
    Cache(job.cache).free()
    assert sorted(path for path in job.cache.rglob("*") if path.is_file()) == sorted(foreign)
    assert Cache(job.cache).status().state == "none"
    for path in foreign:
        path.unlink()
    Cache(job.cache).free()
    assert not job.cache.exists() and (job.path / "scene.json").exists()


def test_a_manifest_cannot_lead_free_astray(job):
    manifest = json.loads((job.cache / MANIFEST).read_text())
    manifest["bodies"][0]["name"] = "../../scene.json"
    (job.cache / MANIFEST).write_text(json.dumps(manifest))
    with open(job.cache / LOG, "a") as stream:
        stream.write(f"frame ../../scene 3 {'0' * 40}\n")
    Cache(job.cache).free()
    assert (job.path / "scene.json").exists()


def test_a_damaged_manifest_is_broken_and_can_be_freed(job):
    (job.cache / MANIFEST).write_text('{"format": 1')
    assert Cache(job.cache).status().state == "broken"
    with pytest.raises(BadInput, match="damaged"):
        planned(job)
    assert planned(job, resume=False).stale
    Cache(job.cache).free()
    assert not job.cache.exists()


def test_negative_frames_have_files(tmp_path):
    job = load(box_job(tmp_path / "job", end=4, motion=False))
    change(job.path, "time.start", -12)
    job = load(job.path)
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), Springs().bodies, backend="exact", first=-12)
    simulate(Springs(), Timeline.of(job.scene.time), store)
    assert Cache(job.cache).frames_done() == list(range(-12, 5)) and Cache(job.cache).status().state == "complete"
    Cache(job.cache).free()
    assert not job.cache.exists()


# disks that refuse

FILL = """
import resource, sys
from pathlib import Path
import numpy as np
from solver.errors import CacheUnwritable
from solver.frames.read import Cache
from solver.frames.write import FrameStore
store = FrameStore(Path(sys.argv[1]))
try:
    store.write(26, Cache(Path(sys.argv[1])).vertices(25))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    store.write(27, np.zeros((1000, 3)))
except CacheUnwritable as error:
    print(error.exit_code, error)
"""


def test_a_full_disk_leaves_what_was_written(job):
    output, errors = child(FILL, job.cache).communicate(timeout=60)
    assert output.startswith("4 ") and "no room left" in output, errors
    assert Cache(job.cache).frames_done() == list(range(1, 27)) and Cache(job.cache).verify() == []
    assert not list(job.cache.rglob("*.tmp"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="a file system of its own needs root")
def test_a_really_full_disk(job, tmp_path):
    """On a tmpfs of 64 kB the frame that does not fit is refused, and those before it stay complete."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no right to mount here")
    try:
        store = FrameStore(small / "cache")
        store.begin(job, hashes.settings(job), Springs().bodies, backend="exact", first=1)
        with pytest.raises(CacheUnwritable, match="no room left"):
            for frame in range(1, 40):
                store.write(frame, np.full((500, 3), frame, float))
        done = Cache(small / "cache").frames_done()
        assert done and done == list(range(1, len(done) + 1)) and Cache(small / "cache").verify() == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_folder_that_is_a_file_is_unwritable(tmp_path):
    (tmp_path / "cache").write_text("not a folder")
    with pytest.raises(CacheUnwritable, match="cannot be written") as caught, lock.acquire(tmp_path / "cache"):
        pass
    assert caught.value.exit_code == 4
    with pytest.raises(CacheUnwritable, match="cannot be written"):
        write_whole(tmp_path / "cache/frames/000001.npy", b"")


def test_a_rename_is_tried_again_while_another_program_has_the_file_open(tmp_path, monkeypatch):
    """Windows refuses to replace a file that is open; here the system call is made to refuse three times."""
    (tmp_path / "new").write_text("new")
    real, refusals = os.replace, iter([PermissionError(errno.EACCES, "in use")] * 3)

    def refused_replace(source, target):
        for refusal in refusals:
            raise refusal
        real(source, target)

    monkeypatch.setattr(os, "replace", refused_replace)
    replace(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "new"


def test_polling_a_growing_cache_is_cheap(job):
    """A panel polls several times a second: 1000 frames are counted by looking once at each."""
    store = FrameStore(job.cache)
    content = file_of(store.folder, "frame", 25).read_bytes()
    for frame in range(1000):
        path = file_of(store.folder, "frame", 100 + frame)
        path.write_bytes(content)
    with open(job.cache / LOG, "a") as stream:
        stream.writelines(f"frame {100 + frame} {len(content)} {'0' * 40}\n" for frame in range(1000))
    assert len(Cache(job.cache).frames_done()) == 1025
    assert calls(Cache(job.cache).frames_done) < 50 * 1025  # a handful of calls a frame, each looked at once


def test_a_parameter_that_is_newer_than_a_bake_does_not_make_it_stale(tmp_path, monkeypatch):
    """A bake without the parameter had its default; only another value differs from it."""
    entries = catalogue.ENTRIES
    with monkeypatch.context() as older:
        older.setattr(catalogue, "ENTRIES", tuple(
            type(entry)(**(vars(entry) | {"params": ()})) if entry.key == "semi_implicit" else entry
            for entry in entries))
        job = load(box_job(tmp_path / "job", end=25, integrator={"kind": "semi_implicit"}))
        bake(job, 12)
        assert "integrator.keep_spin" not in Cache(job.cache).manifest["settings"]["scene"]
    assert planned(job).stale == () and planned(job).snapshot == 11
    assert planned(job, last=12, resume=False).finished
    # as the next reading of the same scene writes it
    change(job.path, "integrator", {"kind": "semi_implicit", "params": {"keep_spin": False}})
    assert Cache(job.cache).status().state == "partial" and planned(job).snapshot == 11
    change(job.path, "integrator", {"kind": "semi_implicit", "params": {"keep_spin": True}})
    assert Cache(job.cache).status().state == "stale"
    assert planned(job, resume=False).stale == ("Keep Spin",)


def test_a_manifest_distinguishes_machines_and_names_none(tmp_path, monkeypatch):
    import platform
    import socket

    from solver.frames import write

    host = write.host()
    assert write.host() == host and socket.gethostname() not in f"{host} {write.machine()}"
    assert platform.node() not in write.machine() and platform.machine() in write.machine()
    monkeypatch.setattr(socket, "gethostname", lambda: "render-node-17.studio.example")
    assert write.host() != host and len(write.host()) == 8
    assert "studio" not in write.host() + write.machine()
