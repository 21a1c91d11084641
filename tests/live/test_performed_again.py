"""A performance that is baked again by the method that played it gives the frames that were recorded."""

import sys
from pathlib import Path

import numpy as np
import pytest
from rope_jobs import Quiet
from small_jobs import box_job, change
from test_playing import DOWN, SOLVED, Window

from solver.frames.read import Cache
from solver.job.arrays import read_npz
from solver.live.board import RECORDED
from solver.live.engines.interface import Hold
from solver.live.run import control
from solver.simulate import bake

sys.path.append(str(Path(__file__).parents[1] / "cloth"))
from cloth_jobs import square
from sheets import grid

STEP = 1 / 48
LAST = 24  #: frame: beyond two snapshots, which come every ten, where a bake drops what its quick solver remembers
SECONDS = (LAST - 1) / 24
HELD = 1.0e-3  #: radius of what the hand takes hold of [m]: one node


def hand_at(time, start):
    """Return where the hand is, which goes straight and steadily, as samples of a Pull are joined then [m]."""
    return start + time * np.array([0.05, 0.0, 0.12])


def cloth(folder):
    """A job of cloth that hangs from its left edge, by projective dynamics."""
    left = np.flatnonzero(grid(6, 6, 0.5, 0.5)[0][:, 0] == 0.0)
    return square(folder, end=LAST, step=STEP, pinned=left, laws={"method": {"kind": "projective"}},
                  scene={"integrator": {"kind": "bdf2"}})


@pytest.fixture(params=["world", "projective"])
def performed(request, tmp_path):
    """A job, its performance by a hand at its tip, and where that was at the start [m]."""
    if request.param == "world":
        folder = box_job(tmp_path / "job", end=LAST, step=STEP, motion=False, **SOLVED)
    else:
        folder = cloth(tmp_path / "job")
    told = []
    window = Window(request.param, folder, tmp_path / "board")
    window.live._on_saved = lambda path, frames: told.append(path)
    start = window.start[int(window.start[:, 0].argmax())]
    for k in range(round(SECONDS / STEP) + 1):
        grab = Hold(1, start, hand_at(k * STEP, start), HELD, 3.0)
        window.board.write_control(control(DOWN, run=RECORDED, grabs=(grab,)))
        window.live.turn()
        window.clock.wait(STEP)
    window.board.write_control(control(DOWN))
    window.live.turn()
    assert window.engine.restarts == 0
    return folder, read_npz(told[0]), start


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
    change(folder, "bodies.0.pulls", [{"position": start.tolist(), "radius": HELD, "stiffness": float(stiffness[1]),
                                       "motion": "arrays/hand.npy"}])
    bake(folder, Quiet())
    baked = np.array([next(iter(Cache(folder / "cache").frame(k).values())) for k in range(1, LAST + 1)])
    np.testing.assert_allclose(baked, arrays["places"], rtol=0.0, atol=1e-7)


def test_a_bake_without_the_pull_gives_other_frames(performed):
    folder, arrays, _ = performed
    bake(folder, Quiet())
    baked = np.array([next(iter(Cache(folder / "cache").frame(k).values())) for k in range(1, LAST + 1)])
    assert np.abs(baked - arrays["places"]).max() > 0.01
