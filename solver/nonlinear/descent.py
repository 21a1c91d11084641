"""Descent: iterations of a stage of nodes, whose steps a line search on the merit accepts.

The line search, `BoundedSearch`, takes no step that inverts an element or lets surfaces intersect.
"""

from __future__ import annotations

from collections.abc import Callable

from ..iteration.iterate import LastIterate, iterate
from ..iteration.protocol import Bound, Stop
from .bounded_search import BoundedSearch
from .descent_protocol import DescentDirections, Direction, Step
from .problem import Evaluation, StageProblem


class LineSearch(Bound[StageProblem, Evaluation, Direction, Step]):
    """Bound on the steps of a stage of nodes, by the merit, by contact and by elements that would invert."""

    def step_along(self, problem: StageProblem, at: Evaluation, direction: Direction) -> Step:
        """Return the first step along a direction that lowers the merit enough. Raises StepFailed where none does."""
        after, fraction = BoundedSearch(problem).search(at, direction.vector, direction.strain)
        return Step(problem, at, after, direction, fraction)


LINE_SEARCH = LineSearch()


def descend(problem: StageProblem, at: Evaluation, directions: DescentDirections, stop: Stop[Step], iterations: int,
            lag: Callable[[StageProblem, Evaluation], tuple[StageProblem, Evaluation]] | None = None,
            lagged: int = 0) -> LastIterate[StageProblem, Evaluation, Step]:
    """Iterate with a line search from an evaluation until the stop rule is met, at most `iterations` times; return the
    last iterate.

    lag: returns the stage with friction of the normal forces at an iterate, and the evaluation there; applied after
    each full step of the first `lagged` iterations. Raises StepFailed where `directions` does.
    """
    return iterate(problem, at, directions, LINE_SEARCH, stop, iterations, lag, lagged)
