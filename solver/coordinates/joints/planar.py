"""Planar joint: a puck on a table."""

from __future__ import annotations

import math

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = T(q₁, q₂, 0) R_z(q₀), S and Ṡ u of planar joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        c, s = math.cos(q[first]), math.sin(q[first])
        pose[i, 0, 0], pose[i, 0, 1] = c, -s
        pose[i, 1, 0], pose[i, 1, 1] = s, c
        pose[i, 0, 3], pose[i, 1, 3] = q[first + 1], q[first + 2]
        subspace[first, 2] = 1.0
        subspace[first + 1, 3], subspace[first + 1, 4] = c, -s
        subspace[first + 2, 3], subspace[first + 2, 4] = s, c
        rate, x, y = u[first], u[first + 1], u[first + 2]
        bend[i, 3], bend[i, 4] = rate * (c * y - s * x), -rate * (c * x + s * y)


class Planar:
    """Joint that slides along X and Y of its frame and rotates about Z: an angle and two lengths."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
