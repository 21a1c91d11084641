"""A stage of rates that no energy leads: linearised anew where each iteration ends, until rates do not change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..errors import StepFailed
from ..parts.interface import StageShape
from ..state import State, Vec
from .limits import StopRule
from .relaxation import Relaxation

FASTEST = 1.0e7  #: [rad/s or m/s]; a rate beyond it has blown up
PATIENCE = 20  #: iterations in which what a stage still changes should be halved at least


class Iterated(Protocol):
    """What an iteration asks of a linearised stage."""

    def solve(self) -> Vec:
        """Rates at the stage's end, (m,). Raises StepFailed."""

    def correction(self, u: Vec) -> Vec:
        """What coordinates still owe at the new rates u, as a rate that never enters rates, (m,)."""

    def rounding(self, u: Vec) -> float:
        """The smallest change of rates u that is one."""


def reach_rates(pose_at: Callable[[Vec, Vec], Iterated], stage: StageShape, start: State, limits: StopRule,
                who: str) -> tuple[State, int]:
    """The end of a stage: M_r(q) (u − û) = a h f_r(q, u), q = base + b h u, by Newton's method; and in how many
    iterations. Raises StepFailed where that takes too many. who: is named there.

    The matrix is the semi-implicit step's, taken anew in each iteration. How M_r, J and the quadratic velocities
    change with q and u is left out of it, so that it stays symmetric: what is left over shrinks by about
    h |ω| in each, or as relaxation makes it. A line search would have nothing to lower: quadratic velocities and
    what constraints push derive from no potential.
    [Thesis 3.6]
    """
    base = start.q if stage.base is None else stage.base
    u, reached, changes, relaxed = start.u, stage.b * stage.h, list[float](), Relaxation()
    q = base + reached * u
    for _ in range(limits.iterations):
        posed = pose_at(q, u)
        found = posed.solve()
        ahead = found - u
        changes.append(float(np.abs(ahead).max(initial=0.0)))
        u = found if relaxed.share == 1.0 else u + relaxed.share * ahead
        q = base + reached * (u + posed.correction(u))
        if changes[-1] <= max(limits.tolerance * max(changes), posed.rounding(u)):
            return State(stage.time, q, u, start.memory), len(changes)
        # those left over would take more iterations than there are
        slow = len(changes) > PATIENCE and changes[-1] > 0.5 * changes[-1 - PATIENCE]
        if slow or not changes[-1] <= FASTEST:
            break
        relaxed.follow(changes[-1], ahead)
    raise StepFailed(f"{who} did not settle in {len(changes)} iterations")
