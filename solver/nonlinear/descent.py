"""The descent loop that solves a stage of nodes: directions of descent, a line search that contact bounds, a stop rule.

Stage solvers configure this loop. Its line search, `BoundedSearch`, takes no step that inverts an element or lets
surfaces intersect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import StepFailed
from .bounded_search import BoundedSearch
from .descent_protocol import DescentDirections, Exhausted, Step, Stop
from .problem import Evaluation, StageProblem


@dataclass(frozen=True)
class Descended:
    """Result of `descend`: the last iterate of a stage, and why the iterations ended."""

    problem: StageProblem  #: with the friction of the last iterate
    at: Evaluation
    has_converged: bool
    accepted: int  #: number of accepted steps
    last: Step | None = None  #: the last one, after which no direction was found
    is_rounding: bool = False  #: whether it ended since a direction would have moved nothing by more than rounding


def descend(problem: StageProblem, at: Evaluation, directions: DescentDirections, stop: Stop, iterations: int,
            lag: Callable[[StageProblem, Evaluation], tuple[StageProblem, Evaluation]] | None = None,
            lagged: int = 0) -> Descended:
    """Iterate from an evaluation until the stop rule is met, at most `iterations` times; return the result.

    lag: returns the stage with friction of the normal forces at an iterate, and the evaluation there; applied after
    each full step of the first `lagged` iterations. Raises StepFailed where `directions` does.
    """
    last: Step | None = None
    accepted = 0
    for count in range(iterations):
        try:
            direction = directions.find(problem, at, last)
        except Exhausted:
            return Descended(problem, at, False, accepted)
        last = None
        if direction is None:
            return Descended(problem, at, True, accepted, is_rounding=True)
        try:
            after, fraction = BoundedSearch(problem).search(at, direction.vector, direction.strain)
        except StepFailed as failure:
            if directions.retries(problem, at, failure):
                continue
            break
        last, at, accepted = Step(problem, at, after, direction, fraction), after, accepted + 1
        if stop.is_done(last):
            return Descended(problem, at, True, accepted, last)
        if lag is not None and fraction == 1.0 and count < lagged:
            problem, at = lag(problem, at)
    return Descended(problem, at, False, accepted, last)
