"""Cloth with Sharp Edges that its pins tear at: it stretches and stays valid, or the bake names it and the time."""

import numpy as np
import pytest
from cloth_jobs import Quiet, cloth_body, cloth_job
from matrix import some
from sheets import grid

from solver.errors import Diverged
from solver.frames.read import Cache
from solver.simulate import bake


def torn(folder, times, end=4):
    """A square of 0.3 m without weight, two of whose corners are pulled apart to so many times their distance."""
    vertices, triangles = grid(4, 4, 0.3, 0.3)
    pinned = np.array([0, len(vertices) - 1])
    share = np.linspace(0.0, 1.0, 2 * end - 1)[:, None, None]
    middle = vertices[pinned].mean(axis=0)
    motion = vertices[pinned] + share * (times - 1.0) * (vertices[pinned] - middle)
    arrays = {}
    body = cloth_body("Cloth", vertices, triangles, arrays, pinned=pinned, motion=motion, eulerian={})
    return cloth_job(folder, [body], arrays, end=end, gravity=[0.0, 0.0, 0.0]), motion


@pytest.mark.parametrize("times", some([1.5, 6.0], 6.0))
def test_cloth_that_pins_tear_at_stretches_and_holds_on(tmp_path, times):
    job, motion = torn(tmp_path / "job", times)
    bake(job, Quiet())
    sheet = Cache(job / "cache").sheets(4)["Cloth"]
    assert np.isfinite(sheet.x).all()
    for at in motion[-1]:
        assert np.linalg.norm(sheet.x - at, axis=1).min() < 1e-6
    corners = sheet.material[sheet.faces]
    assert (np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) > 0.0).all()


def test_cloth_that_is_torn_to_a_thousand_times_its_size_stops_with_its_name(tmp_path):
    with pytest.raises(Diverged, match="times its size") as refused:
        bake(torn(tmp_path / "job", 5e3)[0], Quiet())
    assert refused.value.object == "Cloth" and refused.value.frame is not None
