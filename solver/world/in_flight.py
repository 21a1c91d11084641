"""What flies goes on as its momentum has it, whatever balances inside of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..nonlinear.problem import StageProblem
from ..parts.stage import NodeStage
from ..state import Index, State, Vec
from .soft_bodies import SoftBodies

#: what balances may turn a body about its middle by within a stage [rad]: a cube of 1 m that snaps from one balance
#: into another is turned by 3 to 11 degrees, a block that has hit the ground hard by 2.6 as it follows dynamic nodes
ASTRAY = np.radians(3.0)


def flown(soft: SoftBodies, parts: Sequence[Index], after: State, stage: NodeStage,
          start: State) -> tuple[State, float]:
    """A stage's end with the middles of parts where their momentum brings them, and the largest angle [rad] by which
    one is turned against where its velocities bring it: what balances is led by dynamic nodes, and where it snaps into
    another shape these stay, and not the middle.

    parts: nodes of each that nothing prescribed holds; what something touches stays as it is.
    """
    base, turned = start.q if stage.base is None else stage.base, 0.0
    x, ahead = (soft.coordinates.place(q, stage.time) for q in (after.q, base + stage.b * stage.h * after.u))
    touching = soft.touching(after)
    for part in parts:
        if not len(np.intersect1d(part, touching)):
            weight = soft.mass[part] / soft.mass[part].sum()
            x[part] -= weight @ (x[part] - ahead[part])
            turned = max(turned, angle_between(ahead[part], x[part], weight))
    return replace(after, q=x[soft.coordinates.free].ravel()), turned


def angle_between(before: Vec, after: Vec, weight: Vec) -> float:
    """The angle of the rotation that fits best between two postures, (m, 3), weights (m,) of sum 1 [rad]."""
    one, other = (x - weight @ x for x in (before, after))
    left, _, right = np.linalg.svd(one.T @ (weight[:, None] * other))
    sign = np.sign(np.linalg.det(left @ right))
    turn = left @ np.diag([1.0, 1.0, sign]) @ right
    # by its sine as well: a cosine near one tells no small angle
    axis = 0.5 * np.array([turn[1, 2] - turn[2, 1], turn[2, 0] - turn[0, 2], turn[0, 1] - turn[1, 0]])
    return float(np.arctan2(np.linalg.norm(axis), 0.5 * (np.trace(turn) - 1.0)))


def flying_at(soft: SoftBodies, flying: list[Index], problem: StageProblem, unknowns: Vec) -> list[Index]:
    """Those of some parts that nothing holds, nodes of each, which nothing touches at a stage's unknowns."""
    if not flying:
        return []
    x = problem.positions(problem.velocities(unknowns))
    touching = np.zeros(len(soft.mass), dtype=bool)
    touching[soft.touching_at(x, problem.stage.time)] = True
    return [part for part in flying if not touching[part].any()]
