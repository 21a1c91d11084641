"""A stage of nodes and joints at once whose surfaces touch: iterations bounded so that nothing ever meets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Stage
from ..state import State, Vec
from .approach import GIVE_WAY
from .coupled import NEAR, PoseAt
from .limits import StopRule, left
from .relaxation import Relaxation

TRIES = 40  #: iterations at least: those of an impact find its pairs
LAGGED = 12  #: of them, after which friction keeps its loads
CURVED = 0.9  #: of a bound on straight ways: nodes that ride go on arcs
AGAIN = 0.03  #: of the distance at which the true stiffness led astray: there it is tried again
SEEN = 1.0e-5  #: of the extent: less than that may be left where iterations are slow, as what creeps is
SHORTEST = 1.0e-6  #: share of a move that is worth an iteration
STUCK = 1.0e-3  #: share of the last one: what goes no further is pressed, and has not just met something


@dataclass(frozen=True)
class Surroundings:
    """What surfaces ask of coordinates."""

    place: Callable[[Vec], Vec]  #: positions of all nodes (n, 3) [m] at coordinates where the stage ends
    largest_step: Callable[[Vec, Vec], float]  #: between positions, in which nothing meets
    loads: Callable[[Vec], None]  #: friction takes its loads and normals at these positions from now on
    touched: Callable[[Vec], Vec]  #: of pairs that push there: middle, force, and how near they are, (k, 7) [m, N, m]


def reach_bounded(pose_at: PoseAt, around: Surroundings, stage: Stage, start: State,
                  begun: Vec, limits: StopRule, extent: float, edge: float) -> State:
    """The state at a stage's end, from the rates of `start` on. Raises StepFailed.

    begun: positions of all nodes where it stands, (n, 3) [m], in which nothing crosses. extent: of the largest body
    [m]. edge: a mean one of the surfaces [m], of which a share may be left where limits have one.
    """
    base = start.q if stage.base is None else stage.base
    reached = stage.b * stage.h
    q, x = moved_so_far(around, start.q, begun, base + reached * start.u - start.q)[:2]
    u = (q - base) / reached
    around.loads(begun)
    last, largest, goal, relaxed = 0.0, 0.0, limits.strain_left * edge, Relaxation()
    ahead_of_end = np.inf  # what further iterations would move [m]
    # near the root the true stiffness leads to the end in a few iterations; where it does not, it is not yet near
    is_near, nearer = False, NEAR
    for count in range(max(limits.iterations, TRIES)):
        try:
            ahead = pose_at(q, u, not is_near).solve() - u
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            if is_near:
                is_near, nearer = False, nearer * AGAIN
                continue
            raise StepFailed("the system matrix is not positive definite") from failure
        before = x
        q, x, share = moved_so_far(around, q, x, relaxed.share * reached * ahead)
        u = (q - base) / reached
        # all that it wanted to move, of which relaxation took a share
        moved = float(np.abs(x - before).max()) / relaxed.share
        if not np.isfinite(moved):
            break
        largest = max(largest, moved)
        if share < 1.0:
            last, is_near, ahead_of_end = 0.0, False, np.inf
            relaxed.forget_last()
            continue
        if is_near and moved > last:
            nearer *= AGAIN
        was_near, is_near = is_near, moved < nearer * largest
        goal = goal or limits.tolerance * (moved + 1.0e-3 * extent)
        ahead_of_end = left(moved, last)
        if count and ahead_of_end <= goal:
            return State(stage.time, q, u, start.memory)
        if was_near == is_near:
            relaxed.follow(moved, ahead)
        else:
            relaxed = Relaxation()  # the way on one stiffness says nothing about that on another
        last = moved
        if count < LAGGED:
            around.loads(x)
    if ahead_of_end <= SEEN * extent:
        return State(stage.time, q, u, start.memory)
    raise unsettled(around, x, share, moved, max(limits.iterations, TRIES))


def unsettled(around: Surroundings, x: Vec, share: float, moved: float, tries: int) -> StepFailed:
    """Why so many iterations did not come to an end at positions x (n, 3), of whose last way `share` was free.

    moved: by how much they changed last [m].
    """
    if share < STUCK:
        at = nearest(around.touched(x))
        return StepFailed(f"what is moved by hand or by joints would be pressed{at} through something", None, GIVE_WAY)
    return StepFailed(f"rigid and soft bodies that touch did not agree in {tries} iterations; "
                      f"positions still change by {moved:.3g} m")


def nearest(touched: Vec) -> str:
    """Where two surfaces are nearest to each other, in words."""
    if not len(touched):
        return ""
    return " near ({}) m".format(", ".join(f"{c:.4g}" for c in touched[int(touched[:, 6].argmin()), :3]))


def moved_so_far(around: Surroundings, q: Vec, x: Vec, way: Vec) -> tuple[Vec, Vec, float]:
    """Coordinates after as much of a way as nothing meets in, positions there, and the share. Raises StepFailed.

    x: positions at q, but for what is prescribed, which goes all its way.
    """
    share = 1.0
    while share > SHORTEST:
        there = around.place(q + share * way)
        free = around.largest_step(x, there)
        if free == 1.0:
            return q + share * way, there, share
        share *= CURVED * free
    there = around.place(q)
    if around.largest_step(x, there) < 1.0:
        raise StepFailed("what is moved by hand has something before it")
    return q, there, 0.0
