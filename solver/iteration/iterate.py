"""The loop that solves a stage: directions, a bound on the step along each, a stop rule, and lagged friction.

Stage solvers configure this loop, whatever their unknowns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import StepFailed
from .protocol import AcceptedStep, Bound, Exhausted, Refused, StageDirections, Stop

P = TypeVar("P")  #: equations of a stage
A = TypeVar("A")  #: an iterate
D = TypeVar("D")  #: a direction
S = TypeVar("S", bound=AcceptedStep[Any])  #: a step along one


@dataclass(frozen=True)
class LastIterate(Generic[P, A, S]):
    """Result of `iterate`: the last iterate of a stage, and why the iterations ended."""

    problem: P  #: with the friction of the last iterate
    at: A
    has_converged: bool
    count: int  #: number of iterations
    accepted: int  #: number of accepted steps
    last: S | None = None  #: the last one, after which no direction was found
    is_rounding: bool = False  #: whether it ended since a direction would have moved nothing by more than rounding


def iterate(problem: P, at: A, directions: StageDirections[P, A, S, D], bound: Bound[P, A, D, S], stop: Stop[S],
            iterations: int, lag: Callable[[P, A], tuple[P, A]] | None = None,
            lagged: int = 0) -> LastIterate[P, A, S]:
    """Iterate until the stop rule is met, at most `iterations` times; return the last iterate.

    at: the first iterate. lag: returns the stage with friction of the normal forces at an iterate, and the iterate
    evaluated there; applied after each full step of the first `lagged` iterations. Raises StepFailed where `directions`
    does.
    """
    last: S | None = None
    count = accepted = 0
    try:
        for count in range(1, iterations + 1):
            try:
                direction = directions.find(problem, at, last)
            except Refused:
                last = None
                continue
            last = None
            if direction is None:
                return LastIterate(problem, at, True, count, accepted, is_rounding=True)
            try:
                last = bound.step_along(problem, at, direction)
            except StepFailed as failure:
                if directions.retries(problem, at, failure):
                    continue
                break
            at, accepted = last.after, accepted + 1
            if stop.is_done(last):
                return LastIterate(problem, at, True, count, accepted, last)
            if lag is not None and last.is_full and count <= lagged:
                problem, at = lag(problem, at)
    except Exhausted:
        pass  # the last iterate is one that has not converged
    return LastIterate(problem, at, False, count, accepted, last)
