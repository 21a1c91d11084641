"""A monolithic stage of nodes and joints in contact: iterations bounded by continuous collision detection."""

from __future__ import annotations

import sys
from typing import Protocol, TypeVar

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.stage import StageShape
from ..state import State, Vec
from .intersection_free import BLOCKED_REMEDY
from .iterations import EXTENT_FRACTION, Iterations, PosedVelocities
from .limits import QUASISTATIC_FRACTION, StopRule, remaining

BLOCKED = 1.0e-3  #: fraction of a step below which contact blocks the step instead of having just closed


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


class Bounded(Iterations[S]):
    """Iterations of a stage of nodes with inertia in contact: each step is cut where the potential stops decreasing or
    contact begins. True stiffness that has diverged is tried again much nearer to the root.

    Joints have no potential for a line search, but soft bodies and surfaces that touch are their only stiff reaction:
    the directional derivative of the soft bodies' potential along the step bounds its length.
    """

    lagged = 12  #: iterations after which the normal forces of friction are constant
    #: relative to the extent: a smaller remaining change is accepted where convergence is slow, as in creep
    negligible = 1.0e-5
    uphill = 0.3  #: largest directional derivative at the end of a step, relative to that at its start
    trials = 12  #: number of step lengths that a line search tries
    shortest_backtrack = 0.2  #: smallest ratio of two successive step lengths
    tries = 40  #: at least so many iterations: the first of an impact find its pairs
    patience = sys.maxsize  # a creeping contact may still come to rest
    tolerated = 0
    #: true stiffness that diverged is tried again once the change is smaller by this factor than at the last attempt
    retry = 0.03
    visible = 1.0  #: fraction of the tolerance of early stopping
    relaxes = True  #: whether changes are relaxed by those before them
    arc_margin = 0.9  #: safety factor of a bound for straight paths, since attached nodes move on arcs
    shortest = 1.0e-6  #: smallest fraction of a step that is worth an iteration

    def __init__(self, equations: BoundedEquations[S], stage: StageShape, start: State, limits: StopRule) -> None:
        """Move to the rates of `start`, as far as contact allows. Raises StepFailed where prescribed motion is blocked.
        """
        super().__init__(equations.pose_at, stage, start, limits)
        self._equations = equations
        self._move(start.q, equations.step_start, self.q - start.q)
        equations.update_friction(equations.step_start)
        self._most = 0  #: the node with the largest displacement of the last iteration
        self._goal, self._remaining = self.visible * limits.strain_left * equations.edge, np.inf

    def _move(self, q: Vec, x: Vec, change: Vec) -> float:
        """Move from coordinates q (m_q,) and positions x (n, 3) [m] by a change, as far as contact allows; return the
        fraction of it that was taken."""
        self.q, self._x, fraction = self._without_contact(q, x, change)
        self.u = (self.q - self.base) / self.seconds
        return fraction

    def _without_contact(self, q: Vec, x: Vec, change: Vec) -> tuple[Vec, Vec, float]:
        """Return coordinates after the contact-free fraction of a change, positions there, and that fraction.

        x: positions at q, except that prescribed nodes are at the end of their motion. Raises StepFailed where these
        are blocked.
        """
        fraction, equations = 1.0, self._equations
        while fraction > self.shortest:
            x_end = equations.positions_at(q + fraction * change)
            free = equations.largest_step(x, x_end)
            if free == 1.0:
                return q + fraction * change, x_end, fraction
            fraction *= self.arc_margin * free
        x_end = equations.positions_at(q)
        if equations.largest_step(x, x_end) < 1.0:
            raise StepFailed("animated parts are blocked")
        return q, x_end, 0.0

    def solve(self, posed: S) -> Vec:
        """Return the rates at the end of a linearised stage, (m,) [m/s, rad/s]. Raises StepFailed,
        NotPositiveDefinite."""
        return posed.solve()

    def take(self, posed: S, rates: Vec, change: Vec, relaxation: float) -> None:
        """Move along the change of rates until contact bounds it and the merit decreases enough.

        posed: the linearised stage. rates, change: new rates and their change, (m,). relaxation: fraction of the change
        that is taken, where relaxation is used. Raises NotPositiveDefinite where the true stiffness has a negative
        curvature along the change, StepFailed where the motion is blocked.
        """
        if posed.curvature <= 0.0 and self.stiffness.is_true:
            raise NotPositiveDefinite
        whole = relaxation if self.relaxes else 1.0
        q, before, self.free_fraction = self.q, self._x, 1.0
        for _ in range(self.trials):
            self.free_fraction *= self._move(q, before, whole * self.free_fraction * self.seconds * change)
            # the joints' part decreases at least as fast as the linear response of the soft bodies allows
            over = self._equations.slope_at(posed, self.q, self.u) - posed.start_slope - posed.curvature
            if over <= self.uphill * posed.curvature:
                break
            self.free_fraction *= max(self.shortest_backtrack, posed.curvature / (posed.curvature + over))
        # the full change, of which relaxation took a fraction
        self.moved = self.rate_change = self._farthest(before) / whole

    def _farthest(self, before: Vec) -> float:
        """Return the largest change of a position since `before`, (n, 3) [m]."""
        change = np.abs(self._x - before).max(axis=1)
        self._most = int(change.argmax())
        return float(change[self._most])

    def is_done(self, posed: S) -> bool:
        """Whether the remaining change of positions is within the tolerance, after at least two iterations."""
        self._goal = self._goal or self.limits.tolerance * (self.moved + EXTENT_FRACTION * self._equations.extent)
        # a step that is cut short has the rest of its change left, as far as contact permits
        self._remaining = remaining(self.moved, self.last) if self.free_fraction == 1.0 else np.inf
        if self.least_fraction <= self.free_fraction < 1.0:
            self._remaining = self.moved / self.free_fraction
        return self.count > 1 and self._remaining <= self._goal

    def next_iteration(self) -> None:
        """Evaluate the normal forces of friction at the present positions, in the first iterations."""
        if self.free_fraction == 1.0 and self.count <= self.lagged:
            self._equations.update_friction(self._x)

    def not_converged(self) -> State:
        """Return the present state where hardly any motion is left. Raises StepFailed, with the location, elsewhere."""
        if self._remaining <= self.negligible * self._equations.extent:
            return self.end
        if self.free_fraction < BLOCKED:
            at = nearest(self._equations.contact_forces(self._x))
            raise StepFailed(f"animated or jointed parts would be pressed{at} through something", None,
                             BLOCKED_REMEDY)
        where = in_words(self._x[self._most])
        raise StepFailed(f"rigid and soft bodies that touch did not converge in {self.count} iterations; positions "
                         f"near ({where}) m still change by {self.moved:.3g} m, {self._time:.6g} s",
                         self._equations.body_of(self._most), BLOCKED_REMEDY)


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
    """Bounded iterations of a stage of mostly quasistatic nodes, whose rates are those of their positions."""

    tries = 100  #: at least so many iterations: each ends where the first of its pairs would make contact
    true_within, retry = np.inf, 1.0
    least_fraction = BLOCKED
    visible = QUASISTATIC_FRACTION
    relaxes = False
