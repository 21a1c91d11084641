"""The chart of a rotation: exponential coordinates about a centre, which is moved along between steps."""

from __future__ import annotations

import numpy as np

from ...state import Mask, Vec
from .rotations import jacobian, logarithm, product, quaternion

FAR = 1.0  #: [rad]; the chart ends at 2π, and a step may turn by what lies between


class MovingChart:
    """For joints whose first three coordinates are r of R = R_c exp([r]); the others need no chart.

    The centre R_c is a quaternion (w, x, y, z).
    """

    centre = (1.0, 0.0, 0.0, 0.0)

    def is_far(self, q: Vec) -> Mask:
        """Which of the joints (k,) are more than FAR from their centre; q (k, d)."""
        r = q[:, :3]
        far: Mask = (r * r).sum(axis=1) > FAR * FAR
        return far

    def recentred(self, q: Vec, centre: Vec) -> Vec:
        """R_c exp([r]), (k, 4)."""
        turn = product(centre, quaternion(q[:, :3]))
        out: Vec = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        return out

    def carry(self, q: Vec, u: Vec, old: Vec, new: Vec) -> tuple[Vec, Vec]:
        """The same rotations and angular velocities about `new` centres (k, 4); nearer than half a turn to them."""
        back = new * np.array([1.0, -1.0, -1.0, -1.0])
        there, rate = q.copy(), u.copy()
        there[:, :3] = logarithm(product(back, product(old, quaternion(q[:, :3]))))
        omega = jacobian(q[:, :3]) @ u[:, :3, None]
        rate[:, :3] = np.linalg.solve(jacobian(there[:, :3]), omega)[:, :, 0]
        return there, rate
