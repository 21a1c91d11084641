"""Stages of condensed velocities without quasistatic nodes, on a factor of several stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..iteration.protocol import Bound
from ..parts.stage import StageShape
from ..state import State, Vec
from .anderson import Anderson
from .condensed_stage import iterate_condensed
from .condensed_velocities import (
    CondensedDirections,
    CondensedIterate,
    CondensedStop,
    Direction,
    PosedCondensed,
    Step,
)
from .limits import Progress, StopRule, remaining
from .stiffness import Stiffness
from .velocity_stage import VelocityStage, VelocityStep

T = TypeVar("T", bound=PosedCondensed)


class ReusedFactorDirections(CondensedDirections[T]):
    """Directions of the last factor, which is replaced where as many iterations as that costs would not converge.

    The stiffness is the true one where that is definite.
    """

    def __init__(self, on_last_factor: Callable[[Vec, Vec], T | None], changes: Anderson, limits: StopRule) -> None:
        """on_last_factor: linearises at coordinates and rates on the last factor; None where that is not valid.
        changes: differences of iterations on that factor, discarded with it."""
        super().__init__(Stiffness(is_true=True, true_within=np.inf))
        self._on_last_factor, self._changes = on_last_factor, changes
        self._progress, self._reuses_factor = Progress(limits.tolerance, limits.patience), True

    def pose(self, problem: VelocityStage[T], at: CondensedIterate) -> T:
        """Return the stage linearised on the last factor while that serves, else on a new one. Raises
        NotPositiveDefinite."""
        posed = self._on_last_factor(at.q, at.u) if self._reuses_factor else None
        if posed is None:
            posed = super().pose(problem, at)
            self._progress.restart()
            self._changes.clear()
        self._reuses_factor = True
        return posed

    def follow(self, step: Step[T]) -> None:
        """Select the stiffness after a step, and a new factor where convergence on the last one is slow or changes
        grow."""
        super().follow(step)
        grew = not self._progress.fresh and step.moved > self._largest
        self._reuses_factor = not (self._progress.is_slow(step.moved / self._largest) or grew)


class AcceleratedSteps(Bound[VelocityStage[T], CondensedIterate, Direction[T], Step[T]]):
    """Bound that combines changes of rates by Anderson acceleration, since there is no merit for QLB's secant pairs.
    [Thesis 5.4.1]"""

    def __init__(self, changes: Anderson) -> None:
        """changes: with the differences of earlier stages on the last factor."""
        self._changes = changes

    def step_along(self, problem: VelocityStage[T], at: CondensedIterate, direction: Direction[T]) -> Step[T]:
        """Return the step to the rates that the change of a direction and the last ones predict."""
        change = direction.change
        u = self._changes.next(at.u, change, len(change))
        moved = problem.seconds * float(np.abs(change).max(initial=0.0))
        after = CondensedIterate(problem.base + problem.seconds * u, u, at.offset)
        return VelocityStep(at, after, direction, moved, moved)


class FixedPointStop(CondensedStop[T]):
    """Stop rule that is met where the change that fixed-point iterations leave is within a fraction of the tolerance.
    """

    fixed_point_fraction = 0.1  #: tolerance of fixed-point iterations relative to that of Newton's method
    #: largest tolerance of fixed-point iterations relative to the first change; Newton's next iteration would square it
    fixed_point_tolerance = 0.01

    def __init__(self, tolerance: float, extent: float) -> None:
        super().__init__(tolerance, extent)
        self._last = 0.0

    def has_converged(self, step: Step[T]) -> bool:
        """Whether the change that is left after a step is small enough."""
        # Newton's iteration squares the change, a fixed-point iteration leaves a fraction of it
        left, self._last = remaining(step.moved, self._last), step.moved
        return super().has_converged(step) and left <= self.fixed_point_fraction * self.goal


def solve_on_last_factor(pose_at: Callable[[Vec, Vec, bool], T], on_last_factor: Callable[[Vec, Vec], T | None],
                         changes: Anderson, stage: StageShape, start: State, limits: StopRule, extent: float,
                         name: str) -> State:
    """Return the state at the end of a stage of condensed velocities without quasistatic nodes. Raises StepFailed where
    the iterations do not converge.

    on_last_factor: linearises at coordinates and rates on the last factor; None where that is not valid. changes:
    Anderson acceleration, with the differences of earlier stages on that factor. The other arguments are those of
    `solve_condensed`.
    """
    limits = replace(limits, tolerance=min(limits.tolerance, FixedPointStop.fixed_point_tolerance))
    changes.start()
    return iterate_condensed(VelocityStage.of(pose_at, stage, start),
                             ReusedFactorDirections(on_last_factor, changes, limits), AcceleratedSteps(changes),
                             FixedPointStop(limits.tolerance, extent), limits, name)
