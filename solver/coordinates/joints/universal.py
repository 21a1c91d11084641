"""Universal joint: two crossed hinges, a shaft that bends and does not twist."""

from __future__ import annotations

import math

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = R_x(q₀) R_y(q₁), S and Ṡ u of universal joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        ca, sa = math.cos(q[first]), math.sin(q[first])
        cb, sb = math.cos(q[first + 1]), math.sin(q[first + 1])
        pose[i, 0, 0], pose[i, 0, 1], pose[i, 0, 2] = cb, 0.0, sb
        pose[i, 1, 0], pose[i, 1, 1], pose[i, 1, 2] = sa * sb, ca, -sa * cb
        pose[i, 2, 0], pose[i, 2, 1], pose[i, 2, 2] = -ca * sb, sa, ca * cb
        subspace[first, 0], subspace[first, 2] = cb, sb
        subspace[first + 1, 1] = 1.0
        bend[i, 0], bend[i, 2] = -sb * u[first] * u[first + 1], cb * u[first] * u[first + 1]


class Universal:
    """Joint of a shaft along Z that rotates about X of its frame and then about the Y that rotated with it: two angles.
    """

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
