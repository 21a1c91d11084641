"""Iterations, then steps, then time are reduced, and the panel names which."""

import pytest

from solver.live.pace import FORGET, PATIENCE, Effort, Timekeeper

EFFORTS = [Effort("", 0.02), Effort("fewer iterations", 0.02), Effort("longer steps", 0.04)]


def play(pace, seconds, costs):
    """Play for a time [s] on a computer where a step of each effort costs a given time [s]; return the efforts
    taken."""
    passed, efforts = 0.0, []
    while passed < seconds:
        spent = 0.0
        while pace.is_due:
            cost = costs[pace.effort]
            efforts.append(pace.effort)
            pace.took(cost)
            spent += cost
        wait = max(spent, pace.until_due, 1e-4) if spent else max(pace.until_due, 1e-4)
        pace.pass_time(wait)
        passed += wait
    return efforts


def test_what_is_quick_enough_takes_the_best_and_keeps_pace():
    pace = Timekeeper(EFFORTS)
    assert set(play(pace, 5.0, [0.01, 0.001, 0.001])) == {0}
    assert pace.shown_rate == 1.0


def test_it_takes_fewer_iterations_before_it_takes_longer_steps():
    pace = Timekeeper(EFFORTS)
    efforts = play(pace, 5.0, [0.03, 0.01, 0.001])
    assert efforts[-1] in (0, 1) and 2 not in efforts and efforts.count(1) > 5 * efforts.count(0)


def test_where_nothing_is_quick_enough_time_runs_slower_and_it_says_how_much():
    pace = Timekeeper(EFFORTS)
    efforts = play(pace, 10.0, [0.3, 0.2, 0.08])
    assert efforts[-1] == 2
    assert pace.shown_rate == pytest.approx(0.5, abs=0.06)  # 0.04 s that cost 0.08 s


def test_a_better_effort_is_tried_again_and_each_time_later():
    pace = Timekeeper(EFFORTS[:2])
    efforts = play(pace, 40.0, [0.03, 0.005])
    times = [k for k in range(1, len(efforts)) if efforts[k - 1] == 1 and efforts[k] == 0]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert len(times) >= 3 and gaps == sorted(gaps) and gaps[0] * 0.02 >= FORGET


def test_it_comes_back_to_the_best_when_the_computer_has_time_again():
    pace = Timekeeper(EFFORTS)
    play(pace, 3.0, [0.2, 0.05, 0.01])
    assert pace.effort > 0
    play(pace, 8.0, [0.005, 0.005, 0.005])
    assert pace.effort == 0


def test_what_the_first_step_of_an_effort_costs_more_does_not_count():
    """BDF2 starts with two stages after the step length changes."""
    pace = Timekeeper(EFFORTS)
    for _ in range(6):
        pace.took(0.03)
    assert pace.effort == 1
    pace.took(0.05)
    for _ in range(20):
        pace.took(0.015)
        assert pace.effort in (0, 1)


def test_what_was_missed_while_the_computer_slept_is_not_made_up_for():
    pace = Timekeeper(EFFORTS)
    pace.pass_time(3600.0)
    steps = 0
    while pace.is_due:
        pace.took(0.0)
        steps += 1
    assert steps <= (PATIENCE + 0.02) / 0.02 + 1
