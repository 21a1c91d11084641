"""Jobs whose method is Subspace: baked through the ordinary loop, beside a whole bake, and what is refused."""

import numpy as np
import pytest
from small_jobs import box_job, change

from solver import simulate
from solver.errors import BadScene, Stopped
from solver.frames.read import Cache
from solver.job.load import load
from solver.meshing.volume import boundary_faces
from solver.parts.modes.body import ReducedBody


class Listening:
    def __init__(self):
        self.messages = []

    def log(self, text):
        self.messages.append(text)

    def stage(self, *arguments):
        self.messages.append(arguments[-1])

    def start(self, *arguments):
        pass

    frame = start


def draft_job(folder, young=1e5, **scene):
    scene = {"method": {"kind": "subspace", "params": {"subspace_weights": 8}},
             "integrator": {"kind": "sdirk2"}, "cells": (8, 4, 4), "step": 1 / 48, **scene}
    job = box_job(folder, **scene)
    change(job, "bodies.0.material.params.youngs_modulus", young)
    return job


def baked(folder, **how):
    """Return the vertices at each frame, (f, v, 3), and the log."""
    listener = Listening()
    simulate.bake(folder, listener, **how)
    cache = Cache(folder / "cache")
    return np.stack([cache.vertices(k).astype(float) for k in load(folder).frames]), listener.messages


def test_a_draft_swings_as_the_whole_bake_does(tmp_path):
    draft, messages = baked(draft_job(tmp_path / "draft"))
    whole, _ = baked(draft_job(tmp_path / "whole", method={"kind": "vanilla"}, stage_solver={"kind": "newton_d"}))
    moved = abs(whole - whole[0]).max()
    assert moved > 0.03
    assert abs(draft - whole).max() < 0.15 * moved
    # pins are where they are led
    pinned = whole[0][:, 0] == whole[0][:, 0].min()
    assert abs(draft - whole)[:, pinned].max() < 1e-6
    assert any("stand for 225 nodes and 768 tetrahedra; its first 5 wobbles are within" in text for text in messages)


@pytest.mark.parametrize("integrator", ["bdf2", "backward_euler"])
def test_a_resumed_draft_is_the_same_to_the_last_bit(tmp_path, integrator, monkeypatch):
    whole, _ = baked(draft_job(tmp_path / "whole", integrator={"kind": integrator}))
    job = draft_job(tmp_path / "stopped", integrator={"kind": integrator})
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > 35

    with pytest.raises(Stopped):
        simulate.bake(job, Listening(), stop=stop)
    # its subspace is read from the job folder, not found again
    monkeypatch.setattr(ReducedBody, "build", None)
    again, _ = baked(job, resume=True)
    assert (again == whole).all()


def test_another_modulus_finds_its_subspace_anew(tmp_path):
    job = draft_job(tmp_path / "job", end=3)
    _, messages = baked(job)
    assert any("Finding its subspace" in text for text in messages)
    change(job, "bodies.0.material.params.youngs_modulus", 2e5)
    _, messages = baked(job)
    assert any("Finding its subspace" in text for text in messages)


def test_a_draft_lies_on_a_ground_that_rises(tmp_path):
    job = draft_job(tmp_path / "job", end=49, motion=False,
                    ground={"point": [0, 0, -0.01], "normal": [0, 0, 1], "motion": "arrays/rising.npy",
                            "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}})
    np.save(job / "arrays" / "rising.npy", np.linspace([0, 0, -0.01], [0, 0, 0.05], 97))
    change(job, "bodies.0.pin", {})
    x, _ = baked(job)
    lowest = x[:, :, 2].min(axis=1)
    assert x[0][:, 2].min() == 0.0
    assert lowest[-1] > 0.045 and (lowest > -0.02).all()


def test_half_life_is_that_of_the_setting(tmp_path):
    job = draft_job(tmp_path / "job", end=97, motion=False)
    change(job, "bodies.0.wobble_half_life", 0.3)
    x, messages = baked(job)
    assert any("loses its half in 0.3 s" in text for text in messages)
    tip = x[:, -1, 2] - x[-1, -1, 2]
    swing = [abs(tip[k : k + 16]).max() for k in (8, 8 + 29)]  # 29 frames are four half-lives
    assert swing[1] < 0.15 * swing[0]


def test_muscles_of_a_draft_contract(tmp_path):
    job = draft_job(tmp_path / "job", motion=False, gravity=[0, 0, 0])
    np.save(job / "arrays" / "active.npy", np.linspace(0, 1, 49))
    change(job, "bodies.0.fiber_material", {"kind": "afung", "params": {"fiber_modulus": 5e5}})
    change(job, "bodies.0.fiber_field", {"kind": "straight", "params": {"fiber_x": 1, "fiber_y": 0, "fiber_z": 0}})
    change(job, "bodies.0.fiber_activation", "arrays/active.npy")
    x, _ = baked(job)
    assert x[-1][:, 0].max() < 0.97 * x[0][:, 0].max()


@pytest.mark.parametrize("path, value, messages", [
    ("integrator", {"kind": "siere"}, "Subspace cannot be stepped by SIERE"),
    ("bodies.0.pins_yield", True, "its pins cannot yield"),
    ("bodies.0.cuts", [{"frame": 3, "kind": "plane", "point": [0, 0, 0], "normal": [1, 0, 0]}], "cannot be cut"),
    ("bodies.0.cloth", {}, "cloth has no weights"),
])
def test_what_a_draft_cannot_have_is_refused_in_a_sentence(tmp_path, path, value, messages):
    job = draft_job(tmp_path / "job", end=3)
    change(job, path, value)
    with pytest.raises(BadScene, match=messages):
        load(job)


def assert_drafted_as_whole(folder, job_of, share):
    """A draft of this job is near the whole bake, by this share of what moves."""
    draft, _ = baked(job_of(folder / "draft"))
    job = job_of(folder / "whole")
    change(job, "method", {"kind": "vanilla"})
    change(job, "stage_solver", {"kind": "newton_d"})
    whole, _ = baked(job)
    moved = abs(whole - whole[0]).max()
    assert moved > 0.02
    assert abs(draft - whole).max() < share * moved


def test_a_draft_is_pulled_at_a_spot_as_the_whole_is_and_springs_back(tmp_path):
    def job_of(folder):
        job = draft_job(folder, motion=False, gravity=[0, 0, 0])
        nodes = np.load(job / "arrays" / "nodes.npy")
        np.save(job / "arrays" / "strong.npy", np.where(np.arange(49) < 24, 1.0, 0.0))
        high = np.repeat(np.eye(4)[None], 49, axis=0)
        high[:, 2, 3] = np.minimum(np.arange(49) / 12, 1.0) * 0.06
        np.save(job / "arrays" / "up.npy", high)
        tip = nodes[nodes[:, 0] > nodes[:, 0].max() - 1e-9].mean(axis=0).tolist()
        change(job, "bodies.0.pulls", [{"position": tip, "radius": 0.1, "stiffness": 400.0, "motion": "arrays/up.npy",
                                        "strength": "arrays/strong.npy"}])
        return job

    assert_drafted_as_whole(tmp_path, job_of, 0.15)


def test_a_draft_hangs_in_soft_pins_as_the_whole_does(tmp_path):
    def job_of(folder):
        job = draft_job(folder, motion=False)
        softly_pinned(job, hard=False)
        return job

    assert_drafted_as_whole(tmp_path, job_of, 0.15)


def softly_pinned(job, hard=True):
    nodes = np.load(job / "arrays" / "nodes.npy")
    np.save(job / "arrays" / "v.npy", nodes)
    np.save(job / "arrays" / "t.npy", boundary_faces(np.load(job / "arrays" / "tets.npy"))[0])
    np.save(job / "arrays" / "w.npy", np.where(nodes[:, 0] < 0.06, np.where(hard & (nodes[:, 0] == 0), 1.0, 0.5), 0.0))
    change(job, "bodies.0.surface", {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"})
    change(job, "bodies.0.pin", {"weights": "arrays/w.npy", "stiffness": 1e4})


def test_pulling_a_spot_is_found_anew_and_spans_what_it_does(tmp_path):
    """A spot's response belongs to the subspace: another spot is another subspace."""
    job = draft_job(tmp_path / "job", end=2, motion=False)
    _, messages = baked(job)
    spot = {"position": np.load(job / "arrays" / "nodes.npy").max(axis=0).tolist(), "radius": 0.05}
    change(job, "bodies.0.pulls", [spot])
    _, pulled = baked(job)
    coordinates = [int(text.split(" coordinates")[0].split()[-1]) for texts in (messages, pulled)
                   for text in texts if " coordinates and " in text]
    assert coordinates[1] > coordinates[0]
    assert any("Finding its subspace" in text for text in pulled)
