"""A body far from zero keeps its shape in single precision, and one that flies away is named."""

import numpy as np
import pytest
from small_jobs import box_job, change

from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

END = 6


class Listener:
    def __init__(self):
        self.notes = []

    def log(self, text):
        self.notes.append(text)

    def stage(self, *_):
        pass

    start = frame = stage


def baked(folder, shift, gravity=-9.81, **scene):
    """Bake a falling box at a distance from the origin; return its frames and the log."""
    job, listener = box_job(folder, end=END, motion=False, gravity=[0, 0, gravity], **scene), Listener()
    np.save(job / "arrays/nodes.npy", np.load(job / "arrays/nodes.npy") + np.asarray(shift))
    bake(job, listener)
    return Cache(job / "cache"), listener.notes


def test_a_body_ten_thousand_kilometres_off_moves_as_at_home(tmp_path):
    shift = np.array([1e7, -3e6, 2e7])
    home, _ = baked(tmp_path / "home", (0, 0, 0))
    far, _ = baked(tmp_path / "far", shift)
    assert home.origins() == {} and home.frame(END)["Ear"].dtype == np.float32
    assert far.origins()["Ear"] == pytest.approx(shift, rel=1e-7)
    for frame in (1, END):
        positions = far.frame(frame)["Ear"]
        assert np.abs(positions - shift - home.frame(frame)["Ear"]).max() < 1e-7
        assert np.array_equal(far.read_all_vertices(frame)["Ear"], positions)


def test_what_plays_in_the_objects_own_space_has_no_origin(tmp_path):
    job = box_job(tmp_path, end=END, motion=False)
    nodes = np.load(job / "arrays/nodes.npy") + 1e7
    np.save(job / "arrays/nodes.npy", nodes)
    np.save(job / "arrays/vertices.npy", nodes[:4])
    np.save(job / "arrays/triangles.npy", np.array([[0, 1, 2], [1, 2, 3]], np.int32))
    back = np.eye(4)
    back[:3, 3] = -1e7
    np.save(job / "arrays/back.npy", np.tile(back, (END, 1, 1)))
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy",
                                     "to_object": "arrays/back.npy"})
    bake(job, Listener())
    cache = Cache(job / "cache")
    assert cache.origins() == {} and len(load(job).scene.bodies) == 1
    assert np.abs(cache.frame(1)["Ear"] - (nodes[:4] - 1e7)).max() < 1e-7


def test_a_body_that_falls_out_of_single_precision_is_named_once(tmp_path):
    notes = {}
    for gravity in (-9.81, -3e4):
        job, listener = box_job(tmp_path / str(gravity), end=END, motion=False, gravity=[0, 0, gravity]), Listener()
        change(job, "bodies.0.pin", {})
        bake(job, listener)
        notes[gravity] = [text for text in listener.notes if "single precision" in text]
    assert notes[-9.81] == []
    note, = notes[-3e4]
    assert note.startswith('"Ear", frame 5: it is 443 m ') and "off by 0.0001 of its size. Hold it" in note
