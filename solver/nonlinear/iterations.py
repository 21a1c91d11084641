"""Fixed-point and Newton iterations of stages without a merit function: joints, ConJac with a factor per iteration,
soft bodies coupled to joints, and these in contact.

Each iteration linearises the stage at the last iterate. Velocity-dependent inertia and constraint forces have no
potential, and the residual of condensed velocities is known only after K is factored: a line search has no merit. So
each change is relaxed by Aitken's method from the last two, or bounded by contact (`bounded`). `FixedPointStage`
iterates without a factor of its own, and without J.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Evaluate
from ..parts.stage import StageShape
from ..state import State, Vec
from .anderson import Anderson
from .limits import Progress, StopRule, remaining

TRUE_STIFFNESS_FROM = 0.3  #: relative to the largest change: true stiffness is tried below it
SHORTEST = 1.0 / 64.0  #: smallest relaxation factor
FASTEST = 1.0e7  #: rate beyond which iterations have diverged [rad/s or m/s]
BALANCE_STEPS = 2  #: quasi-Newton steps towards equilibrium after each solve
EXTENT_FRACTION = 1.0e-3  #: relative to the extent: scale of the tolerance if a stage changes less


class PosedStage(Protocol):
    """Protocol of a linearised stage."""

    @property
    def tree_stage(self) -> Any:
        """Return the stage of the joints, None without joints."""


class PosedVelocities(PosedStage, Protocol):
    """Protocol of a linearised stage of nodes, possibly with joints."""

    def solve(self) -> Vec:
        """Return rates at the stage's end, (m,) [m/s, rad/s]. Raises StepFailed, NotPositiveDefinite."""


class SolvedRates(PosedStage, Protocol):
    """Protocol of a linearised stage of joints with its solution."""

    rates: Vec  #: at the stage's end, (m,) [m/s, rad/s]

    def correction(self, u: Vec) -> Vec:
        """Return the position correction at the new rates u (m,), as a rate that is added to u in positions alone,
        (m,)."""

    def rounding(self, u: Vec) -> float:
        """Return the smallest significant change of rates u (m,) [m/s, rad/s]."""


class PosedCondensed(PosedVelocities, Protocol):
    """Protocol of a linearised stage of dynamic nodes with condensed quasistatic ones, possibly with joints."""

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Return coordinates (m_q,) nearer to the equilibrium of the quasistatic nodes than q (m_q,), at rates u (m,).
        evaluate: forces and their energy. corrections: number of quasi-Newton steps, None for the part's own."""


T = TypeVar("T", bound=PosedStage)


class Relaxation:
    """Aitken's relaxation of changes of rates: a factor from the last two changes."""

    converging = 0.5  #: relative to the last change: iterations that decrease by this factor need no relaxation

    def __init__(self) -> None:
        self.relaxation, self.last = 1.0, np.inf
        self._change: Vec = np.zeros(0)

    def forget_last(self) -> None:
        """Discard the size of the last change where it does not predict that of the next."""
        self.last = np.inf

    def restarted(self) -> Relaxation:
        """Return a relaxation without history that starts with the present relaxation factor."""
        other = Relaxation()
        other.relaxation = self.relaxation
        return other

    def follow(self, size: float, change: Vec) -> None:
        """Update the relaxation factor after a change of rates (m,), of which the present factor was taken. size: of
        the change."""
        best = 1.0 if size < self.converging * self.last else _aitken_fraction(self.relaxation, self._change, change)
        self.relaxation, self.last, self._change = min(1.5 * self.relaxation, best), size, change


def _aitken_fraction(relaxation: float, before: Vec, now: Vec) -> float:
    """Return the fraction of the last change that would have left no residual, from the last two changes, of which the
    fraction `relaxation` was taken.

    A change that repeats its direction, as on the path out of a buckling shape, is taken in full; one that reverses it
    overshot.
    """
    difference = now - before
    best = -relaxation * float(before @ difference) / max(float(difference @ difference), float(np.finfo(float).tiny))
    return min(max(best, SHORTEST), 1.0) if best > 0.0 else 1.0


class Stiffness:
    """Choice of the K of each iteration: the projected one converges safely from far away, the true one finishes near
    the root.

    true_within: fraction of the largest change below which the true one is tried; 0 never. tolerated: iterations with
    the true one, after its first, that may change more than the one before. retry: factor by which `true_within`
    shrinks after more; 0: the true one is not tried again in this stage.
    """

    def __init__(self, true_within: float, tolerated: int, retry: float) -> None:
        self.is_true = False
        self._true_within, self._tolerated, self._retry = true_within, tolerated, retry
        self._worse, self._last = 0, np.inf

    def refuse(self) -> None:
        """Return to the projected K because the true one is indefinite or has diverged."""
        self.is_true, self._worse, self._true_within = False, 0, self._retry * self._true_within

    def follow(self, moved: float, rate_change: float, largest: float, first_change: float) -> bool:
        """Select the K of the next iteration; return whether it switches. moved: change of the last iteration.
        rate_change: the part of it by rates alone. largest: the largest change so far. first_change: that of the first
        iteration by rates."""
        was_true, floor = self.is_true, TRUE_STIFFNESS_FROM * first_change if self._tolerated else 0.0
        if was_true:
            self._worse += rate_change > max(self._last, floor)
            if self._worse > self._tolerated:
                self.refuse()
        self.is_true = self.is_true or moved < self._true_within * largest
        switches = was_true != self.is_true
        self._last = np.inf if switches and self._tolerated else rate_change
        return switches


class Iterations(Generic[T]):
    """Iterations that solve M (u − û) = a h f(q, u), q = base + b h u, from the rates of `start`."""

    tries = 0  #: at least so many iterations, whatever the stop rule
    patience = 20  #: iterations on one stiffness within which changes at least halve if a root exists
    most = sys.float_info.max  #: larger changes have diverged
    true_within, tolerated, retry = TRUE_STIFFNESS_FROM, 1, 0.0  #: arguments of `Stiffness`
    least_fraction = 1.0  #: fraction of a change: one that is cut shorter is followed by projected stiffness

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], T], stage: StageShape, start: State,
                 limits: StopRule) -> None:
        """pose_at: linearises at coordinates (m_q,) and rates (m,), with K projected to negative semi-definite where
        the last argument is true. Raises NotPositiveDefinite."""
        self._pose_at, self._time, self._memory, self.limits = pose_at, stage.time, start.memory, limits
        self.base, self.seconds = start.q if stage.base is None else stage.base, stage.b * stage.h
        self.u = start.u
        self.q: Vec = self.base + self.seconds * self.u
        self.stiffness = Stiffness(self.true_within, self.tolerated, self.retry)
        #: by an iteration [m]; by its rates alone; the largest so far
        self.moved = self.rate_change = self.largest = 0.0
        self.free_fraction = 1.0  #: fraction of the last change that nothing blocked
        self.last = 0.0  #: change of the iteration before, 0 where that was blocked
        self.count = 0  #: iterations so far
        self.posed: T | None = None  #: stage of the last iteration

    def solve_stage(self) -> State:
        """Return the state at the stage's end. Raises StepFailed where the iterations do not converge."""
        relaxed, changes, first_change = Relaxation(), list[float](), 0.0
        while self.count < max(self.limits.iterations, self.tries):
            self.count += 1
            try:
                self.posed = posed = self.pose()
                rates = self.solve(posed)
                change = rates - self.u
                self.take(posed, rates, change, relaxed.relaxation)
            except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
                if not self.stiffness.is_true:
                    raise StepFailed("the system matrix is not positive definite") from failure
                self.stiffness.refuse()
                changes.clear()
                continue
            if self.moved > self.largest:
                self.largest = self.moved
            first_change = first_change or self.rate_change
            if self.is_done(posed):
                return self.end
            changes.append(self.moved)
            # convergence would take more iterations than are left, or alternates between two shapes for ever
            k = self.patience
            has_stalled = len(changes) > k and min(changes[-k:]) > 0.5 * min(changes[:-k])
            if has_stalled or not self.moved <= self.most:
                break
            if self.free_fraction < self.least_fraction:
                self.stiffness.is_true = False
                relaxed.forget_last()
            else:
                switches = self.stiffness.follow(self.moved, self.rate_change, self.largest, first_change)
                relaxed.follow(self.rate_change, change)
                if switches:
                    # changes with one stiffness do not predict those with another
                    relaxed = relaxed.restarted() if self.stiffness.is_true else Relaxation()
                    changes.clear()
            self.last = self.moved if self.free_fraction == 1.0 else 0.0
            self.next_iteration()
        return self.not_converged()

    @property
    def end(self) -> State:
        """Return the state at the current iterate."""
        tree_stage = None if self.posed is None else self.posed.tree_stage
        return State(self._time, self.q, self.u, self._memory, tree_stage=tree_stage)

    def pose(self) -> T:
        """Return the stage linearised at the current iterate. Raises NotPositiveDefinite."""
        return self._pose_at(self.q, self.u, not self.stiffness.is_true)

    def solve(self, posed: T) -> Vec:
        """Return the rates at the end of a linearised stage, (m,) [m/s, rad/s]. Raises StepFailed,
        NotPositiveDefinite."""
        raise NotImplementedError

    def take(self, posed: T, rates: Vec, change: Vec, relaxation: float) -> None:
        """Move to the rates `rates`, (m,), or by the fraction `relaxation` of the change towards them, (m,)."""
        raise NotImplementedError

    def is_done(self, posed: T) -> bool:
        """Whether the remaining error of the iterate is within the tolerance."""
        raise NotImplementedError

    def next_iteration(self) -> None:
        """Prepare another iteration; nothing by default."""

    def not_converged(self) -> State:
        """Return the state of a stage that may be accepted without convergence. Raises StepFailed."""
        raise NotImplementedError


class Rates(Iterations[SolvedRates]):
    """Newton's method for M_r(q) (u − û) = a h f_r(q, u), q = base + b h u.

    The matrix is the semi-implicit step's, evaluated in each iteration: a tree's factor costs no more than a solve with
    it. The derivatives of M_r, J and the quadratic velocities with q and u are left out, so it stays symmetric: the
    error shrinks by about h |ω| in each iteration, or as relaxation makes it. Sizes are those of rates. [Thesis 3.6]
    """

    most, true_within = FASTEST, 0.0

    def __init__(self, solve_at: Callable[[Vec, Vec], SolvedRates], stage: StageShape, start: State, limits: StopRule,
                 name: str) -> None:
        """solve_at: linearises at coordinates (m_q,) and rates (m,), and solves. name: of the joints, for the error
        message."""
        super().__init__(lambda q, u, _: solve_at(q, u), stage, start, limits)
        self._name = name

    def solve(self, posed: SolvedRates) -> Vec:
        """Return the rates of a solved stage, (m,) [m/s, rad/s]."""
        return posed.rates

    def take(self, posed: SolvedRates, rates: Vec, change: Vec, relaxation: float) -> None:
        """Move by the fraction `relaxation` of the change of rates, (m,), with the position correction at the new
        rates."""
        self.moved = self.rate_change = float(np.abs(change).max(initial=0.0))
        self.u = rates if relaxation == 1.0 else self.u + relaxation * change
        self.q = self.base + self.seconds * (self.u + posed.correction(self.u))

    def is_done(self, posed: SolvedRates) -> bool:
        """Whether the change is below the tolerance relative to the largest one, or below rounding."""
        return self.moved <= max(self.limits.tolerance * self.largest, posed.rounding(self.u))

    def not_converged(self) -> State:
        """Raise StepFailed with the number of iterations."""
        raise StepFailed(f"{self._name} did not converge in {self.count} iterations")


class Coupled(Iterations[PosedCondensed]):
    """Iterations that solve for velocities v = J(x) v_d + w with Jᵀ (M (v − v̂) − a h (f(x) + D v)) = 0, and positions
    x in which the quasistatic nodes are in equilibrium.

    Each iteration linearises the stage at the last positions, with a factor of its own, then relaxes the quasistatic
    nodes. J of the true and of the projected stiffness have different roots, and alternating would find neither: the
    true one is tried once. The iterations end where coordinates change by less than the tolerance times the first
    change plus 1e-3 of the extent. [ConJac 11, changed: iterated]
    """

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], PosedCondensed], evaluate: Evaluate, stage: StageShape,
                 start: State, limits: StopRule, extent: float, name: str = "dynamic nodes and balance") -> None:
        """evaluate: returns forces and their energy. extent: of the body [m]. name: of the unknowns, for the error
        message."""
        super().__init__(pose_at, stage, start, limits)
        self._evaluate, self._extent, self._name = evaluate, extent, name
        self._offset = np.zeros_like(self.base)
        self._first = self._goal = 0.0

    def solve(self, posed: PosedCondensed) -> Vec:
        """Return the rates at the end of a linearised stage, (m,) [m/s, rad/s]. Raises StepFailed,
        NotPositiveDefinite."""
        return posed.solve()

    def take(self, posed: PosedCondensed, rates: Vec, change: Vec, relaxation: float) -> None:
        """Move by the fraction `relaxation` of the change of rates, (m,), then relax the quasistatic nodes."""
        # the correction of quasistatic nodes carries over to the next iteration
        u = self.u + relaxation * change
        moved = self.base + self.seconds * u + self._offset
        settled = posed.relax(moved, u, self._evaluate, BALANCE_STEPS)
        self.u, self.q, self._offset = u, settled, self._offset + (settled - moved)
        self.rate_change = self.seconds * float(np.abs(change).max(initial=0.0))
        self.moved = max(self.rate_change, float(np.abs(self.q - moved).max(initial=0.0)))

    def is_done(self, posed: PosedCondensed) -> bool:
        """Whether the change of coordinates is within the tolerance, relative to the first change and to the extent."""
        self._goal = self._goal or self.limits.tolerance * (self.moved + EXTENT_FRACTION * self._extent)
        self._first = self._first or self.moved
        self.largest = self._first  # a change that grows from there on is no nearer
        return self.moved <= self._goal

    def not_converged(self) -> State:
        """Raise StepFailed with the number of iterations and the last change of positions."""
        raise StepFailed(f"{self._name} did not converge in {self.count} iterations; "
                         f"positions still change by {self.moved:.3g} m")


class CoupledOnReusedFactor(Coupled):
    """`Coupled` iterations of a stage without quasistatic nodes, on a factor of several stages.

    The stiffness is the true one where that is definite; it is refactored where as many iterations as that costs would
    not converge. Changes are combined by Anderson acceleration, since there is no merit for QLB's secant pairs.
    [Thesis 5.4.1]
    """

    fixed_point_fraction = 0.1  #: tolerance of fixed-point iterations relative to that of Newton's method
    #: largest tolerance of fixed-point iterations relative to the first change; Newton's next iteration would square it
    fixed_point_tolerance = 0.01
    true_within = np.inf

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], PosedCondensed],
                 on_last_factor: Callable[[Vec, Vec], PosedCondensed | None],
                 changes: Anderson, evaluate: Evaluate, stage: StageShape, start: State, limits: StopRule,
                 extent: float, name: str) -> None:
        """on_last_factor: linearises at coordinates and rates on the last factor; None where that is not valid.
        changes: Anderson acceleration, with the differences of earlier stages on that factor."""
        limits = replace(limits, tolerance=min(limits.tolerance, self.fixed_point_tolerance))
        super().__init__(pose_at, evaluate, stage, start, limits, extent, name)
        self._on_last_factor: Callable[[Vec, Vec], PosedCondensed | None] = on_last_factor
        self._changes, self._progress = changes, Progress(limits.tolerance, limits.patience)
        self.stiffness.is_true = self._reuses_factor = True
        changes.start()

    def pose(self) -> PosedCondensed:
        """Return the stage linearised on the last factor while that serves, else on a new one. Raises
        NotPositiveDefinite."""
        posed = self._on_last_factor(self.q, self.u) if self._reuses_factor else None
        if posed is None:
            posed = super().pose()
            self._progress.restart()
            self._changes.clear()
        self._reuses_factor = True
        return posed

    def take(self, posed: PosedCondensed, rates: Vec, change: Vec, relaxation: float) -> None:
        """Move to the rates that Anderson acceleration derives from the change of rates, (m,)."""
        self.u = self._changes.next(self.u, change, len(change))
        self.q = self.base + self.seconds * self.u
        self.moved = self.rate_change = self.seconds * float(np.abs(change).max(initial=0.0))

    def is_done(self, posed: PosedCondensed) -> bool:
        """Whether the change that fixed-point iterations leave is within a fraction of the tolerance."""
        done = super().is_done(posed)
        # Newton's iteration squares the change, a fixed-point iteration leaves a fraction of it
        return done and (remaining(self.moved, self.last) if self.count > 1
                         else self.moved) <= self.fixed_point_fraction * self._goal

    def next_iteration(self) -> None:
        """Select a new factor for the next iteration where convergence on the last one is slow or changes grow."""
        grew = not self._progress.fresh and self.moved > self.largest
        self._reuses_factor = not (self._progress.is_slow(self.moved / self.largest) or grew)
