"""Stages in velocities without a merit function: their equations, linearised directions and steps.

The residual of condensed velocities is known only after K is factored, and joints beside soft bodies have no potential:
a line search has no merit. Each iteration linearises the stage at the last iterate; Aitken's method relaxes its change,
or contact bounds it (`bounded`). `FixedPointStage` iterates without a factor of its own, and without J.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from ..errors import StepFailed
from ..iteration.protocol import Refused, StageDirections
from ..linear.interface import NotPositiveDefinite
from ..parts.stage import StageShape
from ..state import State, Vec
from .relaxation import Relaxation
from .stiffness import Stiffness


class PosedVelocities(Protocol):
    """Protocol of a linearised stage of nodes, possibly with joints."""

    @property
    def tree_stage(self) -> Any:
        """Return the stage of the joints, None without joints."""

    def solve(self) -> Vec:
        """Return rates at the stage's end, (m,) [m/s, rad/s]. Raises StepFailed, NotPositiveDefinite."""


class AtRates(Protocol):
    """Protocol of an iterate of a stage."""

    @property
    def q(self) -> Vec:
        """Return coordinates, (m_q,)."""

    @property
    def u(self) -> Vec:
        """Return rates, (m,) [m/s, rad/s]."""


T = TypeVar("T", bound=PosedVelocities)
A = TypeVar("A", bound=AtRates)


@dataclass(frozen=True)
class VelocityStage(Generic[T]):
    """Equations of a stage M (u − û) = a h f(q, u), q = base + b h u."""

    #: linearises at coordinates (m_q,) and rates (m,), with K projected to negative semi-definite where the last
    #: argument is true. Raises NotPositiveDefinite
    pose_at: Callable[[Vec, Vec, bool], T]
    base: Vec  #: coordinates at zero rates, (m_q,)
    seconds: float  #: b h
    time: float  #: at the stage's end [s]
    start: State  #: of the step

    @classmethod
    def of(cls, pose_at: Callable[[Vec, Vec, bool], T], stage: StageShape, start: State) -> Self:
        """Return the equations of a stage of a step from `start`, linearised by `pose_at`."""
        return cls(pose_at, start.q if stage.base is None else stage.base, stage.b * stage.h, stage.time, start)

    def end(self, at: AtRates, posed: T) -> State:
        """Return the state at an iterate. posed: the last linearisation."""
        return State(self.time, at.q, at.u, self.start.memory, tree_stage=posed.tree_stage)


@dataclass(frozen=True)
class VelocityDirection(Generic[T]):
    """A solved linearisation of a stage."""

    posed: T
    change: Vec  #: of rates, (m,) [m/s, rad/s]
    relaxation: float  #: fraction of the change to take, where changes are relaxed
    is_true: bool  #: whether K is the true one, not the projected one
    is_renewed: bool  #: whether the last direction was of the other K, so that earlier changes do not compare


@dataclass(frozen=True)
class VelocityStep(Generic[A, T]):
    """A step along a direction."""

    before: A
    after: A
    direction: VelocityDirection[T]
    rate_change: float  #: largest change of a coordinate by rates, before relaxation [m]
    moved: float  #: largest change of a coordinate [m]
    fraction: float = 1.0  #: of the change that nothing blocked

    @property
    def is_full(self) -> bool:
        """Whether nothing blocked it."""
        return self.fraction == 1.0


class VelocityDirections(StageDirections[VelocityStage[T], A, VelocityStep[A, T], VelocityDirection[T]]):
    """Solutions of the linearised stage, with projected stiffness far from the root and the true one near it."""

    def __init__(self, stiffness: Stiffness, least_fraction: float = 1.0) -> None:
        """least_fraction: of a change: one that is cut shorter is followed by projected stiffness."""
        self._stiffness, self._least_fraction = stiffness, least_fraction
        self._relaxation = Relaxation()
        self._is_renewed = False
        self._first_change = self._largest = 0.0

    def find(self, problem: VelocityStage[T], at: A, last: VelocityStep[A, T] | None) -> VelocityDirection[T]:
        """Return the solution of the stage linearised at an iterate. Raises Refused where the true matrix is not
        positive definite, StepFailed where the projected one is not."""
        if last is not None:
            self.follow(last)
        is_true = self._stiffness.is_true
        try:
            posed = self.pose(problem, at)
            rates = self.solve(posed)
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            if not is_true:
                raise StepFailed("the system matrix is not positive definite") from failure
            self._stiffness.refuse()
            self._is_renewed = True
            raise Refused from failure
        is_renewed, self._is_renewed = self._is_renewed, False
        return VelocityDirection(posed, rates - at.u, self._relaxation.relaxation, is_true, is_renewed)

    def follow(self, step: VelocityStep[A, T]) -> None:
        """Select stiffness and relaxation after a step."""
        self._first_change = self._first_change or step.rate_change
        self._largest = self.scale(step, self._largest)
        stiffness, relaxation = self._stiffness, self._relaxation
        if step.fraction < self._least_fraction:
            stiffness.project()
            relaxation.forget_last()
            return
        switches = stiffness.follow(step.moved, step.rate_change, self._largest, self._first_change)
        relaxation.follow(step.rate_change, step.direction.change)
        if switches:
            # changes with one stiffness do not predict those with another
            relaxation.restart(relaxation.relaxation if stiffness.is_true else 1.0)
            self._is_renewed = True

    def scale(self, step: VelocityStep[A, T], before: float) -> float:
        """Return the change relative to which one is small enough for true stiffness: the largest so far. before: that
        at the last step, 0 at first."""
        return max(before, step.moved)

    def pose(self, problem: VelocityStage[T], at: A) -> T:
        """Return the stage linearised at an iterate. Raises NotPositiveDefinite."""
        return problem.pose_at(at.q, at.u, not self._stiffness.is_true)

    def solve(self, posed: T) -> Vec:
        """Return the rates at the end of a linearised stage, (m,) [m/s, rad/s]. Raises StepFailed,
        NotPositiveDefinite."""
        return posed.solve()
