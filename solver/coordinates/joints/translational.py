"""Slides every way."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, place, subspace, bend):  # type: ignore[no-untyped-def]
    """Q = T(q)."""
    for i in bodies:
        first = dof[i]
        for axis in range(3):
            place[i, axis, 3] = q[first + axis]
            subspace[first + axis, 3 + axis] = 1.0


class Translational:
    """Slides along X, Y and Z of its frame and does not turn: three lengths."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
