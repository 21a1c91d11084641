"""Stages with condensed velocities: v = J(x) v_d + w with Jᵀ (M (v − v̂) − a h (f(x) + D v)) = 0, and positions x in
which the quasistatic nodes are in equilibrium.

Each iteration linearises the stage at the last positions, with a factor of its own, then relaxes the quasistatic nodes.
J of the true and of the projected stiffness have different roots, and alternating would find neither: the true one is
tried once. [ConJac 11, changed: iterated]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..iteration.protocol import Bound
from ..parts.interface import Evaluate
from ..state import Vec
from .change_stop import EXTENT_FRACTION, ChangeStop
from .velocity_stage import PosedVelocities, VelocityDirection, VelocityDirections, VelocityStage, VelocityStep

BALANCE_STEPS = 2  #: quasi-Newton steps towards equilibrium after each solve


class PosedCondensed(PosedVelocities, Protocol):
    """Protocol of a linearised stage of dynamic nodes with condensed quasistatic ones, possibly with joints."""

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Return coordinates (m_q,) nearer to the equilibrium of the quasistatic nodes than q (m_q,), at rates u (m,).
        evaluate: forces and their energy. corrections: number of quasi-Newton steps, None for the part's own."""


T = TypeVar("T", bound=PosedCondensed)


@dataclass(frozen=True)
class CondensedIterate:
    """An iterate of a stage with condensed velocities."""

    q: Vec  #: coordinates, (m_q,)
    u: Vec  #: rates, (m,) [m/s, rad/s]
    offset: Vec  #: q − base − b h u, by which relaxation has moved the quasistatic nodes, (m_q,)

    @classmethod
    def at(cls, problem: VelocityStage[T], u: Vec) -> CondensedIterate:
        """Return the iterate at rates u (m,) before relaxation."""
        return cls(problem.base + problem.seconds * u, u, np.zeros_like(problem.base))


Step = VelocityStep[CondensedIterate, T]
Direction = VelocityDirection[T]


class CondensedDirections(VelocityDirections[T, CondensedIterate]):
    """Directions of condensed velocities; a change that exceeds the first one is no nearer to the root."""

    def scale(self, step: Step[T], before: float) -> float:
        """Return the first change, relative to which one is small enough for true stiffness. before: that one, 0 at
        first."""
        return before or step.moved


class BalancedSteps(Bound[VelocityStage[T], CondensedIterate, Direction[T], Step[T]]):
    """Bound that takes the relaxed change of rates, then brings the quasistatic nodes nearer to equilibrium."""

    def __init__(self, evaluate: Evaluate) -> None:
        """evaluate: returns forces and their energy."""
        self._evaluate = evaluate

    def step_along(self, problem: VelocityStage[T], at: CondensedIterate, direction: Direction[T]) -> Step[T]:
        """Return the step along a direction."""
        # the correction of quasistatic nodes carries over to the next iteration
        u = at.u + direction.relaxation * direction.change
        moved = problem.base + problem.seconds * u + at.offset
        settled = direction.posed.relax(moved, u, self._evaluate, BALANCE_STEPS)
        after = CondensedIterate(settled, u, at.offset + (settled - moved))
        rate_change = problem.seconds * float(np.abs(direction.change).max(initial=0.0))
        return VelocityStep(at, after, direction, rate_change,
                            max(rate_change, float(np.abs(settled - moved).max(initial=0.0))))


class CondensedStop(ChangeStop[Step[T]]):
    """Stop rule that is met where coordinates change by less than the tolerance times the first change plus a fraction
    of the extent."""

    def __init__(self, tolerance: float, extent: float) -> None:
        """extent: of the body [m]."""
        super().__init__()
        self._tolerance, self._extent, self.goal = tolerance, extent, 0.0
        self.moved = 0.0  #: change by the last step [m]

    def has_converged(self, step: Step[T]) -> bool:
        """Whether the change of coordinates by a step is within the tolerance."""
        self.moved = step.moved
        self.goal = self.goal or self._tolerance * (step.moved + EXTENT_FRACTION * self._extent)
        return step.moved <= self.goal
