"""A ball in a socket."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL
from .moving_chart import MovingChart
from .rotations import fill_rotation


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, place, subspace, bend):  # type: ignore[no-untyped-def]
    """Q = R_c exp([q])."""
    for i in bodies:
        first = dof[i]
        fill_rotation(i, first, q, u, start[i], centres, place, subspace, bend)


class Spherical(MovingChart):
    """Turns every way about its frame's origin: three angles, exponential coordinates about a centre."""

    fill = staticmethod(fill)
