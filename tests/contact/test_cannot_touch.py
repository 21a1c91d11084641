"""Displacements so short that no pair of surfaces can come into contact: their bounds are not computed."""

import numpy as np

from benchmarks.scenes.touching import balls_in_a_box
from solver.contact.find.distance_kernels import SQUARE


def test_what_cannot_touch_meets_nothing_by_the_bounds_either(tmp_path):
    part = balls_in_a_box(tmp_path / "job", 10, 4, 1 / 96)
    law, state = part.contacts[0], part.initial_state()
    for _ in range(3):
        state = part.step(state, 1 / 96)
    x = part.coordinates.positions(state.q, state.time)
    pairs = law.find_active_pairs(x)
    assert len(pairs.nodes)
    least = float(np.sqrt(pairs.work[:, SQUARE].min()))
    alike, random = np.arange(len(x), dtype=np.int32), np.random.default_rng(1)
    unbounded = []
    for size in np.repeat([0.1, 0.4, 0.8, 2.0, 20.0], 4) * least:
        moved = random.normal(size=x.shape)
        end = x + size * moved / np.linalg.norm(moved, axis=1, keepdims=True)
        fractions = law.surfaces.largest_steps(x, end, alike)
        unbounded.append(law._cannot_touch(x, end))
        assert not unbounded[-1] or fractions.min() == 1.0 == law.surfaces.largest_step(x, end)
        assert np.array_equal(law.largest_steps(x, end, alike), fractions)
    assert all(unbounded[:8]) and not any(unbounded[-4:])


def test_positions_whose_pairs_are_not_known_are_bounded(tmp_path):
    part = balls_in_a_box(tmp_path / "job", 2, 2, 1 / 96)
    law, x = part.contacts[0], part.coordinates.positions(part.initial_state().q, 0.0)
    law.find_active_pairs(x)
    assert law._cannot_touch(x, x) and not law._cannot_touch(x + 1e-9, x + 1e-9)
