"""The momentum of what flies freely, exact where a stage was not solved to its root.

Forces inside a body have no sum and no moment. What a stage's residual has of them is momentum that velocities lack,
and a rigid motion on top gives it back without a change of shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..coordinates.inertia import moments
from ..state import Index, Vec
from .problem import StageProblem


def with_momentum(problem: StageProblem, unknowns: Vec, flying: Sequence[Index]) -> Vec:
    """Unknowns (3 p,) [m/s] with which each of these parts has its momentum, to first order of what was lacking.

    flying: nodes of each, all of them unknowns.
    """
    if not flying:
        return unknowns
    residual = np.zeros((len(problem.mass), 3))
    residual[problem.order] = problem.evaluated(unknowns).residual.reshape(-1, 3)
    v = problem.velocities(unknowns)
    x = problem.positions(v)
    for part in flying:
        mass, lacking = problem.mass[part], -residual[part] / problem.stage.inertia
        arm = x[part] - mass @ x[part] / mass.sum()
        moment = arm.T @ lacking
        a, b, c = np.linalg.solve(moments(mass, arm), [moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2],
                                                       moment[0, 1] - moment[1, 0]])
        v[part] += lacking.sum(axis=0) / mass.sum() + arm @ np.array([[0.0, c, -b], [-c, 0.0, a], [b, -a, 0.0]])
    out: Vec = v[problem.order].ravel()
    return out
