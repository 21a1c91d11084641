"""Ropes whose pins are springs: they follow the animation of their vertices, and give by what hangs on them."""

import numpy as np
import pytest
from rope_jobs import baked, rope_job
from small_jobs import change

GRAVITY, STIFFNESS, LINKS, MOVED = 9.81, 4e3, 5, 0.1


def test_a_soft_pin_follows_its_vertex_and_gives_by_the_weight_below_it(tmp_path):
    """k m d = M g, with the mass m of the end, half a link's, and that of all links, M."""
    places = np.zeros((LINKS + 1, 3))
    places[:, 2] = -0.1 * np.arange(LINKS + 1)
    job = rope_job(tmp_path / "job", places, end=73)
    times = np.linspace(0.0, 1.0, 2 * 72 + 1)
    motion = np.zeros((len(times), 1, 3))
    motion[:, 0, 0] = MOVED * np.minimum(3.0 * times, 1.0)
    weights = np.zeros(LINKS + 1)
    weights[0] = 0.5
    for name, array in (("weights", weights), ("motion", motion), ("moving", np.zeros(1, np.int32))):
        np.save(job / "arrays" / f"{name}.npy", array)
    change(job, "bodies.0.pin", {"weights": "arrays/weights.npy", "motion": "arrays/motion.npy",
                                 "motion_vertices": "arrays/moving.npy", "stiffness": STIFFNESS})
    end = baked(job)[-6:, 0].mean(axis=0)
    assert end[0] == pytest.approx(MOVED, abs=5e-3)
    assert -end[2] == pytest.approx(GRAVITY * 2 * LINKS / STIFFNESS, rel=0.1)
