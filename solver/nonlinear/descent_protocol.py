"""Protocols of the directions and stop rules of a stage of nodes, and the steps that are passed to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..errors import StepFailed
from ..state import Vec
from .problem import Evaluation, StageProblem


class Exhausted(Exception):
    """Raised where no further direction is available: the stage has not converged."""


@dataclass(frozen=True)
class Direction:
    """A direction of descent of a stage, with its strain and the kind of its matrix."""

    vector: Vec  #: (3 p,) [m/s]
    strain: float | None = None  #: largest relative change of an edge along it; None where it is not known yet
    is_true: bool = False  #: whether it is of the true matrix, not of a projected one
    is_renewed: bool = False  #: whether its factor is a new one, to which earlier changes do not compare


@dataclass(frozen=True)
class Step:
    """An accepted iteration of a stage."""

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
        """Return the largest relative change of an edge in this step."""
        known = self.direction.strain
        return self.problem.strain(self.change) if known is None else self.fraction * known

    @property
    def is_full(self) -> bool:
        """Whether the whole direction was taken."""
        return self.fraction == 1.0


class DescentDirections(Protocol):
    """Directions of descent, and the choice when their factor is renewed; the method with a body is a default."""

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction | None:
        """Return the next direction; None where it would move nothing by more than rounding. Raises Exhausted, and
        StepFailed where a matrix cannot be factored.

        last: the step along the previous direction, for directions that learn from it; None at first, and where no step
        along that direction was accepted.
        """

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Whether to find another direction after no step along the last one was accepted; otherwise the iterations end
        there without convergence. Raises `failure` where the stage has failed, as by default."""
        raise failure


class Stop(Protocol):
    """A rule that decides when a stage has converged."""

    def is_done(self, step: Step) -> bool:
        """Whether the stage has converged after this step."""
