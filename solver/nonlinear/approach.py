"""Where a stage may be solved from when surfaces touch: nothing has met on the way there.

A guess of the velocities may bring surfaces through each other, and what is prescribed may push into what is free: a
bowl that is lifted, a roller. What moves as one takes along what is before it; where that has no room what is
prescribed is brought to where it will be in shares of its way, none of which lets anything meet, and what is free gives
way to it by one Newton iteration each.
"""

from __future__ import annotations

import numpy as np

from ..assembly.linearised import Linearised
from ..errors import StepFailed
from ..forces.elastic import corner_products
from ..linear.interface import NotPositiveDefinite
from ..state import Index, Vec
from .problem import LARGEST_STEP, StageProblem

GIVE_WAY = "Give what is between more room, move it more slowly, or lower its friction"
LET_YIELD = "Give what is between more room, move it more slowly, lower its friction, or switch on Pins Yield"
SHARES = 60  #: in which what is prescribed may go its way


def approach(problem: StageProblem, begun: Vec, guess: Vec) -> tuple[Vec, Vec]:
    """Unknowns (3 p,) [m/s] from which the stage may be solved, as near to a guess (3 p,) as nothing meets; and where
    nodes stand, (n, 3) [m], once what is before something that moves by hand has been taken along.

    begun: positions where the step stands, (n, 3) [m], in which nothing crosses. Raises StepFailed where what is
    prescribed cannot go its way.
    """
    end = problem.positions(problem.velocities(guess))
    x = _flown(problem, begun, end)
    if x is end:
        return guess, begun
    unknowns = problem.unknowns_at(x)
    left = problem.positions(problem.velocities(unknowns)) - x
    left[problem.order] = 0.0
    if not left.any():
        return unknowns, begun
    along = problem.physics.taken_along(begun, end)
    if along is not None:
        return problem.unknowns_at(_flown(problem, along, end)), along

    for _ in range(SHARES):
        behind = problem.lagging(-left)
        lin = behind.fill(unknowns)
        try:
            behind.system.linear.factor(behind.system.matrix, x[behind.order])
        except NotPositiveDefinite:  # so near each other that rounding is all that is left
            break
        # the residual once they have gone all their way, to first order
        residual = behind.evaluate(unknowns).residual
        residual -= problem.stage.a * problem.stage.h * pulled(lin, problem.tets, left)[problem.order].ravel()
        direction = problem.system.linear.solve(-residual)
        moved = problem.displacement(direction) + left
        share = behind.longest(unknowns, moved)
        if share == 0.0:  # so it would be from now on
            break
        unknowns = unknowns + share * direction
        left = (1.0 - share) * left
        if share == 1.0:
            return unknowns, begun
        x = behind.positions(behind.velocities(unknowns)) + left
    furthest = int(np.abs(left).max(axis=1).argmax())
    place = ", ".join(f"{c:.4g}" for c in x[furthest])
    raise StepFailed(f"what is moved by hand has {np.abs(left).max():.3g} m of its way left near ({place}) m and "
                     "something is before it", problem.physics.body_of(furthest), LET_YIELD)


def _flown(problem: StageProblem, begun: Vec, end: Vec) -> Vec:
    """As far on a straight way as nothing meets and nothing is crushed, (n, 3) [m]; the end where that is all of it."""
    shares = problem.physics.largest_steps(begun, end)
    if shares.min() == 1.0:
        return end
    x: Vec = begun + shares[:, None] * (end - begun)
    if problem.system.edges.largest_change(x - begun) > LARGEST_STEP:  # what flies on would crush what has met
        x = begun + problem.physics.largest_steps(begun, end, by_body=True)[:, None] * (end - begun)
        if problem.system.edges.largest_change(x - begun) > LARGEST_STEP:
            x = begun + problem.physics.largest_step(begun, end) * (end - begun)
    return x


def pulled(lin: Linearised, tets: Index, moved: Vec) -> Vec:
    """K of a displacement, both (n, 3)."""
    out = np.zeros(moved.shape)
    for elements, blocks in ((tets, lin.blocks[: len(tets)]), (lin.others, lin.blocks[len(tets) :])):
        if elements is None:
            continue
        near = np.flatnonzero(moved[elements].any(axis=(1, 2)))
        np.add.at(out, elements[near], corner_products(blocks[near], moved[None, elements[near]])[0])
    return out
