"""The record of sleeping nodes in a bake: one file a frame, complete after a resume, removed by Free."""

import numpy as np
import pytest
from small_jobs import box_job

from solver.errors import BadInput, Stopped
from solver.frames.layout import LIVELINESS, file_of
from solver.frames.read import Cache
from solver.simulate import bake


class Silent:
    def log(self, text): ...
    def stage(self, stage, body, progress, text): ...
    def start(self, first, last, steps): ...
    def frame(self, frame, ms, left): ...


def adaptive(folder, **more):
    method = {"kind": "conjac", "params": {"adaptive": True, "liveliness_threshold": 1e-3}}
    return box_job(folder, end=25, method=method, gravity=[0.0, 0.0, 0.0], **more)


def test_every_frame_records_which_nodes_were_awake_and_a_resumed_bake_agrees(tmp_path):
    whole, parts = adaptive(tmp_path / "whole"), adaptive(tmp_path / "parts")
    bake(whole, Silent())
    with pytest.raises(Stopped):
        bake(parts, Silent(), stop=lambda: len(Cache(parts / "cache").frames_done()) > 15)
    bake(parts, Silent(), resume=True)
    liveliness, again = (Cache(job / "cache").diagnostics.liveliness()["Ear"] for job in (whole, parts))
    assert liveliness.frames.tolist() == list(range(1, 26)) \
        and liveliness.levels.shape == liveliness.awake.shape == (25, 1)
    assert liveliness.levels[0, 0] == 0.0 and not liveliness.awake[0, 0]
    # the swing of its pins wakes it
    assert liveliness.awake.any() and liveliness.levels.max() > 1e-3 and (liveliness.levels[1:] > 0.0).all()
    for name in ("frames", "levels", "awake"):
        assert getattr(liveliness, name).tobytes() == getattr(again, name).tobytes()


def test_free_takes_it_away_and_a_damaged_file_is_named(tmp_path):
    job = adaptive(tmp_path / "job")
    bake(job, Silent(), frames=(1, 3))
    cache = Cache(job / "cache")
    assert len(cache.diagnostics.liveliness()["Ear"].frames) == 3
    path = file_of(cache.folder, LIVELINESS, 2)
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(BadInput, match="000002"):
        Cache(job / "cache").diagnostics.liveliness()
    cache.free()
    assert not cache.folder.exists()


def test_no_file_where_nobody_may_sleep(tmp_path):
    job = box_job(tmp_path / "job", end=3)
    bake(job, Silent())
    assert Cache(job / "cache").diagnostics.liveliness() == {} and not (job / "cache" / "liveliness").exists()


def test_nodes_that_a_cut_brings_are_zero_before(tmp_path):
    """The test writes the frames itself: one node at frame 1, two at frame 2."""
    from solver.frames.write import FrameStore
    from solver.job import hashes
    from solver.job.load import load

    job = load(adaptive(tmp_path / "job"))
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), [("Ear", 0, 4), ("Nose", 4, 4)], backend="none", first=1)
    store.write_liveliness(1, np.array([[0.0, 1.0], [0.25, 0.5], [1.0, 0.0]]))
    store.write_liveliness(2, np.array([[0.0, 0.0, 1.0], [0.5, 0.75, 1.0], [1.0, 0.0, 1.0]]))
    liveliness = Cache(job.cache).diagnostics.liveliness()
    assert liveliness["Ear"].levels.tolist() == [[0.25, 0.0], [0.5, 0.75]]
    assert liveliness["Ear"].awake.tolist() == [[True, False], [True, False]]
    assert liveliness["Nose"].levels.tolist() == [[0.5], [1.0]]
