"""Prismatic joint: a slider."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = T_z(q), S and Ṡ u of prismatic joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        pose[i, 2, 3] = q[first]
        subspace[first, 5] = 1.0


class Prismatic:
    """Joint that slides along Z of its frame: one length."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
