"""A stage with condensed velocities, solved to a tolerance: what is dynamic and what balances are iterated at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..condensation.interface import Evaluate, Stage
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..state import State, Vec
from .limits import Limits


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
NEAR = 0.3  #: of the first change of positions: from there on the true stiffness is tried
SHORTEST = 1.0 / 64.0  #: share of an iteration that is taken where the next one is no smaller


def reach(pose_at: PoseAt, evaluate: Evaluate, stage: Stage, start: State, limits: Limits, extent: float,
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
    first = last = change = np.inf
    share, stiffness = 1.0, FAR
    for _ in range(limits.iterations):
        # far away the projected stiffness leads safely, near the root the true one to the end. It is asked for once in
        # a stage: J of either has a root of its own, and going back and forth would find neither
        if stiffness == FAR and last < NEAR * first:
            stiffness, last = TRUE, np.inf
        try:
            posed = pose_at(q, u, stiffness != TRUE)
            ahead = posed.solve() - u
            # what the last iteration settled is where this one begins to
            moved = base + reached * (u + share * ahead) + offset
            settled = posed.settle(moved, u + share * ahead, evaluate, SETTLE)
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            if stiffness != TRUE:
                raise StepFailed("the system matrix is not positive definite") from failure
            stiffness = PROJECTED
            continue
        u, q, offset = u + share * ahead, settled, offset + (settled - moved)
        change = float(max(reached * np.abs(ahead).max(initial=0.0), np.abs(q - moved).max(initial=0.0)))
        first = change if first == np.inf else first
        if change <= limits.tolerance * (first + 1.0e-3 * extent):
            return State(stage.time, q, u, start.memory)
        if not np.isfinite(change):
            break
        share = max(0.5 * share, SHORTEST) if change > last else min(1.0, 1.5 * share)
        last = change
    raise StepFailed(f"{who} did not agree in {limits.iterations} iterations; "
                     f"positions still change by {change:.3g} m")
