"""Cylindrical joint: a rod in a sleeve."""

from __future__ import annotations

import math

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = T_z(q₁) R_z(q₀), S and Ṡ u of cylindrical joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        c, s = math.cos(q[first]), math.sin(q[first])
        pose[i, 0, 0], pose[i, 0, 1] = c, -s
        pose[i, 1, 0], pose[i, 1, 1] = s, c
        pose[i, 2, 3] = q[first + 1]
        subspace[first, 2] = 1.0
        subspace[first + 1, 5] = 1.0


class Cylindrical:
    """Joint that rotates about Z of its frame and slides along it: an angle and a length."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
