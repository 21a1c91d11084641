"""Revolute joint: a hinge."""

from __future__ import annotations

import math

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = R_z(q), S and Ṡ u of revolute joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        c, s = math.cos(q[first]), math.sin(q[first])
        pose[i, 0, 0], pose[i, 0, 1] = c, -s
        pose[i, 1, 0], pose[i, 1, 1] = s, c
        subspace[first, 2] = 1.0


class Revolute:
    """Joint that rotates about Z of its frame: one angle."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
