"""Stress, stretch, pressure and speed at the vertices of a body with stress output."""

import numpy as np
import pytest
from small_jobs import box_job, change
from test_needles import Listener

from solver.errors import NoSuchThing
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

STRETCH = 1.02


def stretched(folder, **settings):
    """Return a job of a box that is pulled along X by two percent at its ends, free at its sides, nearly at rest in the
    end."""
    job = box_job(folder, end=30, step=1 / 24, motion=False)
    nodes = np.load(job / "arrays" / "nodes.npy")
    ends = np.flatnonzero((nodes[:, 0] == nodes[:, 0].min()) | (nodes[:, 0] == nodes[:, 0].max())).astype(np.int32)
    fraction = np.clip(np.linspace(0.0, 3.0, 59), 0.0, 1.0)[:, None]
    away = (STRETCH - 1.0) * nodes[ends, 0] * fraction
    np.save(job / "arrays" / "pinned.npy", ends)
    np.save(job / "arrays" / "motion.npy", nodes[ends] + away[:, :, None] * np.array([1.0, 0.0, 0.0]))
    change(job, "bodies.0.pin.node_motion", "arrays/motion.npy")
    change(job, "bodies.0.dynamic", {})
    change(job, "gravity", [0.0, 0.0, 0.0])
    for path, value in settings.items():
        change(job, path.replace("__", "."), value)
    return job


def test_a_pulled_bar_has_the_stress_of_its_modulus(tmp_path):
    job = stretched(tmp_path, bodies__0__stress_output=True)
    bake(job, Listener())
    cache = Cache(load(job).cache)
    modulus = load(job).scene.bodies[0].material.params["youngs_modulus"]
    nodes = np.load(job / "arrays" / "nodes.npy")
    [rows] = cache.diagnostics.stress(30).values()
    assert rows.shape == (len(nodes), 4) and rows.dtype == np.float32
    middle = np.abs(nodes[:, 0] - nodes[:, 0].mean()) < 0.26 * np.ptp(nodes[:, 0])
    mises, stretch, pressure, speed = rows[middle].mean(axis=0)
    assert stretch == pytest.approx(STRETCH, abs=0.3 * (STRETCH - 1.0))
    assert mises == pytest.approx(modulus * (STRETCH - 1.0), rel=0.3)
    # a bar that is pulled along one axis: p = −σ/3
    assert pressure == pytest.approx(-mises / 3.0, rel=0.4)
    [while_pulled] = cache.diagnostics.stress(5).values()
    assert np.abs(while_pulled[:, 3]).max() > 10.0 * np.abs(rows[:, 3]).max()


def test_nothing_is_written_without_the_setting_and_the_motion_is_equal(tmp_path):
    quiet, with_output = stretched(tmp_path / "quiet"), stretched(tmp_path / "asked", bodies__0__stress_output=True)
    for job in (quiet, with_output):
        bake(job, Listener())
    with pytest.raises(NoSuchThing):
        Cache(load(quiet).cache).diagnostics.stress(30)
    assert not (load(quiet).cache / "stress").exists()
    for frame in (2, 30):
        np.testing.assert_array_equal(*(Cache(load(job).cache).vertices(frame) for job in (quiet, with_output)))
    cache = Cache(load(with_output).cache)
    cache.free()
    assert not (cache.folder / "stress").exists()
