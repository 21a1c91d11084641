"""Where a stage of what is violent may be solved from: flying on as it does, its elements would be wrecked."""

from __future__ import annotations

import math

import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .problem import Evaluation, StageProblem

BRISK = 0.25  #: of an edge's length, by which flying on changes the worst one: less wrecks nothing
BACK = (0.5, 0.25)  #: of the way back that are tried one after the other
WORTH = 0.15  #: of it: where the fall ends sooner none is tried
WILD = 0.35  #: the same where what a factor made there would know is out of date an iteration later


def is_wild(problem: StageProblem, guess: Vec, begun: Vec) -> bool:
    """Whether flying on strains an edge so much that it wrecks many elements; arguments as for `lower_start`."""
    return problem.strain(problem.unknowns_at(begun) - guess) > WILD


def lower_start(problem: StageProblem, guess: Vec, begun: Vec) -> Vec:
    """The point (3 p,) with the least incremental potential found between flying on and staying, the guess where that
    strains no edge by much, or has the least.

    guess: velocities that fly on, (3 p,) [m/s]. begun: where the last stage left the nodes, in balance, (n, 3) [m].
    """
    way = problem.unknowns_at(begun) - guess
    if problem.strain(way) <= BRISK:
        return guess
    flies = problem.evaluate(guess)
    stays = problem.evaluate(guess + way)
    if flies.merit is None or stays.merit is None:
        return guess
    tried = [flies, stays]
    share = _lowest(flies, stays, way)
    if 0.0 < share < 1.0:
        tried.append(problem.evaluate(guess + share * way))
    return min(tried, key=merit_of).unknowns


def lowest_start(problem: StageProblem, guess: Vec) -> Evaluation:
    """The guess, (3 p,) [m/s], or where the stage begins if there is less potential and nothing meets on the way there:
    a root has no more than either."""
    flies = problem.evaluate(guess)
    stays = problem.evaluate(problem.unknowns_at(problem.begun))
    if merit_of(stays) >= merit_of(flies):
        return flies
    here, there = (problem.positions(problem.velocities(one.unknowns)) for one in (flies, stays))
    return stays if problem.physics.largest_step(here, there) == 1.0 else flies


def landing_start(problem: StageProblem, begun: Vec, guess: Vec) -> Evaluation:
    """Where iterations begin that find what touches: with forces there that are near those in the end.

    Surfaces that fly on as far as nothing meets push each other by orders of magnitude too much. Where they stand,
    those that have touched push about as they will, and the last factor was made nearby: it leads on for one solve.
    Of both the one with less potential is taken: what slides goes on as it did. begun: where the stage stands, (n, 3)
    [m]. guess: unknowns with which all flies on, (3 p,) [m/s].
    """
    flown = back_on_the_way(problem, problem.evaluate(guess), begun)
    led = _led_on(problem, begun)
    return flown if led is None or merit_of(flown) <= merit_of(led) else led


def _led_on(problem: StageProblem, begun: Vec) -> Evaluation | None:
    """Where the last factor leads from where the stage stands, (n, 3) [m]; None where there is none or it leads
    nowhere, or something has come to be in what stands."""
    if not problem.has_last_factor:
        return None
    unknowns = problem.unknowns_at(begun)
    here = problem.positions(problem.velocities(unknowns))
    others = np.ones(len(begun), dtype=bool)
    others[problem.order] = False
    if not np.array_equal(here[others], begun[others]) and problem.physics.largest_step(begun, here) < 1.0:
        return None
    stands = problem.evaluate(unknowns)
    if stands.merit is None or not math.isfinite(stands.merit):
        return None
    try:
        return problem.search(stands, problem.direction(stands.residual))[0]
    except StepFailed:
        return None


def back_on_the_way(problem: StageProblem, at: Evaluation, begun: Vec) -> Evaluation:
    """The lowest of some points on the way back to where the stage stands, if the incremental potential falls that way
    and nothing meets.

    Surfaces that have flown on as far as nothing meets push each other by orders of magnitude more than where they end
    up, and an iteration halves no more than that. at: a point at which nothing has met. begun: (n, 3) [m].
    """
    way = problem.unknowns_at(begun) - at.unknowns
    # inertia alone stops the fall there, and forces that get less sooner
    if at.merit is None or -float(np.vdot(at.residual, way)) <= WORTH * problem.inertia_of(way):
        return at
    low, share = at, 0.0
    for part in BACK:
        tried = problem.evaluate(at.unknowns + (share + part) * way)
        if merit_of(tried) < merit_of(low):
            low = tried
        if float(np.vdot(tried.residual, way)) < 0.0:  # it falls on
            share += part
    if low is at:
        return at
    here, there = (problem.positions(problem.velocities(one.unknowns)) for one in (at, low))
    return low if problem.physics.largest_step(here, there) == 1.0 else at


def merit_of(at: Evaluation) -> float:
    """Infinite where there is none."""
    return math.inf if at.merit is None else at.merit


def _lowest(first: Evaluation, last: Evaluation, way: Vec) -> float:
    """Where the cubic through merits and slopes at both ends of a way is least, as a share of it."""
    fall, rise = float(np.vdot(first.residual, way)), float(np.vdot(last.residual, way))
    if not (math.isfinite(merit_of(first)) and fall < 0.0 < rise):
        return 0.5
    turn = fall + rise - 3.0 * (merit_of(last) - merit_of(first))
    root = math.sqrt(max(turn * turn - fall * rise, 0.0))
    return 1.0 - (rise + root - turn) / (rise - fall + 2.0 * root)
