"""Cloth between plates that leave no room for it: said at once, with all names, frame and place."""

import numpy as np
import pytest
from cloth_jobs import Quiet, cloth_body, cloth_job, obstacle
from sheets import grid

from solver.errors import Diverged
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

THICK = 1e-3


def pinched(folder, final):
    """A hanging sheet of 30 cm between two plates that close on its middle in twelve frames, to `final` [m]."""
    arrays = {}
    vertices, triangles = grid(6, 6, 0.3, 0.3)
    upright = np.stack([np.zeros(len(vertices)), vertices[:, 0], vertices[:, 1]], axis=1)
    top = np.flatnonzero(upright[:, 2] > upright[:, 2].max() - 1e-6)
    body = cloth_body("Sheet", upright, triangles, arrays, pinned=top, thickness=THICK)
    low, high = upright.min(axis=0), upright.max(axis=0)
    middle, plates = 0.5 * (low + high), []
    square = np.array([(0.0, -0.06, -0.06), (0.0, 0.06, -0.06), (0.0, 0.06, 0.06), (0.0, -0.06, 0.06)]) + middle
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        away = 0.05 + (0.5 * final - 0.05) * np.minimum(np.arange(33) / 24.0, 1.0)
        base = square + [side * 0.05, 0.0, 0.0]
        arrays[f"{name}_motion"] = square + (side * away)[:, None, None] * [1.0, 0.0, 0.0]
        faces = [(0, 1, 2), (0, 2, 3)] if side < 0 else [(0, 2, 1), (0, 3, 2)]
        plates.append(obstacle(name, base, faces, arrays, motion=f"arrays/{name}_motion.npy"))
    return cloth_job(folder, [body], arrays, end=17, obstacles=plates, contact={})


@pytest.mark.parametrize("final", [0.0, -0.02])
def test_what_leaves_no_room_is_reported_with_all_names_and_no_step_is_halved(tmp_path, final):
    job = pinched(tmp_path / "job", final)
    with pytest.raises(Diverged, match=r'"Left" and "Right" close on "Sheet" near \(.*\) m and leave no room '
                                       r'for it') as refused:
        bake(job, Quiet())
    assert refused.value.object == "Sheet" and 10 <= refused.value.frame <= 13
    assert "further apart" in refused.value.remedy
    cache = Cache(load(job).cache)
    assert len(cache.frames_done()) == refused.value.frame - 1
    assert cache.diagnostics.count_halved_frames().count == 0


@pytest.mark.parametrize("final", [THICK, 5e-3])
def test_with_room_it_is_clamped_between_them(tmp_path, final):
    job = pinched(tmp_path / "job", final)
    bake(job, Quiet())
    assert len(Cache(load(job).cache).frames_done()) == 17
