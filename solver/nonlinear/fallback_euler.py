"""Fallback of a stage that does not converge: a linearised, dissipative step of backward Euler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .interface import StageSolver
from .limits import StopRule
from .problem import Evaluation, StageProblem
from .stop_rules import FullStepStop

CONDENSED = 0.5  #: tolerance relative to the first residual if velocities are condensed


class StageNotConverged(StepFailed):
    """A stage that did not converge and may be replaced by a linearised step."""


@contextmanager
def raises_not_converged(problem: StageProblem) -> Iterator[None]:
    """Return a context in which StepFailed turns into StageNotConverged. A stage without inertia still raises
    StepFailed: no step of Euler could replace it."""
    try:
        yield
    except StepFailed as failure:
        if problem.stage.inertia:
            raise StageNotConverged(str(failure), failure.object) from failure
        raise


class ProjectedDirections(DescentDirections):
    """Directions of projected stiffness, factored in each iteration; the first one has to lower the potential."""

    def __init__(self, first: Evaluation) -> None:
        """first: evaluation at which the iterations start."""
        self._first = first

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction:
        """Return the direction of the projected matrix at an iterate. Raises StepFailed where that cannot be factored.
        """
        problem.factors.factor(problem, at.unknowns, False)
        return Direction(problem.system.linear.solve(-at.residual))

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return False, which ends the iterations: there is no further decrease. Raises `failure` at the first iterate.
        """
        if at is self._first:
            raise failure
        return False


class FallbackEuler(StageSolver):
    """Stage solver of a dissipative step: iterations with projected stiffness from the initial positions until a full
    step is taken. Each lowers the incremental potential, which at the initial positions is the body's energy."""

    fallback_iterations = 4  #: largest number of iterations of a fallback step

    def __init__(self) -> None:
        self.limits = StopRule(CONDENSED, self.fallback_iterations, 0.0, strain_left=1.0, accepts=True)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return velocities (3 p,) [m/s] at which the potential is lower than at zero velocities. guess: (3 p,), of
        which only the shape is used. Raises StepFailed where no step lowers the potential."""
        at_rest = problem.evaluate(np.zeros_like(guess))
        directions = ProjectedDirections(at_rest)
        return descend(problem, at_rest, directions, FullStepStop(), self.fallback_iterations).at.unknowns
