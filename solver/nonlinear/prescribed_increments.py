"""Increments of a prescribed displacement to which the free nodes respond, for the loop that solves a stage.

Each increment is one iteration of Newton's method with the displacement that is left, cut where surfaces would
intersect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..assembly.linearised import Linearised
from ..errors import StepFailed
from ..forces.elastic import corner_products
from ..iteration.protocol import Bound, Exhausted, StageDirections, Stop
from ..linear.interface import NotPositiveDefinite
from ..state import Index, Vec
from .bounded_search import BoundedSearch
from .problem import StageProblem

STALLED = 8  #: number of increments after which the motion is blocked, if they leave nearly all of it
LEFT = 0.99  #: fraction of the motion that is nearly all of it


@dataclass(frozen=True)
class Increment:
    """Positions of all nodes while a part of the prescribed displacement is left."""

    unknowns: Vec  #: (3 p,) [m/s]
    x: Vec  #: (n, 3) [m]
    left: Vec  #: of the prescribed nodes, zero elsewhere, (n, 3) [m]


@dataclass(frozen=True)
class IncrementDirection:
    """Response of the free nodes to all of the displacement that is left."""

    displaced: StageProblem  #: the stage without that displacement
    vector: Vec  #: change of the unknowns, (3 p,) [m/s]


@dataclass(frozen=True)
class IncrementStep:
    """An increment up to the first contact."""

    after: Increment
    fraction: float  #: of the displacement that was left

    @property
    def is_full(self) -> bool:
        """Whether nothing blocked it."""
        return self.fraction == 1.0


class IncrementDirections(StageDirections[StageProblem, Increment, IncrementStep, IncrementDirection]):
    """Responses of the linearised stage to the displacement that is left."""

    def find(self, problem: StageProblem, at: Increment, last: IncrementStep | None) -> IncrementDirection:
        """Return the response to all of the displacement that is left, to first order. Raises Exhausted where surfaces
        are so near each other that rounding makes the matrix indefinite."""
        displaced = problem.displace_by(-at.left)
        lin = displaced.fill(at.unknowns)
        try:
            displaced.system.linear.factor(displaced.system.matrix, at.x[displaced.order])
        except NotPositiveDefinite as failure:
            raise Exhausted from failure
        residual = displaced.evaluate(at.unknowns).residual
        residual -= problem.stage.a * problem.stage.h * stiffness_product(lin, problem.tets,
                                                                          at.left)[problem.order].ravel()
        return IncrementDirection(displaced, problem.system.linear.solve(-residual))

    def retries(self, problem: StageProblem, at: Increment, failure: StepFailed) -> bool:
        """Return False: later increments would be blocked as well."""
        return False


class IncrementBound(Bound[StageProblem, Increment, IncrementDirection, IncrementStep]):
    """Bound by continuous collision detection of free and prescribed nodes together."""

    def step_along(self, problem: StageProblem, at: Increment, direction: IncrementDirection) -> IncrementStep:
        """Return the increment up to the first contact. Raises StepFailed where nothing can move."""
        moved = problem.displacement(direction.vector) + at.left
        fraction = BoundedSearch(direction.displaced).longest(at.unknowns, moved)
        if fraction == 0.0:
            raise StepFailed("a prescribed displacement is blocked")
        unknowns, left = at.unknowns + fraction * direction.vector, (1.0 - fraction) * at.left
        return IncrementStep(Increment(unknowns, direction.displaced.positions_at(unknowns) + left, left), fraction)


class IncrementStop(Stop[IncrementStep]):
    """Stop rule that is met where nothing of the displacement is left."""

    def __init__(self) -> None:
        self._fractions = [1.0]  #: parts of the displacement that were left before the first and after each increment

    def is_done(self, step: IncrementStep) -> bool:
        """Whether nothing of the displacement is left. Raises Exhausted where the last increments left nearly all."""
        if step.is_full:
            return True
        self._fractions.append((1.0 - step.fraction) * self._fractions[-1])
        if have_stalled(self._fractions):
            raise Exhausted
        return False


def have_stalled(fractions: list[float]) -> bool:
    """Whether the last increments left nearly all of the prescribed displacement. fractions: parts of it that were
    left before the first and after each increment."""
    return len(fractions) > STALLED and fractions[-1] > LEFT * fractions[-1 - STALLED]


def stiffness_product(lin: Linearised, tets: Index, moved: Vec) -> Vec:
    """Return K Δx [N] of a displacement Δx [m], both (n, 3). lin: linearisation with the blocks of K. tets: (e, 4)."""
    out = np.zeros(moved.shape)
    for elements, blocks in ((tets, lin.blocks[: len(tets)]), (lin.others, lin.blocks[len(tets) :])):
        if elements is None:
            continue
        near = np.flatnonzero(moved[elements].any(axis=(1, 2)))
        np.add.at(out, elements[near], corner_products(blocks[near], moved[None, elements[near]])[0])
    return out
