"""A longer scene continues its cache, a shorter one leaves it, and names make nothing stale."""

import json
import shutil

import numpy as np
import pytest
from small_jobs import box_job, change

from solver.errors import StaleCache
from solver.frames.layout import MANIFEST, file_of
from solver.frames.read import Cache
from solver.job import hashes, over_time
from solver.job.load import load
from solver.simulate import bake


class Quiet:
    """A reporter that stores messages and frames."""

    def __init__(self):
        self.messages, self.frames = [], []

    def log(self, text):
        self.messages.append(text)

    def stage(self, *_):
        pass

    def start(self, first, last, _steps):
        self.frames.append((first, last))

    def frame(self, *_):
        pass


def baked(folder, resume=True):
    heard = Quiet()
    bake(folder, heard, resume=resume, threads=1)
    return heard


def contents(folder):
    return {path.stem: path.read_bytes() for path in (folder / "cache" / "frames").iterdir()}


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Return a baked job of 15 frames whose pins move."""
    folder = box_job(tmp_path_factory.mktemp("short") / "job", end=15)
    baked(folder)
    return folder


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Return the bytes of 28 frames of that job, baked at once."""
    folder = box_job(tmp_path_factory.mktemp("long") / "job", end=28)
    baked(folder)
    return contents(folder)


@pytest.fixture
def job(short, tmp_path):
    shutil.copytree(short, tmp_path / "job", copy_function=shutil.copy2)
    return tmp_path / "job"


def test_longer_goes_on_to_the_bytes_of_an_unbroken_bake(job, unbroken):
    box_job(job, end=28)
    status = Cache(job / "cache").status()
    assert (status.state, status.done, status.total) == ("partial", 15, 28)
    times = {k: file_of(job / "cache", "frame", k).stat().st_mtime_ns for k in range(1, 12)}
    assert baked(job).frames == [(11, 28)]  # the snapshot of frame 11
    assert {k: file_of(job / "cache", "frame", k).stat().st_mtime_ns for k in times} == times
    assert contents(job) == unbroken
    status = Cache(job / "cache").status()
    assert (status.state, status.done, status.total) == ("complete", 28, 28)


def test_shorter_keeps_every_frame_and_going_back_makes_none_anew(job):
    before = contents(job)
    box_job(job, end=6)
    status = Cache(job / "cache").status()
    assert (status.state, status.done, status.total) == ("complete", 6, 6)
    heard = baked(job)
    assert heard.frames == [] and heard.messages == ["Every frame asked for is already baked"]
    assert contents(job) == before
    box_job(job, end=15)
    assert Cache(job / "cache").status().total == 15
    assert baked(job).frames == [] and contents(job) == before


def test_motion_that_changed_before_the_old_end_is_stale_and_after_it_is_not(job, unbroken):
    box_job(job, end=28)
    path = job / "arrays" / "pin_motion.npy"
    motion = np.load(path)
    motion[2 * 27] += 0.01  # frame 28
    np.save(path, motion)
    assert Cache(job / "cache").status().state == "partial"
    assert baked(job).frames == [(11, 28)]
    after = contents(job)
    assert all(after[f"{k:06d}"] == unbroken[f"{k:06d}"] for k in range(1, 26))
    assert after["000028"] != unbroken["000028"]
    motion[2 * 4] += 0.01  # frame 5
    np.save(path, motion)
    assert Cache(job / "cache").status().state == "stale"
    with pytest.raises(StaleCache, match='motion of the pins of "Ear"'):
        baked(job)


def test_another_first_frame_is_stale(job):
    change(job, "time.start", 2)
    np.save(job / "arrays" / "pin_motion.npy", np.load(job / "arrays" / "pin_motion.npy")[2:])
    assert Cache(job / "cache").status().state == "stale"
    with pytest.raises(StaleCache, match="first frame"):
        baked(job)


def test_a_new_name_is_no_change(job):
    before = contents(job)
    change(job, "bodies.0.name", "Nose")
    change(job, "bodies.0.uuid", "1234")
    assert Cache(job / "cache").status().state == "complete"
    assert baked(job).frames == [] and contents(job) == before
    change(job, "bodies.0.density", 900)
    with pytest.raises(StaleCache, match='these changed: density of "Nose"$|these changed: density of "Nose"\\.'):
        baked(job)


def as_older(job):
    """Return the manifest as earlier versions wrote it."""
    path = job / "cache" / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["hashes"]["solve"] = hashes._older_solve(hashes.settings(load(job)))
    for source in manifest["sources"].values():
        source.pop("so_far", None)
    for body in manifest["bodies"]:
        body.pop("uuid")
    manifest.pop("uuid")
    path.write_text(json.dumps(manifest))


def test_an_older_cache_counts_as_it_did(job):
    as_older(job)
    assert Cache(job / "cache").status().state == "complete"
    assert baked(job).frames == []
    box_job(job, end=28)  # its manifest does not say whether the motion is the same
    with pytest.raises(StaleCache, match="motion of the pins"):
        baked(job)


def test_an_older_cache_of_a_still_body_goes_on(tmp_path):
    folder = box_job(tmp_path / "job", end=12, motion=False)
    baked(folder)
    as_older(folder)
    change(folder, "time.end", 14)
    assert baked(folder).frames == [(11, 14)]
    assert Cache(folder / "cache").status().state == "complete"


def test_digests_over_time_differ_from_where_two_arrays_differ(tmp_path):
    whole = np.random.default_rng(1).normal(size=(13, 4, 3))
    np.save(tmp_path / "a.npy", whole)
    np.save(tmp_path / "b.npy", whole[:9])
    whole[7] += 1
    np.save(tmp_path / "c.npy", whole)
    a, b, c = (over_time.digests(tmp_path / f"{name}.npy", 2) for name in "abc")
    assert [len(digest[1]) for digest in (a, b, c)] == [7, 5, 7] and len({a[0], b[0], c[0]}) == 3
    assert b[1] == a[1][:5]
    assert c[1][:4] == a[1][:4] and not set(c[1][4:]) & set(a[1])
    np.save(tmp_path / "f.npy", np.asfortranarray(whole))
    assert over_time.digests(tmp_path / "f.npy", 2)[1] == []
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-8])
    # a truncated file has no frame
    assert over_time.digests(tmp_path / "a.npy", 2)[1] == []
