"""Start of a stage of Quick."""

from dataclasses import replace

import numpy as np
import pytest
from test_early_stopped_qn import BAR, bar
from test_early_stopped_qn import quick as by_quick

from solver.nonlinear import early_stopped_qn
from solver.nonlinear.initial_guess import lowest_potential_start


@pytest.fixture
def stage_starts(monkeypatch):
    """Return each stage's problem and where it began, of a bar whose nodes fly apart at some speed."""

    def stages(speed):
        seen, solve = [], early_stopped_qn.EarlyStoppedQuasiNewton._solve

        def noted(self, problem, guess):
            seen.append((problem, guess))
            return solve(self, problem, guess)

        monkeypatch.setattr(early_stopped_qn.EarlyStoppedQuasiNewton, "_solve", noted)
        nodes, _ = BAR
        world = bar(by_quick(), poisson=0.45)
        state = world.initial_state()
        state = replace(state, u=speed * np.sin(300.0 * nodes[world.coordinates.free]).ravel())
        world.step(state, 1 / 24)
        return world, state, seen

    return stages


def test_what_flies_calmly_begins_there(stage_starts):
    world, state, stages = stage_starts(0.01)
    problem, guess = stages[0]
    assert np.array_equal(guess.reshape(-1, 3), world.velocity(state)[problem.order])


def test_what_flies_apart_begins_where_its_potential_is_less(stage_starts):
    world, state, stages = stage_starts(6.0)
    problem, guess = stages[0]
    at_start = world.coordinates.positions(state.q, state.time)
    flies, stays = world.velocity(state)[problem.order].ravel(), problem.unknowns_at(at_start)
    least = problem.evaluate(guess).merit
    assert least < 0.9 * problem.evaluate(flies).merit and least <= problem.evaluate(stays).merit
    # no point of the way has much less
    way = stays - flies
    merits = [problem.evaluate(flies + share * way).merit for share in np.linspace(0, 1, 21)]
    assert least - min(merits) <= 0.1 * (max(merits) - min(merits))
    assert lowest_potential_start(problem, guess, problem.positions(problem.velocities(guess))) is guess
