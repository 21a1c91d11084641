"""Bounded quadratic programs: the minimum is one, whatever the units, the guess and the bounds."""

import numpy as np
import pytest

from solver.errors import StepFailed
from solver.rows.bounded import BoundedProgram


def program(k, seed=0, scale=1.0):
    random = np.random.default_rng(seed)
    half = random.normal(size=(k, k))
    return scale * (half @ half.T + 1e-3 * np.eye(k)), scale * random.normal(size=k), np.abs(random.normal(size=k)) / 9


def assert_is_minimum(W, s, low, high, x, tolerance=1e-9):
    """Inside, and downhill only through a bound."""
    slope = (W @ x + s) / np.abs(s).max()
    assert (x >= low).all() and (x <= high).all()
    inside = (x > low) & (x < high)
    assert np.abs(slope[inside]).max(initial=0.0) < tolerance
    assert (slope[(x <= low) & (low < high)] > -tolerance).all()
    assert (slope[(x >= high) & (low < high)] < tolerance).all()


@pytest.mark.parametrize("k", [1, 4, 20, 60, 200])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e7])
def test_minimum_in_any_unit(k, scale):
    W, s, bound = program(k, scale=scale)
    x = BoundedProgram(W, s).solve(s, -bound, bound)
    assert_is_minimum(W, s, -bound, bound, x)
    assert k < 60 or (np.abs(x) == bound).any() and (np.abs(x) < bound).any()


@pytest.mark.parametrize("seed", range(5))
def test_newtons_method_finds_the_minimum_of_the_active_set(seed, monkeypatch):
    W, s, bound = program(30, seed)
    quick = BoundedProgram(W, s)
    answers = [quick.solve(share * s, -bound, bound) for share in (1.0, 1.5, -0.5)]
    assert quick._model is None
    monkeypatch.setattr(BoundedProgram, "few_free", -1)
    sure = BoundedProgram(W, s)
    for share, answer in zip((1.0, 1.5, -0.5), answers):
        assert np.allclose(sure.solve(share * s, -bound, bound), answer, rtol=0, atol=1e-9 * bound.max())
    assert sure._model is not None


def test_tiny_impulses_are_found_as_well_as_large_ones():
    W, s, bound = program(20)
    x = BoundedProgram(W, s).solve(s, -bound, bound)
    small = BoundedProgram(W, 1e-8 * s).solve(1e-8 * s, -1e-8 * bound, 1e-8 * bound)
    assert np.allclose(1e8 * small, x, rtol=1e-9, atol=1e-12)


def test_one_sided_bounds_and_none():
    W, s, _ = program(30)
    nothing, never = np.zeros(30), np.full(30, np.inf)
    x = BoundedProgram(W, s).solve(s, nothing, never)
    assert_is_minimum(W, s, nothing, never, x)
    assert np.allclose(W @ BoundedProgram(W, s).solve(s, -never, never), -s)


def test_bounds_of_zero_hold_still():
    W, s, bound = program(12)
    bound[::2] = 0.0
    x = BoundedProgram(W, s).solve(s, -bound, bound)
    assert not x[::2].any()
    assert_is_minimum(W, s, -bound, bound, x)
    assert not BoundedProgram(W, s).solve(s, 0 * bound, 0 * bound).any()


def test_guess_saves_iterations_and_changes_no_answer():
    W, s, bound = program(60)
    cold = BoundedProgram(W, s)
    x = cold.solve(s, -bound, bound)
    warm = BoundedProgram(W, s, x)
    assert np.allclose(warm.solve(s, -bound, bound), x, rtol=0, atol=1e-12)
    assert warm.iterations < cold.iterations / 5
    wrong = BoundedProgram(W, s, -np.sign(x) * bound)
    assert np.allclose(wrong.solve(s, -bound, bound), x, rtol=0, atol=1e-10)


def test_reused_program_follows_slip_and_bounds():
    W, s, bound = program(40)
    reused = BoundedProgram(W, s)
    reused.solve(s, -bound, bound)
    used = reused.iterations
    for share in (1.01, 0.99, -1.0, 30.0):
        x = reused.solve(share * s, -0.9 * bound, bound)
        assert_is_minimum(W, share * s, -0.9 * bound, bound, x)
        if share == 1.01:
            assert reused.iterations - used < used / 2


def test_what_is_not_finite_is_refused():
    W, s, bound = program(3)
    with pytest.raises(ValueError, match="finite W"):
        BoundedProgram(np.nan * W, s)
    with pytest.raises(ValueError, match="positive diagonal"):
        BoundedProgram(np.zeros((3, 3)), s)
    with pytest.raises(StepFailed, match="not finite"):
        BoundedProgram(W, s).solve(np.array([np.nan, 0.0, 0.0]), -bound, bound)
    with pytest.raises(StepFailed, match="flag -5"):
        never = np.full(2, np.inf)
        BoundedProgram(np.array([[1.0, 2.0], [2.0, 1.0]]), s[:2]).solve(s[:2], -never, never)
    assert BoundedProgram(np.zeros((0, 0)), np.zeros(0)).solve(np.zeros(0), np.zeros(0), np.zeros(0)).shape == (0,)
