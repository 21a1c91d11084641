"""An initial guess of a stage in contact whose path from the step's start is free of intersections.

A guess of the velocities may move surfaces through each other, and prescribed motion may move an obstacle into a free
body: a bowl that is lifted, a roller. A rigidly moving obstacle carries along the nodes in its path; where they have no
room, the prescribed displacement is applied in increments, none of which makes surfaces intersect, and the free nodes
respond to each increment by one Newton iteration.
"""

from __future__ import annotations

import numpy as np

from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..state import Vec
from .bounded_search import LARGEST_STEP
from .prescribed_increments import Increment, IncrementBound, IncrementDirections, IncrementStop
from .problem import StageProblem

BLOCKED_REMEDY = "Leave more room there, animate it more slowly, or lower the friction"
COMPLIANT_PINS_REMEDY = ("Leave more room there, animate it more slowly, lower the friction, or switch on Pins "
                         "Yield")
CRUSHED_REMEDY = "Keep them further apart there, or make the object between them thinner"
INCREMENTS = 60  #: largest number of increments of the prescribed displacement


def intersection_free_start(problem: StageProblem, step_start: Vec, guess: Vec) -> tuple[Vec, Vec]:
    """Return unknowns (3 p,) [m/s] to start Newton's method from, as near to the guess (3 p,) as contact allows, and
    positions (n, 3) [m] from which they are reached without intersections: those at the start of the step, or these
    with the nodes in the path of an obstacle moved along by it.

    step_start: positions at the start of the step, (n, 3) [m], free of intersections. Raises StepFailed where the
    prescribed displacement is blocked.
    """
    end = problem.positions_at(guess)
    x = _farthest(problem, step_start, end)
    if x is end:
        return guess, step_start
    unknowns = problem.unknowns_at(x)
    prescribed_left = problem.positions_at(unknowns) - x
    prescribed_left[problem.order] = 0.0
    if not prescribed_left.any():
        return unknowns, step_start
    closing = problem.physics.closes_on(step_start, end)
    if closing is not None:
        raise StepFailed(closing[1], problem.physics.body_of(closing[0]), CRUSHED_REMEDY, is_final=True)
    moved_along = problem.physics.carry_along(step_start, end)
    if moved_along is not None:
        return problem.unknowns_at(_farthest(problem, moved_along, end)), moved_along

    increments = iterate(problem, Increment(unknowns, x, prescribed_left), IncrementDirections(), IncrementBound(),
                         IncrementStop(), INCREMENTS)
    at = increments.at
    if increments.has_converged:
        return at.unknowns, step_start
    furthest = int(np.abs(at.left).max(axis=1).argmax())
    where = ", ".join(f"{c:.4g}" for c in at.x[furthest])
    moved_object, blocking = problem.physics.name_blocking_pair(furthest, at.x)
    left = float(np.abs(at.left).max())
    raise StepFailed(f"{moved_object or 'an animated part'} is blocked by {blocking or 'something'} near ({where}) "
                     f"m, with {left:.3g} m of its motion left",
                     problem.physics.body_of(furthest), COMPLIANT_PINS_REMEDY)


def _farthest(problem: StageProblem, start: Vec, end: Vec) -> Vec:
    """Return positions (n, 3) [m] as far on the straight path to `end` as nothing intersects or is crushed; `end`
    itself where the whole path is free."""
    fractions = problem.physics.largest_steps(start, end)
    if fractions.min() == 1.0:
        return end
    x: Vec = start + fractions[:, None] * (end - start)
    # inertia would crush bodies that have met an obstacle
    if problem.system.edges.largest_change(x - start) > LARGEST_STEP:
        x = start + problem.physics.largest_steps(start, end, by_body=True)[:, None] * (end - start)
        if problem.system.edges.largest_change(x - start) > LARGEST_STEP:
            x = start + problem.physics.largest_step(start, end) * (end - start)
    return x
