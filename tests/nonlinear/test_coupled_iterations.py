"""When the iteration between dynamic and quasistatic nodes continues, and when it fails."""

import numpy as np
import pytest

from solver.errors import StepFailed
from solver.nonlinear.condensed_stage import solve_condensed
from solver.nonlinear.condensed_velocities import CondensedStop
from solver.nonlinear.limits import StopRule
from solver.parts.stage import Stage
from solver.state import State


class Settling:
    """One rate that is right at once, and one coordinate that `relax` brings from q to where a map leads."""

    tree_stage = None

    def __init__(self, q, leads):
        self.q, self.leads = q, leads

    def solve(self):
        return np.zeros(1)

    def relax(self, q, u, evaluate, corrections=None):
        return self.leads(self.q)


def end(leads, iterations=100):
    evaluated = []

    def pose_at(q, u, project):
        evaluated.append(q)
        return Settling(q, leads)

    start = State(0.0, np.array([1.0]), np.zeros(1), {})
    stage = Stage(0.1, 1.0, 1.0, 0.1, start.q, start.u)
    try:
        end = solve_condensed(pose_at, None, stage, start, StopRule(1e-6, iterations, 0.0), 1.0)
        return end.q, len(evaluated)
    except StepFailed as failure:
        return str(failure), len(evaluated)


def test_what_snaps_between_two_shapes_is_given_up_soon_and_the_sentence_counts_iterations():
    """Which shape comes next is decided by the one before it, for ever: after each stiffness is tried, no more."""
    message, count = end(lambda q: -q)
    assert CondensedStop.patience < count <= 3 * (CondensedStop.patience + 2)
    assert message == f"dynamic nodes and balance did not converge in {count} iterations; positions still change by 2 m"


@pytest.mark.parametrize("rate", [0.5, 0.85, 0.96])
def test_what_comes_nearer_slowly_is_continued(rate):
    q, count = end(lambda q: rate * q, 400)
    assert abs(q[0]) < 1e-6 / (1.0 - rate) and count > 10
    assert count == pytest.approx(np.log(1e-6) / np.log(rate), abs=3)


def test_what_comes_no_nearer_until_it_does_at_last_may_be_in_time():
    """A detour shorter than the patience is no reason to give up."""
    steps = iter([0.0, *[3.0, -3.0] * (CondensedStop.patience // 4)])
    q, count = end(lambda q: np.full(1, next(steps, 0.25 * float(q[0]))))
    assert abs(q[0]) < 1e-5 and count > CondensedStop.patience // 2
