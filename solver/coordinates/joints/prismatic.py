"""A slider."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, place, subspace, bend):  # type: ignore[no-untyped-def]
    """Q = T_z(q)."""
    for i in bodies:
        first = dof[i]
        place[i, 2, 3] = q[first]
        subspace[first, 5] = 1.0


class Prismatic:
    """Slides along Z of its frame: one length."""

    centre: tuple[float, ...] = ()
    fill = staticmethod(fill)
