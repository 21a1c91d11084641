"""Exact momentum of free bodies where a stage was not solved to its root.

Internal forces of a body have no resultant and no moment, so resultant and moment of a stage's residual are missing
momentum. A superimposed rigid velocity restores it without a change of shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..coordinates.inertia import moments
from ..state import Index, Vec
from .problem import StageProblem


def with_exact_momentum(problem: StageProblem, unknowns: Vec, free_bodies: Sequence[Index]) -> Vec:
    """Return unknowns (3 p,) [m/s] with which each of the free bodies has its exact linear and angular momentum, to
    first order in the residual.

    free_bodies: nodes of each body, all of them unknowns.
    """
    if not free_bodies:
        return unknowns
    residual = np.zeros((len(problem.mass), 3))
    residual[problem.order] = problem.evaluate_once(unknowns).residual.reshape(-1, 3)
    v = problem.velocities(unknowns)
    x = problem.positions(v)
    for body in free_bodies:
        mass, lacking = problem.mass[body], -residual[body] / problem.stage.inertia
        arm = x[body] - mass @ x[body] / mass.sum()
        moment = arm.T @ lacking
        a, b, c = np.linalg.solve(moments(mass, arm), [moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2],
                                                       moment[0, 1] - moment[1, 0]])
        v[body] += lacking.sum(axis=0) / mass.sum() + arm @ np.array([[0.0, c, -b], [-c, 0.0, a], [b, -a, 0.0]])
    out: Vec = v[problem.order].ravel()
    return out
