"""A stage with condensed velocities, solved to a tolerance: what is dynamic and what balances are iterated at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Evaluate, StageShape
from ..state import State, Vec
from .limits import StopRule
from .relaxation import Relaxation


class Balancing(Protocol):
    """What an iteration asks of a linearised stage."""

    def solve(self) -> Vec:
        """Rates, (m,) [m/s, rad/s]."""

    def settle(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Coordinates (m_q,) at these rates, nearer to the balance of what has no inertia of its own."""


#: the stage linearised at coordinates q and rates u, with K negative semi-definite where the last argument says so.
#: Raises NotPositiveDefinite
PoseAt = Callable[[Vec, Vec, bool], Balancing]

FAR, TRUE, PROJECTED = range(3)  #: which stiffness a stage stands on
SETTLE = 2  #: quasi-Newton steps towards balance after each solve
NEAR = 0.3  #: of the first change of rates: from there on the true stiffness is tried
LOST = 1  #: iterations on the true stiffness that may grow and be far again
PATIENCE = 20  #: iterations on one stiffness in which what changes is halved at least where there is a root


def reach(pose_at: PoseAt, evaluate: Evaluate, stage: StageShape, start: State, limits: StopRule, extent: float,
          who: str = "dynamic nodes and balance") -> State:
    """The state at the end of a stage, from the rates of `start` on: velocities v = J(x) v_d + w with
    Jᵀ (M (v − v̂) − a h (f(x) + D v)) = 0, and positions x in which the quasistatic nodes balance. Raises StepFailed.

    Each iteration is a linearised stage at the last positions, on a factor of its own, which then lets the quasistatic
    nodes settle. extent: of the body [m]. who: is named where it fails. The iteration ends where coordinates change by
    the tolerance, as a share of the first change and of 1e-3 of the extent.
    [ConJac 11, changed: iterated]
    """
    base = start.q if stage.base is None else stage.base
    reached = stage.b * stage.h
    u, offset = start.u, np.zeros_like(base)
    q = base + reached * u
    first = change = largest = goal = np.inf
    relaxed, stiffness, worse, taken, changes = Relaxation(), FAR, 0, 0, list[float]()
    while taken < limits.iterations:
        taken += 1
        # far away the projected stiffness leads safely, near the root the true one to the end. It is asked for once in
        # a stage: J of either has a root of its own, and going back and forth would find neither
        if stiffness == FAR and change < NEAR * largest:
            stiffness, worse = TRUE, 0
            relaxed.forget_last()
            changes.clear()
        try:
            posed = pose_at(q, u, stiffness != TRUE)
            ahead = posed.solve() - u
            # what the last iteration settled is where this one begins to
            u_next = u + relaxed.share * ahead
            moved = base + reached * u_next + offset
            settled = posed.settle(moved, u_next, evaluate, SETTLE)
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            if stiffness != TRUE:
                raise StepFailed("the system matrix is not positive definite") from failure
            stiffness = PROJECTED
            changes.clear()
            continue
        u, q, offset = u_next, settled, offset + (settled - moved)
        far = reached * float(np.abs(ahead).max(initial=0.0))
        change = max(far, float(np.abs(q - moved).max(initial=0.0)))
        if first == np.inf:
            first, largest, goal = far, change, limits.tolerance * (change + 1.0e-3 * extent)
        if change <= goal:
            return State(stage.time, q, u, start.memory)
        changes.append(change)
        if not np.isfinite(change) or _is_stuck(changes):
            break
        worse += far > max(relaxed.last, NEAR * first)
        relaxed.follow(far, ahead)
        if stiffness == TRUE and worse > LOST:
            # pressed nearly to where it buckles, J of the true stiffness turns faster than an iteration follows
            stiffness, relaxed = PROJECTED, Relaxation()
            changes.clear()
    raise StepFailed(f"{who} did not agree in {taken} iterations; positions still change by {change:.3g} m")


def _is_stuck(changes: list[float]) -> bool:
    """Whether the last iterations came no nearer: what balances snaps between two shapes, and further ones are lost."""
    return len(changes) > PATIENCE and min(changes[-PATIENCE:]) > 0.5 * min(changes[:-PATIENCE])
