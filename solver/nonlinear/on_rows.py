"""Projection of a stage's end onto its hard constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..constraints.enforcement.hard import Hard
from ..constraints.enforcement.interface import RowSystem
from ..constraints.points.rows import PointRows
from ..state import Vec
from .problem import StageProblem

MANY = 200  #: number of rows above which their response costs more than a factor
SATISFIED = 1.0e-12  #: relative to the size of the whole: smaller errors of rows are left
ROUNDS = 3  #: iterations of Newton's method


class Constraint(Protocol):
    """Protocol of a constraint between nodes that may be hard."""

    def is_hard(self, time: float) -> bool:
        """Whether all rows have to vanish at a time [s]."""

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return all rows of the constraint at positions (n, 3) [m] and a time [s]."""


def on_rows(problem: StageProblem, unknowns: Vec, constraints: Sequence[Constraint]) -> Vec:
    """Return positions of all nodes, (n, 3) [m], nearest to those of the stage's end that satisfy hard constraints, in
    the metric of the last factored matrix. unknowns: velocities at the end, (3 p,) [m/s], which are not changed.

    The positions stay as they are where the projected ones would be in contact with anything, or where constraints
    contradict each other.
    """
    time, x = problem.stage.time, problem.positions(problem.velocities(unknowns))
    hard = [constraint for constraint in constraints if constraint.is_hard(time)]
    seconds, size = problem.stage.b * problem.stage.h, float(np.ptp(x, axis=0).max())
    columns = (3 * problem.order[:, None] + np.arange(3)).ravel()
    if not hard:
        return x
    for _ in range(ROUNDS):
        tables = [constraint.rows(x, time) for constraint in hard]
        value = np.concatenate([np.where(table.one_sided, np.maximum(table.value, 0.0), table.value)
                                for table in tables])
        if len(value) > MANY or float(np.abs(value).max()) <= SATISFIED * size:
            break
        J = sp.csr_array(sp.vstack([table.jacobian(len(x)) for table in tables]).tocsc()[:, columns])
        system = RowSystem(problem.system.matrix, np.zeros(len(unknowns)), problem.system.linear.solve, J, value,
                           seconds, problem.stage.a * problem.stage.h)
        try:
            moved = x + problem.displacement(Hard().solve(system, np.zeros(len(value))).v)
        except ValueError:
            break
        if not np.isfinite(moved).all() or problem.physics.largest_step(x, moved) < 1.0:
            break
        x = moved
    return x
