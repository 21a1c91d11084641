"""The cache records which body required shorter steps, and in how many frames."""

import numpy as np
import pytest
from small_jobs import box_job, change

from solver.frames.halved import counts_by_body
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake


class Quiet:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *arguments: None


@pytest.fixture
def tossed(tmp_path):
    """Return a job of a box of 0.2 m whose right face goes to and fro by 40 cm within half a second."""
    job = box_job(tmp_path / "job", end=13, step=1 / 24, motion=False)
    nodes = np.load(job / "arrays" / "nodes.npy")
    ends = np.flatnonzero((nodes[:, 0] == 0) | (nodes[:, 0] == nodes[:, 0].max())).astype(np.int32)
    away = 0.4 * np.sin(np.linspace(0.0, np.pi, 25))[:, None] * (nodes[ends, 0] > 0.0)
    np.save(job / "arrays" / "pinned.npy", ends)
    np.save(job / "arrays" / "motion.npy", nodes[ends] + away[:, :, None] * np.array([1.0, 0.0, 0.0]))
    change(job, "bodies.0.pin.node_motion", "arrays/motion.npy")
    change(job, "bodies.0.dynamic", {})
    return job


def test_the_body_that_deforms_too_fast_is_known(tossed):
    change(tossed, "time.largest_deformation", 0.1)
    bake(tossed, Quiet())
    cache = Cache(load(tossed).cache)
    halved = cache.diagnostics.count_halved_frames()
    assert 3 < halved.count <= 12 and halved.body == "Ear"
    cache.free()
    assert not (cache.folder / "halved").exists()


def test_a_calm_bake_has_none(tossed):
    change(tossed, "time.largest_deformation", 0.0)
    bake(tossed, Quiet())
    cache = Cache(load(tossed).cache)
    assert cache.diagnostics.count_halved_frames().count == 0 and not (cache.folder / "halved").exists()


def test_a_damaged_file_counts_for_nothing(tossed):
    change(tossed, "time.largest_deformation", 0.1)
    bake(tossed, Quiet())
    cache = Cache(load(tossed).cache)
    before = cache.diagnostics.count_halved_frames().count
    first = sorted((cache.folder / "halved").glob("*.npy"))[0]
    first.write_bytes(b"no array")
    assert Cache(load(tossed).cache).diagnostics.count_halved_frames().count == before - 1


def test_steps_are_counted_by_body():
    assert counts_by_body(["A", "B"], ["B", None, "B", "A", "gone"]).tolist() == [1, 2, 2]
