"""A hinge."""

from __future__ import annotations

import math

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, place, subspace, bend):  # type: ignore[no-untyped-def]
    """Q = R_z(q)."""
    for i in bodies:
        first = dof[i]
        c, s = math.cos(q[first]), math.sin(q[first])
        place[i, 0, 0], place[i, 0, 1] = c, -s
        place[i, 1, 0], place[i, 1, 1] = s, c
        subspace[first, 2] = 1.0


class Revolute:
    """Turns about Z of its frame: one angle."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
