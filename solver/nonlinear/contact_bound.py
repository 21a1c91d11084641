"""Directions, bound and stop rule of a monolithic stage of nodes and joints in contact, for `Bounded`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..errors import StepFailed
from ..iteration.protocol import Bound
from ..linear.interface import NotPositiveDefinite
from ..state import Vec
from .change_stop import EXTENT_FRACTION, ChangeStop
from .limits import remaining
from .velocity_stage import PosedVelocities, VelocityDirection, VelocityDirections, VelocityStage, VelocityStep


class SlopeAlongStep(PosedVelocities, Protocol):
    """A linearised stage that reports slope and curvature along its step."""

    @property
    def curvature(self) -> float:
        """Return the second directional derivative of the soft bodies' potential along the step that `solve` found [J].
        """

    @property
    def start_slope(self) -> float:
        """Return the directional derivative of the soft bodies' potential at the start of the step that `solve` found
        [J]."""


S = TypeVar("S", bound=SlopeAlongStep)


class BoundedEquations(Protocol[S]):
    """Equations of a stage with surfaces that touch, as bounded iterations use them.

    q: generalised coordinates, (m_q,). u: rates, (m,). Positions are of all nodes, (n, 3) [m].
    """

    step_start: Vec  #: positions at the stage's start, free of intersections

    @property
    def extent(self) -> float:
        """Return the extent of the largest body [m]."""

    @property
    def edge(self) -> float:
        """Return the mean edge of the surfaces [m], the scale of a tolerance in strain."""

    def pose_at(self, q: Vec, u: Vec, project: bool) -> S:
        """Return the stage linearised at q (m_q,) and u (m,), with K projected to negative semi-definite if `project`.
        Raises NotPositiveDefinite."""

    def slope_at(self, posed: S, q: Vec, u: Vec) -> float:
        """Return the directional derivative of the soft bodies' potential along the step that `posed` found, at
        coordinates q (m_q,) and rates u (m,) on that step [J]."""

    def positions_at(self, q: Vec) -> Vec:
        """Return positions of all nodes, (n, 3) [m], at coordinates q (m_q,) of the stage's end."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction in [0, 1] of the straight path between positions of all nodes, (n, 3) [m]
        each."""

    def update_friction(self, x: Vec) -> None:
        """Evaluate the normal forces and normals of friction at positions x (n, 3) [m] for all evaluations that follow.
        """

    def contact_forces(self, x: Vec) -> Vec:
        """Return midpoint [m], force [N] and distance [m] of each active pair at positions x (n, 3) [m], as rows of
        (k, 7)."""

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that contains a node, None for a node without one."""


@dataclass(frozen=True)
class BoundedIterate:
    """An iterate of a stage in contact."""

    q: Vec  #: coordinates, (m_q,)
    u: Vec  #: rates, (m,) [m/s, rad/s]
    x: Vec  #: positions of all nodes, (n, 3) [m]


@dataclass(frozen=True)
class BoundedStage(VelocityStage[S]):
    """Equations of a stage in contact."""

    equations: BoundedEquations[S]


Direction = VelocityDirection[S]
Step = VelocityStep[BoundedIterate, S]


class BoundedDirections(VelocityDirections[S, BoundedIterate]):
    """Directions along which the potential has a positive curvature."""

    def solve(self, posed: S) -> Vec:
        """Return the rates at the end of a linearised stage, (m,) [m/s, rad/s]. Raises StepFailed, and
        NotPositiveDefinite, also where the true stiffness has a negative curvature along the change."""
        rates = posed.solve()
        if posed.curvature <= 0.0 and self._stiffness.is_true:
            raise NotPositiveDefinite
        return rates


class ContactBound(Bound[BoundedStage[S], BoundedIterate, Direction[S], Step[S]]):
    """Bound of steps of nodes and joints: where the potential stops decreasing or contact begins.

    Joints have no potential for a line search, but soft bodies and surfaces that touch are their only stiff reaction:
    the directional derivative of the soft bodies' potential along the step bounds its length.
    """

    uphill = 0.3  #: largest directional derivative at the end of a step, relative to that at its start
    trials = 12  #: number of step lengths that a line search tries
    shortest_backtrack = 0.2  #: smallest ratio of two successive step lengths
    arc_margin = 0.9  #: safety factor of a bound for straight paths, since attached nodes move on arcs
    shortest = 1.0e-6  #: smallest fraction of a step that is worth an iteration

    def __init__(self, relaxes: bool) -> None:
        """relaxes: whether changes are relaxed by those before them."""
        self._relaxes = relaxes

    def step_along(self, problem: BoundedStage[S], at: BoundedIterate, direction: Direction[S]) -> Step[S]:
        """Return the step along the change of rates until contact bounds it and the merit decreases enough. Raises
        StepFailed where the motion is blocked."""
        posed, change = direction.posed, direction.change
        whole = direction.relaxation if self._relaxes else 1.0
        fraction = 1.0
        for _ in range(self.trials):
            after, taken = self.move(problem, at.q, at.x, whole * fraction * problem.seconds * change)
            fraction *= taken
            # the joints' part decreases at least as fast as the linear response of the soft bodies allows
            over = problem.equations.slope_at(posed, after.q, after.u) - posed.start_slope - posed.curvature
            if over <= self.uphill * posed.curvature:
                break
            fraction *= max(self.shortest_backtrack, posed.curvature / (posed.curvature + over))
        # the full change, of which relaxation took a fraction
        moved = float(np.abs(after.x - at.x).max()) / whole
        return VelocityStep(at, after, direction, moved, moved, fraction)

    def move(self, problem: BoundedStage[S], q: Vec, x: Vec, change: Vec) -> tuple[BoundedIterate, float]:
        """Return the iterate after the contact-free fraction of a change of coordinates q (m_q,), and that fraction.

        x: positions at q, except that prescribed nodes are at the end of their motion. Raises StepFailed where these
        are blocked.
        """
        fraction, equations = 1.0, problem.equations
        while fraction > self.shortest:
            x_end = equations.positions_at(q + fraction * change)
            free = equations.largest_step(x, x_end)
            if free == 1.0:
                return _iterate_at(problem, q + fraction * change, x_end), fraction
            fraction *= self.arc_margin * free
        x_end = equations.positions_at(q)
        if equations.largest_step(x, x_end) < 1.0:
            raise StepFailed("animated parts are blocked")
        return _iterate_at(problem, q, x_end), 0.0


def _iterate_at(problem: BoundedStage[S], q: Vec, x: Vec) -> BoundedIterate:
    """Return the iterate at coordinates q (m_q,) and positions x (n, 3) [m]."""
    return BoundedIterate(q, (q - problem.base) / problem.seconds, x)


class BoundedStop(ChangeStop[Step[S]]):
    """Stop rule that is met where the remaining change of positions is within the tolerance, after at least two
    iterations."""

    patience = sys.maxsize  # a creeping contact may still come to rest

    def __init__(self, goal: float, tolerance: float, extent: float, least_fraction: float) -> None:
        """goal: largest admissible change [m]; 0: the tolerance times the first change plus a fraction of the extent.
        extent: of the largest body [m]. least_fraction: of a change: one that is cut shorter does not predict the
        rest."""
        super().__init__()
        self._goal, self._tolerance, self._extent, self._least_fraction = goal, tolerance, extent, least_fraction
        self._before = 0.0  #: change by the last step, 0 where that was blocked [m]
        self.remaining = np.inf  #: change by further steps [m]
        self.last: Step[S] | None = None

    def has_converged(self, step: Step[S]) -> bool:
        """Whether the remaining change of positions after a step is within the tolerance."""
        is_first, self.last = self.last is None, step
        self._goal = self._goal or self._tolerance * (step.moved + EXTENT_FRACTION * self._extent)
        # a step that is cut short has the rest of its change left, as far as contact permits
        self.remaining = remaining(step.moved, self._before) if step.is_full else np.inf
        if self._least_fraction <= step.fraction < 1.0:
            self.remaining = step.moved / step.fraction
        self._before = step.moved if step.is_full else 0.0
        return not is_first and self.remaining <= self._goal


def lag_friction(problem: BoundedStage[S], at: BoundedIterate) -> tuple[BoundedStage[S], BoundedIterate]:
    """Evaluate the normal forces of friction at an iterate; return the stage and the iterate."""
    problem.equations.update_friction(at.x)
    return problem, at
