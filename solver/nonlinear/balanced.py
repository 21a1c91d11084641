"""A stage of nodes that balance and of joints at once: iterations in which nothing meets, each as far as it leads down.

Joints have no energy that a line search could lower: quadratic velocities and what constraints push derive from none.
But they feel the soft bodies alone of all that is stiff, so how these resist along the way tells how far it leads down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Stage
from ..state import State, Vec
from .bounded import SEEN, SHORTEST, STUCK, Surroundings, moved_so_far, unsettled
from .limits import StopRule, left

TRIES = 100  #: iterations at least: a way ends where the first of its pairs would meet
BALANCED = 0.1  #: of what Quick may leave where nodes have inertia: what it may where they balance
UPHILL = 0.3  #: of the slope at its start: what a way may climb at its end
TRIALS = 12  #: lengths of one way
LEAST = 0.2  #: of a length: the next one is no less
LAGGED = 12  #: iterations after which friction keeps its loads


class Along(Protocol):
    """What an iteration asks of a linearised stage."""

    curvature: float  #: along the way that `solve` found, of what the soft bodies lower [J]
    begun: float  #: their slope at its start [J]

    def solve(self) -> Vec:
        """Rates, (m,) [m/s, rad/s]. Raises StepFailed."""


T = TypeVar("T", bound=Along)


def reach_balanced(pose_at: Callable[[Vec, Vec, bool], T], slope_at: Callable[[T, Vec, Vec], float],
                   around: Surroundings, stage: Stage, start: State, begun: Vec, limits: StopRule, extent: float,
                   edge: float) -> State:
    """The state at a stage's end, its rates those of positions, from the rates of `start` on. Raises StepFailed.

    pose_at: linearised at coordinates and rates, on the true stiffness or on the projected one. slope_at: of what the
    soft bodies lower along a way, at other coordinates and rates on it. begun: positions of all nodes where it stands,
    (n, 3) [m], in which nothing crosses. extent: of the largest body, edge: a mean one of the surfaces [m].
    """
    base = start.q if stage.base is None else stage.base
    reached = stage.b * stage.h
    q, x = moved_so_far(around, start.q, begun, base + reached * start.u - start.q)[:2]
    u = (q - base) / reached
    around.loads(begun)
    goal, last, share, moved = BALANCED * limits.strain_left * edge, 0.0, 0.0, np.inf
    project, ahead_of_end = True, np.inf
    for count in range(max(limits.iterations, TRIES)):
        try:
            posed = pose_at(q, u, project)
            way = posed.solve() - u
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            raise StepFailed("the system matrix is not positive definite") from failure
        if posed.curvature <= 0.0 and not project:
            project = True
            continue
        before = x

        def climbs(there: Vec, posed: T = posed) -> float:
            return slope_at(posed, there, (there - base) / reached)

        q, x, share = _downhill(posed, climbs, around, q, x, reached * way)
        u = (q - base) / reached
        moved = float(np.abs(x - before).max())
        if not np.isfinite(moved):
            break
        goal = goal or limits.tolerance * (moved + 1.0e-3 * extent)
        # what is cut short has the rest of its way left
        ahead_of_end = left(moved, last) if share == 1.0 else moved / max(share, SHORTEST)
        if count and ahead_of_end <= goal:
            return State(stage.time, q, u, start.memory)
        last, project = moved if share == 1.0 else 0.0, share < STUCK
        if share == 1.0 and count < LAGGED:
            around.loads(x)
    if ahead_of_end <= SEEN * extent:
        return State(stage.time, q, u, start.memory)
    raise unsettled(around, x, share, moved, max(limits.iterations, TRIES))


def _downhill(posed: Along, slope_at: Callable[[Vec], float], around: Surroundings, q: Vec, x: Vec,
              way: Vec) -> tuple[Vec, Vec, float]:
    """Coordinates and positions as far along a way of coordinates as it leads down and nothing meets, and its share.

    Raises StepFailed.
    """
    share = 1.0
    for _ in range(TRIALS):
        there, at, free = moved_so_far(around, q, x, share * way)
        share *= free
        # what joints lower falls at least as fast as the soft bodies' linear answer leaves it to
        over = slope_at(there) - posed.begun - posed.curvature
        if over <= UPHILL * posed.curvature:
            break
        share *= max(LEAST, posed.curvature / (posed.curvature + over))
    return there, at, share
