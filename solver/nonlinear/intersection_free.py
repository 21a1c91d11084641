"""An initial guess of a stage in contact whose path from the step's start is free of intersections.

A guess of the velocities may move surfaces through each other, and prescribed motion may move an obstacle into a free
body: a bowl that is lifted, a roller. A rigidly moving obstacle carries along the nodes in its path; where they have no
room, the prescribed displacement is applied in increments, none of which makes surfaces intersect, and the free nodes
respond to each increment by one Newton iteration.
"""

from __future__ import annotations

import numpy as np

from ..assembly.linearised import Linearised
from ..errors import StepFailed
from ..forces.elastic import corner_products
from ..linear.interface import NotPositiveDefinite
from ..state import Index, Vec
from .bounded_search import LARGEST_STEP, BoundedSearch
from .problem import StageProblem

BLOCKED_REMEDY = "Leave more room there, animate it more slowly, or lower the friction"
COMPLIANT_PINS_REMEDY = ("Leave more room there, animate it more slowly, lower the friction, or switch on Pins "
                         "Yield")
CRUSHED_REMEDY = "Keep them further apart there, or make the object between them thinner"
INCREMENTS = 60  #: largest number of increments of the prescribed displacement
STALLED = 8  #: number of increments after which the motion is blocked, if they leave nearly all of it
LEFT = 0.99  #: fraction of the motion that is nearly all of it


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

    fractions = [1.0]
    for _ in range(INCREMENTS):
        displaced = problem.displace_by(-prescribed_left)
        lin = displaced.fill(unknowns)
        try:
            displaced.system.linear.factor(displaced.system.matrix, x[displaced.order])
        except NotPositiveDefinite:  # so near each other that rounding makes the matrix indefinite
            break
        # the residual after all of the remaining prescribed displacement, to first order
        residual = displaced.evaluate(unknowns).residual
        residual -= problem.stage.a * problem.stage.h * stiffness_product(lin, problem.tets,
                                                                          prescribed_left)[problem.order].ravel()
        direction = problem.system.linear.solve(-residual)
        moved = problem.displacement(direction) + prescribed_left
        fraction = BoundedSearch(displaced).longest(unknowns, moved)
        if fraction == 0.0:  # blocked: later increments would be blocked as well
            break
        unknowns = unknowns + fraction * direction
        prescribed_left = (1.0 - fraction) * prescribed_left
        if fraction == 1.0:
            return unknowns, step_start
        fractions.append((1.0 - fraction) * fractions[-1])
        if have_stalled(fractions):
            break
        x = displaced.positions_at(unknowns) + prescribed_left
    furthest = int(np.abs(prescribed_left).max(axis=1).argmax())
    where = ", ".join(f"{c:.4g}" for c in x[furthest])
    moved_object, blocking = problem.physics.name_blocking_pair(furthest, x)
    left = float(np.abs(prescribed_left).max())
    raise StepFailed(f"{moved_object or 'an animated part'} is blocked by {blocking or 'something'} near ({where}) "
                     f"m, with {left:.3g} m of its motion left",
                     problem.physics.body_of(furthest), COMPLIANT_PINS_REMEDY)


def have_stalled(fractions: list[float]) -> bool:
    """Whether the last increments left nearly all of the prescribed displacement. fractions: parts of it that were
    left before the first and after each increment."""
    return len(fractions) > STALLED and fractions[-1] > LEFT * fractions[-1 - STALLED]


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


def stiffness_product(lin: Linearised, tets: Index, moved: Vec) -> Vec:
    """Return K Δx [N] of a displacement Δx [m], both (n, 3). lin: linearisation with the blocks of K. tets: (e, 4)."""
    out = np.zeros(moved.shape)
    for elements, blocks in ((tets, lin.blocks[: len(tets)]), (lin.others, lin.blocks[len(tets) :])):
        if elements is None:
            continue
        near = np.flatnonzero(moved[elements].any(axis=(1, 2)))
        np.add.at(out, elements[near], corner_products(blocks[near], moved[None, elements[near]])[0])
    return out
