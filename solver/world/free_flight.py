"""Exact motion of the centres of mass of free bodies with quasistatic nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..nonlinear.problem import StageProblem
from ..parts.stage import NodeStage
from ..state import Index, State, Vec
from .soft_bodies import SoftBodies

#: largest rotation of a body by its relaxation to equilibrium within a stage [rad]: a cube of 1 m that snaps into
#: another equilibrium rotates by 3 to 11 degrees, a block after a hard impact by 2.6 as it follows dynamic nodes
LARGEST_ROTATION = np.radians(3.0)


def restore_centres(soft: SoftBodies, parts: Sequence[Index], after: State, stage: NodeStage,
                    start: State) -> tuple[State, float]:
    """Return a stage's end with corrected centres of mass of free bodies, and the largest rotation by relaxation [rad].

    The centres move by momentum. Without correction, a relaxation in which quasistatic nodes snap into another shape
    preserves the dynamic nodes instead. The rotation is relative to the motion by velocities. parts: nodes of each
    component without prescribed nodes; components in contact are not changed.
    """
    base, rotated = start.q if stage.base is None else stage.base, 0.0
    x, predicted = (soft.coordinates.positions(q, stage.time) for q in (after.q, base + stage.b * stage.h * after.u))
    touching = soft.touching(after)
    for part in parts:
        if not len(np.intersect1d(part, touching)):
            weight = soft.mass[part] / soft.mass[part].sum()
            x[part] -= weight @ (x[part] - predicted[part])
            rotated = max(rotated, angle_between(predicted[part], x[part], weight))
    return replace(after, q=x[soft.coordinates.free].ravel()), rotated


def angle_between(before: Vec, after: Vec, weight: Vec) -> float:
    """Return the angle of the best-fit rotation between two sets of points [rad].

    before, after: (m, 3) [m]. weight: weights of the points with a sum of 1, (m,).
    """
    one, other = (x - weight @ x for x in (before, after))
    left, _, right = np.linalg.svd(one.T @ (weight[:, None] * other))
    sign = np.sign(np.linalg.det(left @ right))
    rotation = left @ np.diag([1.0, 1.0, sign]) @ right
    # with the sine as well: a cosine near 1 does not resolve small angles
    axis = 0.5 * np.array([rotation[1, 2] - rotation[2, 1], rotation[2, 0] - rotation[0, 2],
                           rotation[0, 1] - rotation[1, 0]])
    return float(np.arctan2(np.linalg.norm(axis), 0.5 * (np.trace(rotation) - 1.0)))


def free_bodies_at(soft: SoftBodies, floating: list[Index], problem: StageProblem, unknowns: Vec) -> list[Index]:
    """Return the unconstrained components without contact at a stage's unknowns, as the nodes of each.

    floating: nodes of each unconstrained component.
    """
    if not floating:
        return []
    x = problem.positions_at(unknowns)
    touching = np.zeros(len(soft.mass), dtype=bool)
    touching[soft.touching_at(x, problem.stage.time)] = True
    return [part for part in floating if not touching[part].any()]
