"""What a stage solver is given and what it answers."""

from __future__ import annotations

from typing import Protocol

from ..linear.interface import LinearSolver
from ..state import Vec
from .limits import StopRule
from .problem import StageProblem


class StageSolver(Protocol):
    """Finds the root of one stage, with what most say of theirs."""

    limits: StopRule

    def __init__(self, params: dict[str, float]) -> None: ...

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Unknowns at which the residual vanishes, from a guess, both (3 p,) [m/s].

        Raises StepFailed where the iteration does not settle.
        """

    def notes(self, linear: LinearSolver) -> list[str]:
        """Sentences for the user: what this linear solver keeps it from; none where any will do."""
        return []

    def forget_past(self) -> None:
        """Drop factors and directions of earlier stages: speed, never answers."""
        return  # in most nothing outlives a stage
