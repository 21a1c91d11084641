"""Solution of a stage with condensed velocities by the one loop; `condensed_velocities` has its steps."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..iteration.protocol import Bound, StageDirections
from ..parts.interface import Evaluate
from ..parts.stage import StageShape
from ..state import State, Vec
from .condensed_velocities import (
    BalancedSteps,
    CondensedDirections,
    CondensedIterate,
    CondensedStop,
    Direction,
    Step,
    T,
)
from .limits import StopRule
from .stiffness import Stiffness
from .velocity_stage import VelocityStage


def solve_condensed(pose_at: Callable[[Vec, Vec, bool], T], evaluate: Evaluate, stage: StageShape, start: State,
                    limits: StopRule, extent: float, name: str = "dynamic nodes and balance") -> State:
    """Return the state at the end of a stage with condensed velocities. Raises StepFailed where the iterations do not
    converge.

    pose_at: linearises at coordinates (m_q,) and rates (m,), with K projected to negative semi-definite where the last
    argument is true, and raises NotPositiveDefinite. evaluate: returns forces and their energy. start: state whose
    rates are the initial guess. extent: of the body [m]. name: of the unknowns, for the error message.
    """
    problem = VelocityStage.of(pose_at, stage, start)
    return iterate_condensed(problem, CondensedDirections(Stiffness()), BalancedSteps(evaluate),
                             CondensedStop(limits.tolerance, extent), limits, name)


def iterate_condensed(problem: VelocityStage[T],
                      directions: StageDirections[VelocityStage[T], CondensedIterate, Step[T], Direction[T]],
                      bound: Bound[VelocityStage[T], CondensedIterate, Direction[T], Step[T]],
                      stop: CondensedStop[T], limits: StopRule, name: str) -> State:
    """Return the state at the end of a stage from iterations that start with the rates of the step's start. name: of
    the unknowns, for the error message. Raises StepFailed where the iterations do not converge, with their number and
    the last change of positions."""
    first = CondensedIterate.at(problem, problem.start.u)
    end = iterate(problem, first, directions, bound, stop, limits.iterations)
    if not end.has_converged or end.last is None:
        raise StepFailed(f"{name} did not converge in {end.count} iterations; "
                         f"positions still change by {stop.moved:.3g} m")
    return problem.end(end.at, end.last.direction.posed)
