"""A monolithic stage of nodes and joints in contact: iterations bounded by continuous collision detection."""

from __future__ import annotations

from typing import Generic

import numpy as np

from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..parts.stage import StageShape
from ..state import State, Vec
from .contact_bound import (
    BoundedDirections,
    BoundedEquations,
    BoundedIterate,
    BoundedStage,
    BoundedStop,
    ContactBound,
    S,
    lag_friction,
)
from .intersection_free import BLOCKED_REMEDY
from .limits import QUASISTATIC_FRACTION, StopRule
from .stiffness import TRUE_STIFFNESS_FROM, Stiffness
from .velocity_stage import VelocityStage

BLOCKED = 1.0e-3  #: fraction of a step below which contact blocks the step instead of having just closed


class Bounded(Generic[S]):
    """Solver of a stage of nodes with inertia in contact: each step is cut where the potential stops decreasing or
    contact begins. True stiffness that has diverged is tried again much nearer to the root."""

    lagged = 12  #: iterations after which the normal forces of friction are constant
    #: relative to the extent: a smaller remaining change is accepted where convergence is slow, as in creep
    negligible = 1.0e-5
    tries = 40  #: at least so many iterations: the first of an impact find its pairs
    true_within = TRUE_STIFFNESS_FROM  #: fraction of the largest change below which true stiffness is tried
    #: true stiffness that diverged is tried again once the change is smaller by this factor than at the last attempt
    retry = 0.03
    visible = 1.0  #: fraction of the tolerance of early stopping
    relaxes = True  #: whether changes are relaxed by those before them
    least_fraction = 1.0  #: fraction of a change: one that is cut shorter is followed by projected stiffness

    def __init__(self, equations: BoundedEquations[S], stage: StageShape, start: State, limits: StopRule) -> None:
        """start: state whose rates are the initial guess."""
        whole = VelocityStage.of(equations.pose_at, stage, start)
        self._problem = BoundedStage(whole.pose_at, whole.base, whole.seconds, whole.time, start, equations)
        self._limits = limits

    def solve_stage(self) -> State:
        """Return the state at the stage's end, or a state where hardly any motion is left. Raises StepFailed where
        prescribed motion is blocked or the iterations do not converge."""
        problem, limits = self._problem, self._limits
        start, equations, bound = problem.start, problem.equations, ContactBound[S](self.relaxes)
        stop = BoundedStop[S](self.visible * limits.strain_left * equations.edge, limits.tolerance, equations.extent,
                              self.least_fraction)
        directions = BoundedDirections[S](Stiffness(False, self.true_within, 0, self.retry), self.least_fraction)
        ballistic = problem.base + problem.seconds * start.u
        first, _ = bound.move(problem, start.q, equations.step_start, ballistic - start.q)
        equations.update_friction(equations.step_start)
        end = iterate(problem, first, directions, bound, stop, max(limits.iterations, self.tries), lag_friction,
                      self.lagged)
        if not end.has_converged:
            self._check_rest(stop, end.at, end.count)
        assert stop.last is not None
        return problem.end(end.at, stop.last.direction.posed)

    def _check_rest(self, stop: BoundedStop[S], at: BoundedIterate, count: int) -> None:
        """Check that hardly any motion is left after so many iterations. Raises StepFailed, with the location,
        elsewhere."""
        problem, last = self._problem, stop.last
        assert last is not None
        equations = problem.equations
        if stop.remaining <= self.negligible * equations.extent:
            return
        if last.fraction < BLOCKED:
            near = nearest(equations.contact_forces(at.x))
            raise StepFailed(f"animated or jointed parts would be pressed{near} through something", None,
                             BLOCKED_REMEDY)
        most = int(np.abs(last.after.x - last.before.x).max(axis=1).argmax())
        raise StepFailed(f"rigid and soft bodies that touch did not converge in {count} iterations; positions "
                         f"near ({in_words(at.x[most])}) m still change by {last.moved:.3g} m, {problem.time:.6g} s",
                         equations.body_of(most), BLOCKED_REMEDY)


def nearest(touched: Vec) -> str:
    """Return a text that locates the pair of surfaces with the smallest distance, empty without pairs. touched:
    midpoint [m], force [N] and distance [m] of each active pair, as rows of (k, 7)."""
    if not len(touched):
        return ""
    return f" near ({in_words(touched[int(touched[:, 6].argmin()), :3])}) m"


def in_words(point: Vec) -> str:
    """Return the coordinates (3,) of a point as text, with four significant digits each."""
    return ", ".join(f"{c:.4g}" for c in point)


class BoundedQuasistatic(Bounded[S]):
    """Solver of a stage of mostly quasistatic nodes in contact, whose rates are those of their positions."""

    tries = 100  #: at least so many iterations: each ends where the first of its pairs would make contact
    true_within, retry = np.inf, 1.0
    least_fraction = BLOCKED
    visible = QUASISTATIC_FRACTION
    relaxes = False
