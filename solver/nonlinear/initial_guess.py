"""Initial guesses of violent stages, in which the ballistic guess would wreck elements."""

from __future__ import annotations

import math

import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .bounded_search import BoundedSearch
from .problem import Evaluation, StageProblem

LARGE_STRAIN = 0.25  #: largest relative change of an edge for which the ballistic guess is usable
BACKTRACK_FRACTIONS = (0.5, 0.25)  #: fractions of the displacement back that are tried in turn
#: relative to the inertial decrease: backtracking is not tried if the merit decreases less along it
LEAST_DESCENT = 0.15
VIOLENT_STRAIN = 0.35  #: relative change of an edge above which a factor at the guess is outdated one iteration later


def is_violent_guess(problem: StageProblem, guess: Vec, step_start: Vec) -> bool:
    """Whether a guess of the velocities, (3 p,) [m/s], changes an edge so much from the positions at the step's start,
    (n, 3) [m], that many elements are wrecked."""
    return problem.strain(problem.unknowns_at(step_start) - guess) > VIOLENT_STRAIN


def lowest_potential_start(problem: StageProblem, guess: Vec, step_start: Vec) -> Vec:
    """Return the point (3 p,) with the lowest incremental potential found between the ballistic guess and the positions
    at the step's start; the guess itself where it strains no edge by much.

    guess: ballistic velocities, (3 p,) [m/s]. step_start: equilibrium positions at the end of the last stage, (n, 3)
    [m].
    """
    change = problem.unknowns_at(step_start) - guess
    if problem.strain(change) <= LARGE_STRAIN:
        return guess
    ballistic = problem.evaluate(guess)
    at_start = problem.evaluate(guess + change)
    if ballistic.merit is None or at_start.merit is None:
        return guess
    tried = [ballistic, at_start]
    fraction = _lowest(ballistic, at_start, change)
    if 0.0 < fraction < 1.0:
        tried.append(problem.evaluate(guess + fraction * change))
    return min(tried, key=_merit).unknowns


def contact_start(problem: StageProblem, step_start: Vec, guess: Vec) -> Evaluation:
    """Return the evaluation from which contact iterations start, with contact forces near the final ones.

    At the contact-free fraction of the ballistic guess contact forces are too large by orders of magnitude. At the
    step's start existing pairs have about their final forces, and the last factor, made nearby, improves them by one
    solve. The solution is taken if its potential is lower than that of the guess; otherwise points on the path back
    from the guess are tried, so that sliding bodies continue as they did. step_start: positions at the step's start,
    (n, 3) [m]. guess: ballistic unknowns, (3 p,) [m/s].
    """
    extrapolated = _extrapolate_by_last_factor(problem, step_start)
    predicted = problem.evaluate(guess)
    if extrapolated is not None and _merit(extrapolated) < _merit(predicted):
        return extrapolated
    return backtrack_to_step_start(problem, predicted, step_start)


def _extrapolate_by_last_factor(problem: StageProblem, step_start: Vec) -> Evaluation | None:
    """Return an evaluation one solve with the last factor away from the step's start, (n, 3) [m]; None without such a
    factor or decrease, or where prescribed motion intersects a body at rest."""
    if not problem.system.directions.are_of(problem.stage, problem.system.linear):
        return None
    unknowns = problem.unknowns_at(step_start)
    x = problem.positions_at(unknowns)
    others = np.ones(len(step_start), dtype=bool)
    others[problem.order] = False
    if not np.array_equal(x[others], step_start[others]) and problem.physics.largest_step(step_start, x) < 1.0:
        return None
    at_rest = problem.evaluate(unknowns)
    if at_rest.merit is None or not math.isfinite(at_rest.merit):
        return None
    try:
        return BoundedSearch(problem).search(at_rest, problem.factors.direction(problem, at_rest.residual))[0]
    except StepFailed:
        return None


def backtrack_to_step_start(problem: StageProblem, at: Evaluation, step_start: Vec) -> Evaluation:
    """Return the evaluation with the lowest incremental potential of a few on the path from `at` to the step's start;
    `at` itself where none is lower or a surface makes contact on that path.

    At the contact-free fraction of the ballistic guess contact forces are too large by orders of magnitude, and an
    iteration only halves them. at: a point without intersections. step_start: positions, (n, 3) [m].
    """
    change = problem.unknowns_at(step_start) - at.unknowns
    # the decrease ends there by inertia alone, and sooner with forces that get smaller
    if at.merit is None or -float(np.vdot(at.residual, change)) <= LEAST_DESCENT * problem.inertia_of(change):
        return at
    low, fraction = at, 0.0
    for part in BACKTRACK_FRACTIONS:
        tried = problem.evaluate(at.unknowns + (fraction + part) * change)
        if _merit(tried) < _merit(low):
            low = tried
        if float(np.vdot(tried.residual, change)) < 0.0:  # still decreasing
            fraction += part
    if low is at:
        return at
    x, x_low = (problem.positions_at(evaluation.unknowns) for evaluation in (at, low))
    return low if problem.physics.largest_step(x, x_low) == 1.0 else at


def _merit(at: Evaluation) -> float:
    return math.inf if at.merit is None else at.merit


def _lowest(first: Evaluation, last: Evaluation, change: Vec) -> float:
    """Return the minimum of the cubic through merits and slopes at both ends of a step, as a fraction of the step."""
    fall, rise = float(np.vdot(first.residual, change)), float(np.vdot(last.residual, change))
    if not (math.isfinite(_merit(first)) and fall < 0.0 < rise):
        return 0.5
    cubic = fall + rise - 3.0 * (_merit(last) - _merit(first))
    root = math.sqrt(max(cubic * cubic - fall * rise, 0.0))
    return 1.0 - (rise + root - cubic) / (rise - fall + 2.0 * root)
