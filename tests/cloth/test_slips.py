"""Friction of sharp cloth predicted from two solutions: drags of size μ p."""

import numpy as np
import pytest

from solver.parts.eol.friction import ALIKE, FrictionResult, SlipState


def answers(drags, most, driven, mass):
    """Slips after answers with these drags (k, n) [kg] of vertices that are driven by F [N s] and have m [kg] to move,
    and the drags that would have been right in the last one."""
    slips, vertices = SlipState.unknown(len(driven)), np.arange(len(driven))
    for drag in drags:
        right = most * (mass + drag) / driven
        slips = slips.then(vertices, drag, right)
    return slips, right


def test_what_slips_is_foreseen_exactly():
    rng = np.random.default_rng(3)
    mass, driven = rng.uniform(0.5, 2.0, 9), rng.uniform(0.5, 2.0, 9)
    most = driven * rng.uniform(0.3, 0.6, 9)
    true = most * mass / (driven - most)  # s = (F - μ p) / m, r = μ p / s
    slips, right = answers([2.2 * true, 0.8 * true], most, driven, mass)
    assert np.allclose(slips.predict_drag(np.arange(9), right), true, rtol=1e-12)
    # by what each asks for alone it would be a third of the way nearer, and no more
    assert (np.abs(right - true) > 0.05 * true).all()


def test_what_sticks_is_tied_harder_each_time_until_it_creeps():
    drag, most, driven, mass = np.array([1.0]), np.array([1.0]), np.array([0.9]), np.array([0.01])
    slips, right = answers([drag, 2.0 * drag], most, driven, mass)
    assert slips.predict_drag(np.zeros(1, int), right) == pytest.approx(SlipState.furthest * right)


def test_what_friction_lifts_off_its_edge_goes_to_the_middle():
    """Pressed and slipping without a drag, and not pressed with it: one after the other for ever."""
    slips = SlipState.unknown(2).then(np.array([1]), np.zeros(1), np.array([0.3])).then(np.array([1]), np.array([0.3]),
                                                                                  np.zeros(1))
    assert slips.predict_drag(np.array([1]), np.zeros(1)) == pytest.approx(0.15)


def test_what_two_answers_do_not_tell_is_taken_as_it_is():
    slips, right = answers([np.ones(1), 1.01 * np.ones(1)], np.ones(1), np.full(1, 2.0), np.ones(1))
    assert slips.predict_drag(np.zeros(1, int), right) == right
    assert SlipState.unknown(3).predict_drag(np.arange(3), np.array([1.0, 0.0, 2.0])).tolist() == [1.0, 0.0, 2.0]


def test_what_is_hardly_pressed_is_not_thrown_by_what_is_foreseen():
    """As the pressure vanishes so does its drag, and μ p / r would be any speed."""
    vertices = np.arange(3, dtype=np.int32)
    friction = FrictionResult(vertices, np.zeros((3, 5, 5)), np.zeros((3, 5)), np.full(3, 0.5))
    before, right = np.array([1.0, 1.0, 0.0]), np.array([1.0e-280, 0.0, 0.0])
    slips = SlipState.unknown(3).then(vertices, np.full(3, 3.0), before).then(vertices, np.array([1e-290, 1.0, 1.0]),
                                                                              right)
    drag, faster = friction.predict_drag(2.0 * FrictionResult.slowest * np.array([1e-280, 1.0, 1.0]), right, slips)
    assert (drag <= np.array([1e-280, 1.0, 1.0])).all() and (drag >= 0.0).all()
    assert (faster >= 1.0 / ALIKE).all() and (faster <= ALIKE).all()
