"""A stage of nodes and joints at once whose surfaces touch: iterations bounded so that nothing ever meets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.stage import Stage
from ..state import State, Vec
from .approach import GIVE_WAY
from .iterations import ALL, Iterations, PosedStage, T
from .limits import StopRule, left

LAGGED = 12  #: iterations after which friction keeps its loads
CURVED = 0.9  #: of a bound on straight ways: nodes that ride go on arcs
SEEN = 1.0e-5  #: of the extent: less than that may be left where iterations are slow, as what creeps is
SHORTEST = 1.0e-6  #: share of a move that is worth an iteration
STUCK = 1.0e-3  #: share of the last one: what goes no further is pressed, and has not just met something
BALANCED = 0.1  #: of what Quick may leave where nodes have inertia: what it may where they balance
UPHILL = 0.3  #: of the slope at its start: what a way may climb at its end
TRIALS = 12  #: lengths of one way
LEAST = 0.2  #: of a length: the next one is no less


@dataclass(frozen=True)
class Surroundings:
    """What surfaces ask of coordinates."""

    place: Callable[[Vec], Vec]  #: positions of all nodes (n, 3) [m] at coordinates where the stage ends
    largest_step: Callable[[Vec, Vec], float]  #: between positions, in which nothing meets
    loads: Callable[[Vec], None]  #: friction takes its loads and normals at these positions from now on
    touched: Callable[[Vec], Vec]  #: of pairs that push there: middle, force, and how near they are, (k, 7) [m, N, m]
    begun: Vec  #: positions of all nodes where the stage stands, in which nothing crosses, (n, 3) [m]
    extent: float  #: of the largest body [m]
    edge: float  #: a mean one of the surfaces [m], of which a share may be left where limits have one
    body_of: Callable[[int], str | None]  #: name of the body that a node belongs to

    def as_far(self, q: Vec, x: Vec, way: Vec) -> tuple[Vec, Vec, float]:
        """Coordinates after as much of a way as nothing meets in, positions there, and the share. Raises StepFailed.

        x: positions at q, but for what is prescribed, which goes all its way.
        """
        share = 1.0
        while share > SHORTEST:
            there = self.place(q + share * way)
            free = self.largest_step(x, there)
            if free == 1.0:
                return q + share * way, there, share
            share *= CURVED * free
        there = self.place(q)
        if self.largest_step(x, there) < 1.0:
            raise StepFailed("what is moved by hand has something before it")
        return q, there, 0.0


class Bounded(Iterations[T]):
    """Where nodes have inertia. A true stiffness that leads astray is tried again much nearer."""

    tries = 40  # those of an impact find its pairs
    patience = sys.maxsize  # what creeps may come to rest all the same
    forgives, again = 0, 0.03
    visible = 1.0  #: of what Quick may leave

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], T], around: Surroundings, stage: Stage, start: State,
                 limits: StopRule) -> None:
        super().__init__(pose_at, stage, start, limits)
        self._around = around
        self._move(start.q, around.begun, self.q - start.q)
        around.loads(around.begun)
        self._most = 0  #: node that the last iteration moved farthest
        self._goal, self._ahead = self.visible * limits.strain_left * around.edge, np.inf

    def _move(self, q: Vec, x: Vec, way: Vec) -> float:
        """As far from q, x as nothing meets; that share."""
        self.q, self._x, share = self._around.as_far(q, x, way)
        self.u = (self.q - self.base) / self.seconds
        return share

    def take(self, posed: T, found: Vec, way: Vec, share_taken: float) -> None:
        before = self._x
        self.share_free = self._move(self.q, before, share_taken * self.seconds * way)
        # all that it wanted to move, of which relaxation took a share
        self.moved = self.led = self._farthest(before) / share_taken

    def _farthest(self, before: Vec) -> float:
        """What positions have changed by since they were (n, 3) [m], where they did most."""
        change = np.abs(self._x - before).max(axis=1)
        self._most = int(change.argmax())
        return float(change[self._most])

    def is_done(self, posed: T) -> bool:
        self._goal = self._goal or self.limits.tolerance * (self.moved + ALL * self._around.extent)
        # what is cut short has the rest of its way left, as far as anything may go there
        self._ahead = left(self.moved, self.last) if self.share_free == 1.0 else np.inf
        if self.least_free <= self.share_free < 1.0:
            self._ahead = self.moved / self.share_free
        return self.count > 1 and self._ahead <= self._goal

    def go_on(self) -> None:
        if self.share_free == 1.0 and self.count <= LAGGED:
            self._around.loads(self._x)

    def give_up(self) -> State:
        if self._ahead <= SEEN * self._around.extent:
            return self.end
        if self.share_free < STUCK:
            at = nearest(self._around.touched(self._x))
            raise StepFailed(f"what is moved by hand or by joints would be pressed{at} through something", None,
                             GIVE_WAY)
        place = in_words(self._x[self._most])
        raise StepFailed(f"rigid and soft bodies that touch did not agree in {self.count} iterations; positions near "
                         f"({place}) m still change by {self.moved:.3g} m, {self._time:.6g} s",
                         self._around.body_of(self._most), GIVE_WAY)


def nearest(touched: Vec) -> str:
    """Where two surfaces are nearest to each other, in words."""
    if not len(touched):
        return ""
    return f" near ({in_words(touched[int(touched[:, 6].argmin()), :3])}) m"


def in_words(place: Vec) -> str:
    """Its coordinates (3,)."""
    return ", ".join(f"{c:.4g}" for c in place)


class Along(PosedStage, Protocol):
    """What an iteration asks of a linearised stage of nodes that balance."""

    curvature: float  #: along the way that `solve` found, of what the soft bodies lower [J]
    begun: float  #: their slope at its start [J]


S = TypeVar("S", bound=Along)


class Balanced(Bounded[S]):
    """Where most nodes balance: each iteration goes as far as it leads down. Rates are those of positions.

    Joints have no energy that a line search could lower, but they feel the soft bodies alone of all that is stiff: how
    these resist along the way tells how far it leads down.
    """

    tries = 100  # a way ends where the first of its pairs would meet
    near, again = np.inf, 1.0
    least_free = STUCK
    visible = BALANCED

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], S], slope_at: Callable[[S, Vec, Vec], float],
                 around: Surroundings, stage: Stage, start: State, limits: StopRule) -> None:
        """slope_at: of what the soft bodies lower along a way, at other coordinates and rates on it."""
        self._slope_at = slope_at
        super().__init__(pose_at, around, stage, start, limits)

    def take(self, posed: S, found: Vec, way: Vec, share_taken: float) -> None:
        if posed.curvature <= 0.0 and self.stiffness.is_true:
            raise NotPositiveDefinite
        q, before, self.share_free = self.q, self._x, 1.0
        for _ in range(TRIALS):
            self.share_free *= self._move(q, before, self.share_free * self.seconds * way)
            # what joints lower falls at least as fast as the soft bodies' linear answer leaves it to
            over = self._slope_at(posed, self.q, self.u) - posed.begun - posed.curvature
            if over <= UPHILL * posed.curvature:
                break
            self.share_free *= max(LEAST, posed.curvature / (posed.curvature + over))
        self.moved = self.led = self._farthest(before)
