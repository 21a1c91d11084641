"""Edges that are drawn out far are reported with their body and frames."""

import numpy as np
from small_jobs import box_job, change

from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake


class Listener:
    """A listener to a bake that collects sentences of the log."""

    def __init__(self):
        self.sentences = []

    def log(self, text):
        self.sentences.append(text)

    def stage(self, *arguments):
        pass

    start = frame = stage


def pulled(folder, metres):
    """Return a job of a box of 0.2 m whose right face is carried away and back within twelve frames."""
    job = box_job(folder, end=13, step=1 / 24, motion=False)
    nodes = np.load(job / "arrays" / "nodes.npy")
    ends = np.flatnonzero((nodes[:, 0] == 0) | (nodes[:, 0] == nodes[:, 0].max())).astype(np.int32)
    away = metres * np.sin(np.linspace(0.0, np.pi, 25))[:, None] * (nodes[ends, 0] > 0.0)
    motion = nodes[ends] + away[:, :, None] * np.array([1.0, 0.0, 0.0])
    np.save(job / "arrays" / "pinned.npy", ends)
    np.save(job / "arrays" / "motion.npy", motion)
    change(job, "bodies.0.pin.node_motion", "arrays/motion.npy")
    change(job, "bodies.0.dynamic", {})
    return job


def test_what_is_drawn_out_is_reported_with_body_and_frames(tmp_path):
    job, listener = pulled(tmp_path, 1.0), Listener()
    bake(job, listener)
    [message] = Cache(load(job).cache).diagnostics.needles()
    assert message in listener.sentences
    assert message.startswith('"Ear" is drawn out in frames ') and "times as long as at rest" in message
    first, last = (int(word) for word in message.split("frames ")[1].split(":")[0].split(" to "))
    assert 2 < first < 7 < last < 12
    # a file of another hand says nothing
    (load(job).cache / "needles" / "000007.npy").write_bytes(b"no array")
    assert Cache(load(job).cache).diagnostics.needles()


def test_nothing_is_reported_of_what_only_bends(tmp_path):
    job, listener = pulled(tmp_path, 0.2), Listener()
    bake(job, listener)
    assert Cache(load(job).cache).diagnostics.needles() == []
    assert not any("drawn out" in sentence for sentence in listener.sentences)
    assert not (load(job).cache / "needles").exists()


def test_freeing_takes_them_too(tmp_path):
    job = pulled(tmp_path, 1.0)
    bake(job, Listener())
    cache = Cache(load(job).cache)
    assert (cache.folder / "needles").exists()
    cache.free()
    assert not (cache.folder / "needles").exists()
