"""Mechanisms, ropes and cloth are played by the solver of bakes, and pulled by hands."""

import json

import numpy as np
import pytest
from mechanisms import double_pendulum, mechanism_job
from rope_jobs import Quiet, chain, rope_job
from small_jobs import box_tets, write_job
from test_playing import DOWN, quiet

from solver.frames.read import Cache
from solver.job.load import load
from solver.live.engines.interface import Hold, Inputs
from solver.live.run import engine_of
from solver.simulate import bake


def play(engine, seconds, gravity=DOWN, **inputs):
    """Play for a time; no restart may occur."""
    passed = 0.0
    while passed < seconds - 1e-9:
        engine.step(0, Inputs(gravity, **inputs))
        passed += engine.efforts[0].step
    assert engine.restarts == 0, engine.notes


@pytest.fixture()
def pendulum(tmp_path):
    return mechanism_job(tmp_path / "job", *double_pendulum(), step=1 / 96)


def test_a_mechanism_is_played_as_it_is_baked(pendulum):
    engine = engine_of("", pendulum, quiet)
    assert type(engine).__name__ == "WorldEngine" and engine.positions.shape == (0, 3) and len(engine.poses) == 2
    play(engine, 2 / 24)
    bake(pendulum, Quiet())
    poses = Cache(pendulum / "cache").poses(3)["pose"]
    np.testing.assert_allclose(engine.poses, poses, atol=1e-9)


def test_a_hand_pulls_a_rigid_body_and_lets_go(pendulum):
    engine = engine_of("", pendulum, quiet)
    play(engine, 0.2, np.zeros(3))
    tip = engine.poses[1, :3, 3].copy()
    hand = tip + 0.3 * np.array([0.0, 0.0, 1.0]) + 0.1 * np.array([1.0, 0.0, 0.0])
    grab = Hold(1, tip, hand, 0.0, 3.0, rigid=1)
    away = np.linalg.norm(tip - hand)
    play(engine, 3.0, np.zeros(3), grabs=(grab,))
    assert np.linalg.norm(engine.poses[1, :3, 3] - hand) < 0.7 * away
    pose = engine.poses[1].copy()
    play(engine, 0.2, np.zeros(3), grabs=(grab,))
    np.testing.assert_allclose(engine.poses[1, :3, 3], pose[:3, 3], atol=0.02)
    play(engine, 1.0)
    assert engine.poses[1, 2, 3] < pose[2, 3] - 0.05  # it is let go, and falls


def test_gravity_of_a_mechanism_is_the_scenes_at_that_moment(pendulum):
    first, second = engine_of("", pendulum, quiet), engine_of("", pendulum, quiet)
    play(first, 0.3)
    play(second, 0.3, -DOWN)
    assert np.abs(first.poses - second.poses).max() > 0.1


def test_a_rope_hangs_and_is_pulled(tmp_path):
    positions = np.linspace([0, 0, 0], [0.5, 0, 0], 9)
    job = rope_job(tmp_path / "job", positions, end=1, step=1 / 60)
    engine = engine_of("", job, quiet)
    play(engine, 1.5)
    assert engine.positions.shape == (9, 3) and engine.positions[-1, 2] < -0.2
    np.testing.assert_allclose(engine.positions[0], positions[0], atol=1e-9)
    links = np.linalg.norm(np.diff(engine.positions[chain(8)].reshape(-1, 2, 3), axis=1), axis=-1)
    assert links.max() < 0.08
    end = engine.positions[-1].copy()
    play(engine, 2.0, grabs=(Hold(1, end, np.array([0.4, 0.1, -0.1]), 0.0, 5.0),))
    assert np.linalg.norm(engine.positions[-1] - [0.4, 0.1, -0.1]) < 0.1


def test_what_hangs_on_a_moved_object_follows(tmp_path):
    job = rope_job(tmp_path / "job", np.linspace([0, 0, 0], [0.5, 0, 0], 9), end=1, step=1 / 60)
    engine = engine_of("", job, quiet)
    play(engine, 0.2)
    carrier = np.eye(4)
    carrier[:3, 3] = 0.0, 0.2, 0.1
    play(engine, 1 / 60, carriers=carrier[None])
    np.testing.assert_allclose(engine.positions[0], [0.0, 0.2, 0.1], atol=1e-9)



def test_bodies_of_both_kinds_are_played_together(tmp_path):
    nodes, tets = box_tets((3, 3, 3), (0.1, 0.1, 0.1))
    bodies, joints = double_pendulum()
    job = mechanism_job(tmp_path / "job", bodies, joints, step=1 / 96)
    scene = json.loads((job / "scene.json").read_text())
    scene["bodies"] = [{"name": "Jelly", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"},
                        "method": {"kind": "vanilla"}}]
    write_job(job, scene, {"n": nodes + [3.0, 0.0, 1.0], "t": tets})
    load(job)
    engine = engine_of("", job, quiet)
    assert type(engine).__name__ == "WorldEngine"
    play(engine, 0.3)
    assert engine.positions[:, 2].mean() == pytest.approx(1.05 - 0.5 * 9.81 * 0.09, abs=0.03)
    assert len(engine.poses) == 2
