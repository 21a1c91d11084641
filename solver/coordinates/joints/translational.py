"""Translational joint: it slides in every direction without rotation."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = T(q), S and Ṡ u of translational joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        for axis in range(3):
            pose[i, axis, 3] = q[first + axis]
            subspace[first + axis, 3 + axis] = 1.0


class Translational:
    """Joint that slides along X, Y and Z of its frame without rotation: three lengths."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
