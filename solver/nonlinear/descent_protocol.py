"""Directions and steps of a stage of nodes, and the protocols of the rules that choose them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..iteration.protocol import StageDirections
from ..state import Vec
from .problem import Evaluation, StageProblem


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


class DescentDirections(StageDirections[StageProblem, Evaluation, Step, Direction], Protocol):
    """Directions of descent of a stage of nodes, and the choice when their factor is renewed."""
