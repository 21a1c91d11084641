"""Spherical joint: a ball in a socket."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL
from .moving_chart import MovingChart
from .rotations import fill_rotation


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = R_c exp([q]), S and Ṡ u of spherical joints; the arguments are those of JOINT_KERNEL."""
    for i in bodies:
        first = dof[i]
        fill_rotation(i, first, q, u, start[i], centres, pose, subspace, bend)


class Spherical(MovingChart):
    """Joint that rotates in every direction about its frame's origin: three angles, exponential coordinates about a
    centre."""

    fill = staticmethod(fill)
