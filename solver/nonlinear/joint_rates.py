"""Stages of joints: Newton's method in their rates, M_r(q) (u − û) = a h f_r(q, u), q = base + b h u.

The matrix is the semi-implicit step's, evaluated in each iteration: a tree's factor costs no more than a solve with it.
The derivatives of M_r, J and the quadratic velocities with q and u are left out, so it stays symmetric: the error
shrinks by about h |ω| in each iteration, or as relaxation makes it. Sizes are those of rates. [Thesis 3.6]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..iteration.protocol import Bound, StageDirections
from ..linear.interface import NotPositiveDefinite
from ..parts.stage import StageShape
from ..state import State, Vec
from .change_stop import ChangeStop
from .limits import StopRule
from .relaxation import Relaxation

FASTEST = 1.0e7  #: rate beyond which iterations have diverged [rad/s or m/s]


class SolvedRates(Protocol):
    """Protocol of a linearised stage of joints with its solution."""

    rates: Vec  #: at the stage's end, (m,) [m/s, rad/s]

    @property
    def tree_stage(self) -> Any:
        """Return the stage of the joints."""

    def correction(self, u: Vec) -> Vec:
        """Return the position correction at the new rates u (m,), as a rate that is added to u in positions alone,
        (m,)."""

    def rounding(self, u: Vec) -> float:
        """Return the smallest significant change of rates u (m,) [m/s, rad/s]."""


class RatesStage(NamedTuple):
    """Equations of a stage of joints."""

    solve_at: Callable[[Vec, Vec], SolvedRates]  #: linearises at coordinates (m_q,) and rates (m,), and solves
    base: Vec  #: coordinates at zero rates, (m_q,)
    seconds: float  #: b h


class RatesIterate(NamedTuple):
    """Coordinates (m_q,) and rates (m,) of joints."""

    q: Vec
    u: Vec


class RatesDirection(NamedTuple):
    """A solved linearisation of a stage of joints."""

    solved: SolvedRates
    change: Vec  #: of rates, (m,) [m/s, rad/s]
    relaxation: float  #: fraction of the change to take
    is_renewed: bool = False  #: whether earlier changes do not compare: never, as there is one kind of matrix


class RatesStep(NamedTuple):
    """A step of a stage of joints."""

    after: RatesIterate
    direction: RatesDirection
    moved: float  #: largest change of a rate before relaxation [m/s, rad/s]
    is_full: bool = True


class RatesDirections(StageDirections[RatesStage, RatesIterate, RatesStep, RatesDirection]):
    """Solutions of the linearised stage, relaxed by Aitken's method."""

    def __init__(self) -> None:
        self._relaxation = Relaxation()

    def find(self, problem: RatesStage, at: RatesIterate, last: RatesStep | None) -> RatesDirection:
        """Return the solution of the stage linearised at an iterate. Raises StepFailed where its matrix is not positive
        definite."""
        if last is not None:
            self._relaxation.follow(last.moved, last.direction.change)
        try:
            solved = problem.solve_at(at.q, at.u)
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            raise StepFailed("the system matrix is not positive definite") from failure
        return RatesDirection(solved, solved.rates - at.u, self._relaxation.relaxation)


class RelaxedRates(Bound[RatesStage, RatesIterate, RatesDirection, RatesStep]):
    """Bound that takes the relaxed change of rates, with the position correction at the new rates."""

    def step_along(self, problem: RatesStage, at: RatesIterate, direction: RatesDirection) -> RatesStep:
        """Return the step along a direction."""
        solved, change, relaxation, _ = direction
        u = solved.rates if relaxation == 1.0 else at.u + relaxation * change
        q = problem.base + problem.seconds * (u + solved.correction(u))
        return RatesStep(RatesIterate(q, u), direction, float(np.abs(change).max(initial=0.0)))


class RatesStop(ChangeStop[RatesStep]):
    """Stop rule that is met where the change is below the tolerance relative to the largest one, or below rounding."""

    most = FASTEST

    def __init__(self, tolerance: float) -> None:
        super().__init__()
        self._tolerance = tolerance

    def has_converged(self, step: RatesStep) -> bool:
        """Whether the change of a step is small enough."""
        return step.moved <= max(self._tolerance * self.largest, step.direction.solved.rounding(step.after.u))


RELAXED_RATES = RelaxedRates()


def solve_joints(solve_at: Callable[[Vec, Vec], SolvedRates], stage: StageShape, start: State, limits: StopRule,
                 name: str) -> tuple[State, int]:
    """Return the state at the end of a stage of joints, and the number of iterations. Raises StepFailed where these do
    not converge.

    solve_at: linearises at coordinates (m_q,) and rates (m,), and solves. start: state whose rates are the initial
    guess. name: of the joints, for the error message.
    """
    problem = RatesStage(solve_at, start.q if stage.base is None else stage.base, stage.b * stage.h)
    first = RatesIterate(problem.base + problem.seconds * start.u, start.u)
    end = iterate(problem, first, RatesDirections(), RELAXED_RATES, RatesStop(limits.tolerance), limits.iterations)
    if not end.has_converged or end.last is None:
        raise StepFailed(f"{name} did not converge in {end.count} iterations")
    after = State(stage.time, end.at.q, end.at.u, start.memory, tree_stage=end.last.direction.solved.tree_stage)
    return after, end.count
