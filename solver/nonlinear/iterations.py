"""The one loop of stages that no merit leads: joints, ConJac on a factor each, flesh and bones, and what touches them.

Each iteration is a linearised stage where the last one ended. Quadratic velocities and what constraints push derive
from no potential, and velocities that follow dynamic nodes have a residual only once K is factored: a line search has
nothing to lower. So a share of each change is taken as the last two tell (Aitken's relaxation), or as far as nothing
meets (`bounded`). Iterations without a factor of their own are those of `KeptStage`, which ask for no J.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Evaluate
from ..parts.stage import StageShape
from ..state import State, Vec
from .anderson import Anderson
from .limits import Progress, StopRule, left

NEAR = 0.3  #: of the largest change: from there on the true stiffness is tried
PATIENCE = 20  #: iterations on one stiffness in which what changes is halved at least where there is a root
FAST = 0.5  #: of the change before: iterations that shrink so much need no smaller share
SHORTEST = 1.0 / 64.0  #: share of an iteration
FASTEST = 1.0e7  #: [rad/s or m/s]; a rate beyond it has blown up
SETTLE = 2  #: quasi-Newton steps towards balance after each solve
LEAVES = 0.1  #: of what may be left: what may where iterations are no Newton's
ROUGH = 0.01  #: of the first change: what they may leave at most, where Newton's next one squares more away
ALL = 1.0e-3  #: of the extent: changes of which tolerance is a share, where a stage changes less


class PosedStage(Protocol):
    """A linearised stage."""

    def solve(self) -> Vec:
        """Rates at the stage's end, (m,) [m/s, rad/s]. Raises StepFailed, NotPositiveDefinite."""


class PosedRates(PosedStage, Protocol):
    """That of joints."""

    def correction(self, u: Vec) -> Vec:
        """What coordinates still owe at the new rates u, as a rate that never enters rates, (m,)."""

    def rounding(self, u: Vec) -> float:
        """The smallest change of rates u that is one."""


class Settling(PosedStage, Protocol):
    """That of dynamic nodes which others follow, maybe with joints."""

    def settle(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Coordinates (m_q,) at these rates, nearer to the balance of what has no inertia of its own."""


T = TypeVar("T", bound=PosedStage)


class Relaxation:
    """The share of each change of rates that is taken, from the last two."""

    def __init__(self) -> None:
        self.share_taken, self.last = 1.0, np.inf
        self._way: Vec = np.zeros(0)

    def forget_last(self) -> None:
        """The last change is no guide to the next."""
        self.last = np.inf

    def anew(self) -> Relaxation:
        """One that has seen no change, with this one's share of the next."""
        other = Relaxation()
        other.share_taken = self.share_taken
        return other

    def follow(self, size: float, ahead: Vec) -> None:
        """Call with a change of rates (m,), of which the share was taken, and its size: sets the share of the next."""
        best = 1.0 if size < FAST * self.last else _right_share(self.share_taken, self._way, ahead)
        self.share_taken, self.last, self._way = min(1.5 * self.share_taken, best), size, ahead


def _right_share(share_taken: float, before: Vec, now: Vec) -> float:
    """The share of a change of rates that would have left nothing, from the last two, of which `share_taken` was.

    One that goes on, be it on its way out of a shape that buckles, is taken whole; one that turns back overshot.
    """
    turned = now - before
    best = -share_taken * float(before @ turned) / max(float(turned @ turned), float(np.finfo(float).tiny))
    return min(max(best, SHORTEST), 1.0) if best > 0.0 else 1.0


class Stiffness:
    """Which K an iteration stands on: far away the projected one leads safely, near the root the true one to the end.

    near: of the largest change, from where the true one is tried; 0 never. forgives: iterations on it, its first one
    besides, that may change more than the one before. again: where more do, of that distance, when it is tried again;
    0 not in this stage.
    """

    def __init__(self, near: float, forgives: int, again: float) -> None:
        self.is_true = False
        self._near, self._forgives, self._again = near, forgives, again
        self._worse, self._last = 0, np.inf

    def refuse(self) -> None:
        """The true one is not definite here, or has led astray."""
        self.is_true, self._worse, self._near = False, 0, self._again * self._near

    def follow(self, moved: float, led: float, largest: float, began: float) -> bool:
        """Call after an iteration with what it changed, by rates alone too, the largest change, and what the first
        one's rates changed: whether the next one stands on another stiffness."""
        was_true, floor = self.is_true, NEAR * began if self._forgives else 0.0
        if was_true:
            self._worse += led > max(self._last, floor)
            if self._worse > self._forgives:
                self.refuse()
        self.is_true = self.is_true or moved < self._near * largest
        switches = was_true != self.is_true
        self._last = np.inf if switches and self._forgives else led
        return switches


class Iterations(Generic[T]):
    """M (u − û) = a h f(q, u), q = base + b h u, on its way to its root from the rates of `start` on."""

    tries = 0  #: iterations at least, however few there may be
    patience = PATIENCE
    most = sys.float_info.max  #: changes beyond it have blown up
    near, forgives, again = NEAR, 1, 0.0  #: of `Stiffness`
    least_free = 1.0  #: share of a way: one that is stopped sooner stands on projected stiffness next

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], T], stage: StageShape, start: State,
                 limits: StopRule) -> None:
        """pose_at: linearised at coordinates and rates, with K negative semi-definite where the last argument says so.
        Raises NotPositiveDefinite."""
        self._pose_at, self._time, self._memory, self.limits = pose_at, stage.time, start.memory, limits
        self.base, self.seconds = start.q if stage.base is None else stage.base, stage.b * stage.h
        self.u = start.u
        self.q: Vec = self.base + self.seconds * self.u
        self.stiffness = Stiffness(self.near, self.forgives, self.again)
        self.moved = self.led = self.largest = 0.0  #: by an iteration [m]; of it by rates alone; the largest
        self.share_free = 1.0  #: of its way that nothing stopped
        self.last = 0.0  #: what the one before moved, 0 where that was stopped
        self.count = 0  #: iterations

    def reach(self) -> State:
        """The state at the stage's end. Raises StepFailed where iterations do not lead there."""
        relaxed, changes, began = Relaxation(), list[float](), 0.0
        while self.count < max(self.limits.iterations, self.tries):
            self.count += 1
            try:
                posed = self.pose()
                found = posed.solve()
                way = found - self.u
                self.take(posed, found, way, relaxed.share_taken)
            except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
                if not self.stiffness.is_true:
                    raise StepFailed("the system matrix is not positive definite") from failure
                self.stiffness.refuse()
                changes.clear()
                continue
            if self.moved > self.largest:
                self.largest = self.moved
            began = began or self.led
            if self.is_done(posed):
                return self.end
            changes.append(self.moved)
            # those left over would take more iterations than there are, or snap between two shapes for ever
            k = self.patience
            is_stuck = len(changes) > k and min(changes[-k:]) > 0.5 * min(changes[:-k])
            if is_stuck or not self.moved <= self.most:
                break
            if self.share_free < self.least_free:
                self.stiffness.is_true = False
                relaxed.forget_last()
            else:
                switches = self.stiffness.follow(self.moved, self.led, self.largest, began)
                relaxed.follow(self.led, way)
                if switches:
                    # the way on one stiffness says nothing about that on another
                    relaxed = relaxed.anew() if self.stiffness.is_true else Relaxation()
                    changes.clear()
            self.last = self.moved if self.share_free == 1.0 else 0.0
            self.go_on()
        return self.give_up()

    @property
    def end(self) -> State:
        """Where it stands."""
        return State(self._time, self.q, self.u, self._memory)

    def pose(self) -> T:
        """The stage linearised here. Raises NotPositiveDefinite."""
        return self._pose_at(self.q, self.u, not self.stiffness.is_true)

    def take(self, posed: T, found: Vec, way: Vec, share_taken: float) -> None:
        """Go to the rates that were found, (m,), or a share of the way to them."""
        raise NotImplementedError

    def is_done(self, posed: T) -> bool:
        """Whether what is left does not count."""
        raise NotImplementedError

    def go_on(self) -> None:
        """Called before another iteration."""

    def give_up(self) -> State:
        """Where it may be taken as it is. Raises StepFailed."""
        raise NotImplementedError


class Rates(Iterations[PosedRates]):
    """M_r(q) (u − û) = a h f_r(q, u), q = base + b h u, by Newton's method.

    The matrix is the semi-implicit step's, taken anew in each iteration: a tree's factor costs no more than a solve
    with it. How M_r, J and the quadratic velocities change with q and u is left out of it, so that it stays symmetric:
    what is left over shrinks by about h |ω| in each, or as relaxation makes it. Sizes are those of rates.
    [Thesis 3.6]
    """

    most, near = FASTEST, 0.0

    def __init__(self, pose_at: Callable[[Vec, Vec], PosedRates], stage: StageShape, start: State, limits: StopRule,
                 who: str) -> None:
        """who: is named where it fails."""
        super().__init__(lambda q, u, _: pose_at(q, u), stage, start, limits)
        self._who = who

    def take(self, posed: PosedRates, found: Vec, way: Vec, share_taken: float) -> None:
        self.moved = self.led = float(np.abs(way).max(initial=0.0))
        self.u = found if share_taken == 1.0 else self.u + share_taken * way
        self.q = self.base + self.seconds * (self.u + posed.correction(self.u))

    def is_done(self, posed: PosedRates) -> bool:
        return self.moved <= max(self.limits.tolerance * self.largest, posed.rounding(self.u))

    def give_up(self) -> State:
        raise StepFailed(f"{self._who} did not settle in {self.count} iterations")


class Coupled(Iterations[Settling]):
    """Velocities v = J(x) v_d + w with Jᵀ (M (v − v̂) − a h (f(x) + D v)) = 0, and positions x in which the
    quasistatic nodes balance.

    Each iteration is a linearised stage at the last positions, on a factor of its own, which then lets the quasistatic
    nodes settle. J of the true stiffness and of the projected one have a root each, and going back and forth would find
    neither: the true one is tried once. The iteration ends where coordinates change by the tolerance, as a share of the
    first change and of 1e-3 of the extent.
    [ConJac 11, changed: iterated]
    """

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], Settling], evaluate: Evaluate, stage: StageShape,
                 start: State, limits: StopRule, extent: float, who: str = "dynamic nodes and balance") -> None:
        """extent: of the body [m]. who: is named where it fails."""
        super().__init__(pose_at, stage, start, limits)
        self._evaluate, self._extent, self._who = evaluate, extent, who
        self._offset = np.zeros_like(self.base)
        self._first = self._goal = 0.0

    def take(self, posed: Settling, found: Vec, way: Vec, share_taken: float) -> None:
        # what the last iteration settled is where this one begins to
        u = self.u + share_taken * way
        moved = self.base + self.seconds * u + self._offset
        settled = posed.settle(moved, u, self._evaluate, SETTLE)
        self.u, self.q, self._offset = u, settled, self._offset + (settled - moved)
        self.led = self.seconds * float(np.abs(way).max(initial=0.0))
        self.moved = max(self.led, float(np.abs(self.q - moved).max(initial=0.0)))

    def is_done(self, posed: Settling) -> bool:
        self._goal = self._goal or self.limits.tolerance * (self.moved + ALL * self._extent)
        self._first = self._first or self.moved
        self.largest = self._first  # what grows from there on is no nearer
        return self.moved <= self._goal

    def give_up(self) -> State:
        raise StepFailed(f"{self._who} did not agree in {self.count} iterations; "
                         f"positions still change by {self.moved:.3g} m")


class Kept(Coupled):
    """The same where nothing balances, on a factor that serves several stages, of the true stiffness where that is
    definite: made anew where as many iterations as it is worth would not be enough. Changes are combined as those
    before tell, since no merit bends them as QLB's are. [Thesis 5.4.1]"""

    near = np.inf

    def __init__(self, pose_at: Callable[[Vec, Vec, bool], Settling], moved_on: Callable[[Vec, Vec], Settling | None],
                 changes: Anderson, evaluate: Evaluate, stage: StageShape, start: State, limits: StopRule,
                 extent: float, who: str) -> None:
        """moved_on: the stage at coordinates and rates on the last factor; None where that does not serve. changes: of
        stages before on it."""
        limits = replace(limits, tolerance=min(limits.tolerance, ROUGH))
        super().__init__(pose_at, evaluate, stage, start, limits, extent, who)
        self._moved_on: Callable[[Vec, Vec], Settling | None] = moved_on
        self._changes, self._progress = changes, Progress(limits.tolerance, limits.patience)
        self.stiffness.is_true = self._serves = True
        changes.start()

    def pose(self) -> Settling:
        posed = self._moved_on(self.q, self.u) if self._serves else None
        if posed is None:
            posed = super().pose()
            self._progress.restart()
            self._changes.clear()
        self._serves = True
        return posed

    def take(self, posed: Settling, found: Vec, way: Vec, share_taken: float) -> None:
        self.u = self._changes.next(self.u, way, len(way))
        self.q = self.base + self.seconds * self.u
        self.moved = self.led = self.seconds * float(np.abs(way).max(initial=0.0))

    def is_done(self, posed: Settling) -> bool:
        done = super().is_done(posed)
        # one on the matrix itself leaves the square of what it changed, this one a share
        return done and (left(self.moved, self.last) if self.count > 1 else self.moved) <= LEAVES * self._goal

    def go_on(self) -> None:
        grew = not self._progress.fresh and self.moved > self.largest
        self._serves = not (self._progress.is_slow(self.moved / self.largest) or grew)
