"""The loop that solves a stage, on Newton's method for the square root of a number."""

from dataclasses import dataclass

import pytest

from solver.errors import StepFailed
from solver.iteration.iterate import iterate
from solver.iteration.protocol import Bound, Exhausted, Refused, StageDirections, Stop


@dataclass(frozen=True)
class Step:
    after: float
    fraction: float

    @property
    def is_full(self):
        return self.fraction == 1.0


class Newton(StageDirections):
    """Directions to the root of x² = problem; `failing` maps numbers of calls to the exception that they raise."""

    def __init__(self, failing=()):
        self.failing, self.lasts = dict(failing), []

    def find(self, problem, at, last):
        self.lasts.append(last)
        failure = self.failing.get(len(self.lasts))
        if failure is not None:
            raise failure
        return (problem - at * at) / (2.0 * at) or None


class Cut(Bound):
    """Bound that takes fractions of directions in turn, all of them in the end; a fraction of zero fails."""

    def __init__(self, *fractions):
        self.fractions = list(fractions)

    def step_along(self, problem, at, direction):
        fraction = self.fractions.pop(0) if self.fractions else 1.0
        if not fraction:
            raise StepFailed("blocked")
        return Step(at + fraction * direction, fraction)


class Near(Stop):
    def __init__(self, root, within=1e-12):
        self.root, self.within = root, within

    def is_done(self, step):
        if step.after > 1e6:
            raise Exhausted
        return abs(step.after - self.root) <= self.within


def test_it_ends_at_the_root():
    end = iterate(2.0, 1.0, Newton(), Cut(), Near(2.0**0.5), 20)
    assert end.has_converged and end.at == pytest.approx(2.0**0.5, abs=1e-12)
    assert end.count == end.accepted == 5 and end.last.after == end.at and not end.is_rounding


def test_it_ends_where_a_direction_would_move_nothing():
    end = iterate(4.0, 2.0, Newton(), Cut(), Near(0.0), 20)
    assert end.has_converged and end.is_rounding and (end.at, end.count, end.accepted) == (2.0, 1, 0)


def test_it_has_not_converged_after_the_last_iteration():
    end = iterate(2.0, 1.0, Newton(), Cut(), Near(2.0**0.5), 3)
    assert not end.has_converged and end.count == 3 and end.last.after == end.at


def test_a_refused_matrix_counts_an_iteration_and_a_step_is_passed_on_once():
    directions = Newton({2: Refused()})
    end = iterate(2.0, 1.0, directions, Cut(), Near(2.0**0.5), 20)
    assert end.has_converged and (end.count, end.accepted) == (6, 5)
    first, refused, again, *_ = directions.lasts
    assert first is None and refused.after == 1.5 and again is None


def test_exhausted_directions_leave_the_last_iterate():
    end = iterate(2.0, 1.0, Newton({3: Exhausted()}), Cut(), Near(2.0**0.5), 20)
    assert not end.has_converged and (end.count, end.accepted) == (3, 2) and end.last.after == end.at


def test_a_stop_rule_gives_up_on_iterations_that_diverge():
    end = iterate(1e14, 1.0, Newton(), Cut(), Near(1e7), 20)
    assert not end.has_converged and end.count == 1 and end.at > 1e6


def test_a_step_that_is_not_accepted_fails_the_stage_unless_directions_try_again():
    with pytest.raises(StepFailed, match="blocked"):
        iterate(2.0, 1.0, Newton(), Cut(1.0, 0.0), Near(2.0**0.5), 20)

    class Again(Newton):
        def retries(self, problem, at, failure):
            return at > 1.0

    end = iterate(2.0, 1.0, Again(), Cut(1.0, 0.0), Near(2.0**0.5), 20)
    assert end.has_converged and (end.count, end.accepted) == (6, 5)
    end = iterate(2.0, 1.0, Again(), Cut(0.0), Near(2.0**0.5), 20)
    assert not end.has_converged and (end.count, end.accepted) == (1, 0)


def test_friction_is_updated_after_full_steps_of_the_first_iterations():
    updated = []

    def lag(problem, at):
        updated.append(at)
        return problem + 1.0, at

    end = iterate(2.0, 1.0, Newton(), Cut(1.0, 0.5), Near(2.0, 1e-9), 20, lag, lagged=3)
    assert len(updated) == 2 and end.problem == 4.0 and end.has_converged
