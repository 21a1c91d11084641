"""Colliders that move and change their shape under cloth with Sharp Edges."""

import numpy as np
import pytest
from cloth_jobs import BOX, Quiet, cloth_body, cloth_job, obstacle
from matrix import some
from sheets import grid

from solver.frames.read import Cache
from solver.simulate import bake

THICKNESS, END, FPS, SAMPLES = 1e-3, 9, 24, 2


def pushed(folder, motion, end=END):
    """A square metre that hangs by its upper border, and a box that comes from behind. motion: of its vertices at each
    sample, (T, 8, 3)."""
    arrays = {"box_motion": motion}
    vertices, triangles = grid(8, 8, 1.0, 1.0)
    hung = np.column_stack([np.zeros(len(vertices)), vertices[:, 0] - 0.5, vertices[:, 1] - 1.0])
    body = cloth_body("Cloth", hung, triangles, arrays, pinned=np.flatnonzero(vertices[:, 1] > 1.0 - 1e-9), eulerian={},
                      thickness=THICKNESS, laws={"damping": {"kind": "rayleigh", "params": {
                          "stiffness_damping": 2e-3}}})
    box = obstacle("Box", motion[0], BOX[1], arrays, friction=0.0, motion="arrays/box_motion.npy")
    return cloth_job(folder, [body], arrays, end=end, contact={}, obstacles=[box])


def path(end=END, speed=0.8, wider=0.0):
    """A box of 0.3 m that comes along x at a speed [m/s], and grows along y by `wider` [1/s]."""
    time = np.arange(SAMPLES * (end - 1) + 1)[:, None, None] / (SAMPLES * FPS)
    box = BOX[0] * 0.15 + [-0.17, 0.02, -0.6]
    grown = box * [1.0, 0.0, 1.0] + (box * [0.0, 1.0, 0.0])[None] * (1.0 + wider * time)
    return grown + time * [speed, 0.0, 0.0]


@pytest.mark.parametrize("wider", some([0.0, 0.6], 0.6))
def test_a_box_that_pushes_cloth_stays_behind_it_with_sharp_folds_at_its_edges(tmp_path, wider):
    motion = path(wider=wider)
    folder = pushed(tmp_path / "job", motion)
    bake(folder, Quiet())
    cache = Cache(folder / "cache")
    most = 0
    for frame in range(2, END + 1):
        sheet, box = cache.sheets(frame)["Cloth"], motion[SAMPLES * (frame - 1)]
        low, high = box.min(axis=0) - THICKNESS, box.max(axis=0) + THICKNESS
        depth = np.minimum(sheet.x - low, high - sheet.x).min(axis=1)
        assert depth.max() < 0.5 * THICKNESS
        at = sheet.x[sheet.sliding]
        # on an edge of the box as thick cloth feels it: two of three coordinates are those of its sides
        sides = np.minimum(np.abs(at - low), np.abs(at - high)) < 1e-6
        assert (sides.sum(axis=1) >= 2).all()
        most = max(most, len(at))
    assert most >= 8
    assert sheet.x[:, 0].max() > motion[-1, :, 0].max() - 0.02  # it was taken along


@pytest.mark.long
def test_a_resumed_bake_among_moving_colliders_gives_the_same_bytes(tmp_path):
    motion = path(wider=0.6)
    whole = pushed(tmp_path / "whole", motion)
    bake(whole, Quiet())
    halved = pushed(tmp_path / "halved", motion)
    bake(halved, Quiet(), frames=(1, 5))
    bake(halved, Quiet(), resume=True)
    for frame in (6, END):
        one, other = ((folder / f"cache/sheets/{frame:06d}.npz").read_bytes() for folder in (whole, halved))
        assert one == other
