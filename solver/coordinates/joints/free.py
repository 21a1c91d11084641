"""Free joint: a body that is not attached to anything."""

from __future__ import annotations

from ...threads import kernel
from .interface import JOINT_KERNEL
from .moving_chart import MovingChart
from .rotations import cross3, fill_rotation


@kernel(JOINT_KERNEL)
def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write Q = T(q₃, q₄, q₅) R_c exp([q₀, q₁, q₂]), S and Ṡ u of free joints; the arguments are those of JOINT_KERNEL.
    """
    for i in bodies:
        first = dof[i]
        fill_rotation(i, first, q, u, start[i], centres, pose, subspace, bend)
        # S of the lengths is Rᵀ, and its rate −[ω] Rᵀ
        sx, sy, sz = 0.0, 0.0, 0.0
        wx, wy, wz = 0.0, 0.0, 0.0
        for axis in range(3):
            pose[i, axis, 3] = q[first + 3 + axis]
            for b in range(3):
                subspace[first + 3 + axis, 3 + b] = pose[i, axis, b]
            sx += pose[i, axis, 0] * u[first + 3 + axis]
            sy += pose[i, axis, 1] * u[first + 3 + axis]
            sz += pose[i, axis, 2] * u[first + 3 + axis]
            wx += subspace[first + axis, 0] * u[first + axis]
            wy += subspace[first + axis, 1] * u[first + axis]
            wz += subspace[first + axis, 2] * u[first + axis]
        bend[i, 3], bend[i, 4], bend[i, 5] = cross3(sx, sy, sz, wx, wy, wz)


class Free(MovingChart):
    """Joint that permits every motion: three angles as of a spherical joint, then three lengths along its frame's axes.
    """

    fill = staticmethod(fill)
