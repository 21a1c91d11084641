"""Friction that is painted: each node has its share of the body's."""

import numpy as np
import pytest
from small_jobs import change
from test_truths import on_a_plate
from worlds import nodes_of

from solver.errors import BadScene
from solver.job.load import load
from solver.state import State

H = 1 / 96


def speed(job, weights):
    """Down a slope of 0.3 where friction is 0.5 [m/s], after a third of a second."""
    np.save(job / "arrays" / "paint.npy", weights)
    change(job, "bodies.0.friction_weights", "arrays/paint.npy")
    part = nodes_of(load(job))
    state = State(0.0, part.initial_state().q, part.initial_state().u)
    for _ in range(32):
        state = part.step(state, H)
    return float((part.mass @ part.velocity(state))[0] / part.mass.sum())


def test_a_block_slides_where_little_friction_is_painted(tmp_path):
    job = on_a_plate(tmp_path / "job", 0.3, (1, 0.3, 0.6), 0.5, "quick", (2, 2, 1))
    count = len(np.load(job / "arrays" / "Block_nodes.npy"))
    assert abs(speed(job, np.ones(count))) < 5e-3
    # the mean of a quarter of 0.5 with 0.5 is 0.25
    free_fall = 9.81 / np.hypot(1.0, 0.3) * (0.3 - 0.25) * 32 * H
    assert speed(job, np.full(count, 0.25)) == pytest.approx(free_fall, rel=0.3)


def test_a_block_slides_where_little_friction_is_painted_on_what_it_lies_on(tmp_path):
    job = on_a_plate(tmp_path / "job", 0.3, (1, 0.3, 0.6), 0.5, "quick", (2, 2, 1))
    plate = np.load(next((job / "arrays").glob("*_vertices.npy")))
    change(job, "obstacles.0.friction_weights", "arrays/plate.npy")
    np.save(job / "arrays" / "plate.npy", np.ones(len(plate)))
    whole = np.ones(len(np.load(job / "arrays" / "Block_nodes.npy")))
    assert abs(speed(job, whole)) < 5e-3
    np.save(job / "arrays" / "plate.npy", np.full(len(plate), 0.25))
    assert speed(job, whole) == pytest.approx(9.81 / np.hypot(1.0, 0.3) * (0.3 - 0.25) * 32 * H, rel=0.3)
    np.save(job / "arrays" / "plate.npy", np.ones(2))
    with pytest.raises(BadScene, match="obstacles.*friction_weights"):
        speed(job, whole)


def test_paint_that_does_not_fit_is_reported(tmp_path):
    job = on_a_plate(tmp_path / "job", 0.3, (1, 0.3, 0.6), 0.5, "quick", (2, 2, 1))
    with pytest.raises(BadScene, match="friction_weights"):
        speed(job, np.ones(3))
