"""The one loop that solves a stage of nodes: directions of descent, a line search that contact bounds, and a stop rule.

Stage solvers are configurations of it. The bound is the problem's: `StageProblem.search` takes no step that inverts an
element or lets surfaces intersect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..errors import StepFailed
from ..state import Vec
from .limits import remaining
from .problem import Evaluation, StageProblem


class Exhausted(Exception):
    """Raised by directions that have no further one to offer: the stage has not converged."""


@dataclass(frozen=True)
class Direction:
    """A direction of descent."""

    vector: Vec  #: (3 p,) [m/s]
    strain: float | None = None  #: largest relative change of an edge along it; None where it is not known yet
    is_true: bool = False  #: whether it is of the true matrix, not of a projected one
    is_renewed: bool = False  #: whether its factor is a new one, to which earlier changes do not compare


@dataclass(frozen=True)
class Step:
    """An iteration that was accepted."""

    problem: StageProblem
    before: Evaluation
    after: Evaluation
    direction: Direction
    fraction: float  #: of the direction that was taken, in (0, 1]

    @cached_property
    def change(self) -> Vec:
        """Return the change of the unknowns, (3 p,) [m/s]."""
        return self.after.unknowns - self.before.unknowns

    @cached_property
    def moved(self) -> float:
        """Return the largest relative change of an edge."""
        known = self.direction.strain
        return self.problem.strain(self.change) if known is None else self.fraction * known

    @property
    def is_full(self) -> bool:
        """Whether the whole direction was taken."""
        return self.fraction == 1.0


class DescentDirections(Protocol):
    """Finds directions of descent, and decides when their factor is renewed; the methods with a body are defaults."""

    def find(self, problem: StageProblem, at: Evaluation) -> Direction | None:
        """Return the next direction; None where it would move nothing by more than rounding. Raises Exhausted, and
        StepFailed where a matrix cannot be factored."""

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Whether to find another direction after none of the last one's steps was accepted, else to end there without
        convergence. Raises the failure where the stage has failed, as by default."""
        raise failure

    def follow(self, step: Step) -> None:
        """Learn from an accepted step; nothing by default."""
        return


class Stop(Protocol):
    """Decides when a stage has converged."""

    def is_done(self, step: Step) -> bool:
        """Whether the stage ends after this step."""


@dataclass(frozen=True)
class Descended:
    """Result of `descend`."""

    problem: StageProblem  #: with the friction of the last iterate
    at: Evaluation
    has_converged: bool
    is_rounding: bool = False  #: whether it ended since a direction would have moved nothing by more than rounding


def descend(problem: StageProblem, at: Evaluation, directions: DescentDirections, stop: Stop, iterations: int,
            lag: Callable[[StageProblem, Evaluation], tuple[StageProblem, Evaluation]] | None = None,
            lagged: int = 0) -> Descended:
    """Iterate from an evaluation until the stop rule holds, at most so many times.

    lag: returns the stage with friction of the normal forces at an iterate, and the evaluation there; applied after
    each full step of the first `lagged` iterations. Raises StepFailed as the directions do.
    """
    for count in range(iterations):
        try:
            direction = directions.find(problem, at)
        except Exhausted:
            break
        if direction is None:
            return Descended(problem, at, True, is_rounding=True)
        try:
            after, fraction = problem.search(at, direction.vector, direction.strain)
        except StepFailed as failure:
            if directions.retries(problem, at, failure):
                continue
            break
        step = Step(problem, at, after, direction, fraction)
        at = after
        directions.follow(step)
        if stop.is_done(step):
            return Descended(problem, at, True)
        if lag is not None and fraction == 1.0 and count < lagged:
            problem, at = lag(problem, at)
    return Descended(problem, at, False)


class ResidualStop(Stop):
    """Ends where the largest entry of the residual is below a goal [N s]."""

    def __init__(self, goal: float) -> None:
        self._goal = goal

    def is_done(self, step: Step) -> bool:
        """Whether the residual is small enough."""
        return step.after.size <= self._goal


class StrainStop(Stop):
    """Ends after a full step where all further changes, extrapolated from the last two, change no edge visibly."""

    def __init__(self, strain_left: float) -> None:
        """strain_left: admissible relative change of an edge."""
        self._strain_left, self._last = strain_left, 0.0

    def is_done(self, step: Step) -> bool:
        """Whether the remaining change is small enough."""
        done = step.is_full and remaining(step.moved, self._last) <= self._strain_left
        self._last = step.moved if step.is_full else 0.0
        return done


class FullStepStop(Stop):
    """Ends after the first step that is taken in full."""

    def is_done(self, step: Step) -> bool:
        """Whether the step was."""
        return step.is_full
