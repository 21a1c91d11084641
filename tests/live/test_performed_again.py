"""A performance that is baked by the method that played it gives the frames that were recorded."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from rope_jobs import Quiet
from small_jobs import box_job, change, write_job
from solids import ball
from test_bumps import block, moved
from test_meeting import cubes
from test_playing import DOWN, SOLVED, Window, quiet

from solver.errors import BadScene, Stopped
from solver.frames.read import Cache
from solver.job.arrays import read_npz
from solver.job.load import load
from solver.live.board import RECORDED
from solver.live.bumps import Bump, BumpMesh
from solver.live.engines.interface import Hold, Inputs
from solver.live.recording import Recording
from solver.live.run import control, engine_of
from solver.simulate import bake

sys.path.append(str(Path(__file__).parents[1] / "cloth"))
from cloth_jobs import square
from sheets import grid

STEP = 1 / 48
LAST = 24  #: frame: beyond two snapshots, which come every ten, where a bake drops what its quick solver remembers
SECONDS = (LAST - 1) / 24
LIVE = {"method": {"kind": "live"}, "integrator": {"kind": "bdf2"}}
GRAB_RADIUS = 1.0e-3  #: radius of what the hand takes hold of [m]: one node


def hand_at(time, start):
    """Return the position of a hand that moves straight and steadily, as samples of a Pull are interpolated [m]."""
    return start + time * np.array([0.05, 0.0, 0.12])


def cloth(folder):
    """Return a job of cloth that hangs from its left edge, by projective dynamics."""
    left = np.flatnonzero(grid(6, 6, 0.5, 0.5)[0][:, 0] == 0.0)
    return square(folder, end=LAST, step=STEP, pinned=left, laws={"method": {"kind": "projective"}},
                  scene={"integrator": {"kind": "bdf2"}})


def jelly_ball(folder):
    """Return a job of a ball whose lower part is pinned, which was never filled with tetrahedra."""
    vertices, triangles = ball(16)
    body = {"name": "Ball", "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/f.npy"},
            "mesher": {"kind": "tetwild", "params": {"edge_length": 0.08}},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}},
            "pin": {"weights": "arrays/w.npy"}, "wobble_half_life": 0.5}
    scene = {"version": 1, "name": "ball", "bodies": [body], **LIVE,
             "time": {"start": 1, "end": LAST, "fps": 24, "step": STEP, "snapshot_every": 10}}
    return write_job(folder, scene, {"v": 0.15 * vertices, "f": triangles,
                                     "w": (vertices[:, 2] < -0.6).astype(float)})


@pytest.fixture(params=["world", "projective", "modes", "ball"])
def performed(request, tmp_path):
    """Return a job, its performance by a hand at its tip, and the tip's position at the start [m]."""
    key = "modes" if request.param == "ball" else request.param
    if request.param in ("world", "modes"):
        laws = SOLVED if key == "world" else LIVE
        folder = box_job(tmp_path / "job", end=LAST, step=STEP, motion=False, **laws)
    else:
        folder = {"projective": cloth, "ball": jelly_ball}[request.param](tmp_path / "job")
    saved = []
    window = Window(key, folder, tmp_path / "board")
    window.live._on_saved = lambda path, frames: saved.append(path)
    start = window.start[int(window.start[:, 0].argmax())]
    for k in range(round(SECONDS / STEP) + 1):
        grab = Hold(1, start, hand_at(k * STEP, start), GRAB_RADIUS, 3.0)
        window.board.write_control(control(DOWN, run=RECORDED, grabs=(grab,)))
        window.live.update()
        window.clock.wait(STEP)
    window.board.write_control(control(DOWN))
    window.live.update()
    assert window.engine.restarts == 0
    return folder, read_npz(saved[0]), start


def test_the_pull_of_a_hand_makes_a_bake_give_the_frames_that_were_recorded(performed):
    folder, arrays, start = performed
    assert len(arrays["places"]) == LAST
    own = np.ptp(arrays["places"][:, :, 2], axis=0).max()
    assert own > 0.02  # it was moved
    # a Pull of samples at each frame and halfway, as the add-on's keyframes give it
    stiffness = arrays["stiffness"][:, 0]
    assert (stiffness[1:] == stiffness[1]).all()
    motion = np.tile(np.eye(4), (2 * LAST - 1, 1, 1))
    motion[:, :3, 3] = [hand_at(k / 48, start) for k in range(2 * LAST - 1)]
    np.testing.assert_allclose(motion[2::2, :3, 3], arrays["target"][1:, 0], atol=1e-12)
    np.save(folder / "arrays" / "hand.npy", motion)
    change(folder, "bodies.0.pulls", [{"position": start.tolist(), "radius": GRAB_RADIUS,
                                       "stiffness": float(stiffness[1]), "motion": "arrays/hand.npy"}])
    bake(folder, Quiet())
    baked = np.array([next(iter(Cache(folder / "cache").frame(k).values())) for k in range(1, LAST + 1)])
    np.testing.assert_allclose(baked, arrays["places"], rtol=0.0, atol=1e-7)


def test_a_bake_without_the_pull_gives_other_frames(performed):
    folder, arrays, _ = performed
    bake(folder, Quiet())
    baked = np.array([next(iter(Cache(folder / "cache").frame(k).values())) for k in range(1, LAST + 1)])
    assert np.abs(baked - arrays["places"]).max() > 0.01


def frames_of(folder):
    """Return the vertices at each frame of a bake, (f, n, 3) [m]."""
    cache = Cache(folder / "cache")
    return np.array([np.concatenate([*cache.frame(k).values()]) for k in load(folder).frames])


def played(engine, frames, inputs):
    """Return the recorded positions of as many frames, (f, n, 3) [m]. inputs: of each step, by its number."""
    recording, time = Recording(24.0), 0.0
    recording.add(time, engine.positions)
    while recording.frames < frames:
        engine.step(0, inputs(len(recording._times)))
        time += engine.efforts[0].step
        recording.add(time, engine.positions)
    assert engine.restarts == 0, engine.notes
    return np.array(recording._positions)[::round(1 / 24 / engine.efforts[0].step)]


@pytest.fixture()
def pushed(tmp_path):
    """Return a job of two cubes that fall on each other and on the ground, pushed by a wall, and its frames as
    played."""
    folder = cubes(tmp_path / "job", [[0, 0, 0.06], [0.01, 0.005, 0.18]], **LIVE)
    vertices, triangles = block([-0.4, -0.3, 0.0], [-0.2, 0.3, 0.4])
    speed = 0.4  # [m/s]
    for name, array in (("wall", vertices), ("faces", triangles)):
        np.save(folder / "arrays" / f"{name}.npy", array)
    along = speed * np.arange(2 * LAST - 1)[:, None, None] / 48 * np.array([1.0, 0.0, 0.0])
    np.save(folder / "arrays" / "way.npy", vertices + along)
    change(folder, "time", {"start": 1, "end": LAST, "fps": 24, "step": 1 / 60, "snapshot_every": 10})
    change(folder, "obstacles", [{"name": "Wall", "vertices": "arrays/wall.npy", "triangles": "arrays/faces.npy",
                                  "motion": "arrays/way.npy"}])
    engine, wall = engine_of("modes", folder, quiet), BumpMesh(vertices, triangles)
    h = engine.efforts[0].step
    assert h == pytest.approx(1 / 72)  # as a bake has it, and not a sixtieth

    def inputs(k):
        return Inputs(DOWN, bumps=(Bump(wall, moved(x=speed * k * h), before=moved(x=speed * (k - 1) * h)),))

    return folder, played(engine, LAST, inputs)


def test_bodies_that_touch_and_a_collider_that_is_moved_give_the_frames_that_were_recorded(pushed):
    folder, recorded = pushed
    upper, lower = recorded[-1, 64:].mean(axis=0), recorded[-1, :64].mean(axis=0)
    assert upper[2] - lower[2] > 0.07 and lower[0] > 0.08, (upper, lower)  # it lies on the other, which was pushed
    bake(folder, Quiet())
    np.testing.assert_allclose(frames_of(folder), recorded, rtol=0.0, atol=1e-7)


def test_a_bake_of_it_that_was_stopped_goes_on_to_the_last_bit(pushed):
    folder, _ = pushed
    bake(folder, Quiet())
    whole = frames_of(folder)
    again = folder.with_name("again")
    shutil.copytree(folder, again, ignore=shutil.ignore_patterns("cache"))
    calls = []
    with pytest.raises(Stopped):
        bake(again, Quiet(), stop=lambda: calls.append(0) or len(calls) > 45)
    bake(again, Quiet(), resume=True)
    np.testing.assert_array_equal(frames_of(again), whole)


def test_without_the_other_body_a_bake_gives_other_frames(pushed):
    folder, recorded = pushed
    change(folder, "bodies.0.touches", ["Wall"])
    bake(folder, Quiet())
    assert np.abs(frames_of(folder) - recorded).max() > 0.01


def test_what_moves_by_another_method_is_not_touched(tmp_path):
    folder = cubes(tmp_path / "job", [[0, 0, 0.06], [0.01, 0.005, 0.18]], **LIVE)
    load(folder)
    change(folder, "bodies.1.method", {"kind": "vanilla"})
    with pytest.raises(BadScene, match='ground, colliders and what else moves by Play Live, and not "Cube 1"'):
        load(folder)


def test_it_is_stepped_by_bdf2_whatever_the_integrator_and_the_log_says_so(tmp_path):
    bakes = []
    for kind in ("bdf2", "sdirk2"):
        folder = box_job(tmp_path / kind, end=4, step=STEP, motion=False, method={"kind": "live"},
                         integrator={"kind": kind})
        messages = []
        reporter = Quiet()
        reporter.log = messages.append
        bake(folder, reporter)
        bakes.append((frames_of(folder), any("steps by BDF2, and not by SDIRK2" in text for text in messages)))
    np.testing.assert_array_equal(bakes[0][0], bakes[1][0])
    assert [has_notice for _, has_notice in bakes] == [False, True]
