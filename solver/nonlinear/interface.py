"""Protocol of stage solvers."""

from __future__ import annotations

import copy
from typing import Protocol, Self

from ..linear.interface import LinearSolver
from ..state import Vec
from .limits import StopRule
from .problem import StageProblem


class StageSolver(Protocol):
    """Solver that finds the root of one stage; the methods with a body are defaults."""

    limits: StopRule

    def __init__(self, params: dict[str, float]) -> None: ...

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return the unknowns at which the residual vanishes, starting from a guess, both (3 p,) [m/s].

        Raises StepFailed where the iteration does not converge.
        """

    def under(self, limits: StopRule) -> Self:
        """Return a solver with other limits, which shares factors and directions of earlier stages with this solver."""
        other = copy.copy(self)
        other.limits = limits
        return other

    def notes(self, linear: LinearSolver) -> list[str]:
        """Return sentences for the user about features that the linear solver does not support, an empty list by
        default."""
        return []

    def forget_past(self) -> None:
        """Discard factors and directions of earlier stages: their loss costs time, but changes no result."""
        return  # by default nothing outlives a stage
