"""Chart of a rotation: exponential coordinates about a centre, which is moved along between steps."""

from __future__ import annotations

import math

import numpy as np

from ...state import Index, Mask, Vec
from ...threads import kernel
from .rotations import coefficients, cross3, jacobian, logarithm, product, quaternion

FAR = 1.0  #: [rad]; the chart ends at 2π, and a step may turn by what lies between


@kernel("void(i4[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1])")
def centre_charts(entries, centre_entries, q, u, centres):  # type: ignore[no-untyped-def]
    """Centre charts at the present rotations of their joints, in place: q = 0, ω = J(r) u and R_c exp([r]) replace q, u
    and R_c."""
    for k in range(entries.shape[0]):
        first, c = entries[k, 0], centre_entries[k, 0]
        x, y, z = q[first], q[first + 1], q[first + 2]
        square = x * x + y * y + z * z
        _, a, b, _, _ = coefficients(square)
        # J ṙ = ṙ − a r×ṙ + b r×(r×ṙ)
        px, py, pz = cross3(x, y, z, u[first], u[first + 1], u[first + 2])
        qx, qy, qz = cross3(x, y, z, px, py, pz)
        u[first] += b * qx - a * px
        u[first + 1] += b * qy - a * py
        u[first + 2] += b * qz - a * pz
        half = 0.5 * math.sqrt(square)
        scale = 0.5 * math.sin(half) / half if half > 1.0e-8 else 0.5
        w, vx, vy, vz = math.cos(half), scale * x, scale * y, scale * z
        cw, cx, cy, cz = centres[c], centres[c + 1], centres[c + 2], centres[c + 3]
        nw = cw * w - cx * vx - cy * vy - cz * vz
        nx = cw * vx + cx * w + cy * vz - cz * vy
        ny = cw * vy - cx * vz + cy * w + cz * vx
        nz = cw * vz + cx * vy - cy * vx + cz * w
        length = math.sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
        centres[c], centres[c + 1], centres[c + 2], centres[c + 3] = nw / length, nx / length, ny / length, nz / length
        q[first], q[first + 1], q[first + 2] = 0.0, 0.0, 0.0


class MovingChart:
    """Chart of joints whose first three coordinates are r of R = R_c exp([r]); the other coordinates need no chart.

    The centre R_c is a quaternion (w, x, y, z).
    """

    centre = (1.0, 0.0, 0.0, 0.0)

    def is_far(self, q: Vec) -> Mask:
        """Return a mask of the joints that are more than FAR from their centre, (k,), from their coordinates q (k, d).
        """
        r = q[:, :3]
        far: Mask = (r * r).sum(axis=1) > FAR * FAR
        return far

    def recentre(self, q: Vec, centre: Vec) -> Vec:
        """Return the centres R_c exp([r]) at which joints with coordinates q (k, d) about `centre` (k, 4) are at zero,
        (k, 4)."""
        rotation = product(centre, quaternion(q[:, :3]))
        out: Vec = rotation / np.linalg.norm(rotation, axis=1, keepdims=True)
        return out

    def centre_in_place(self, entries: Index, centre_entries: Index, q: Vec, u: Vec, centres: Vec) -> None:
        """Centre all charts at the present rotations of their joints, in place. entries: indices in q and u (m,),
        (k, d). centre_entries: indices in centres (s,), (k, 4)."""
        centre_charts(entries, centre_entries, q, u, centres)

    def carry(self, q: Vec, u: Vec, old: Vec, new: Vec) -> tuple[Vec, Vec]:
        """Return q and u, (k, d) each, for unchanged rotations and angular velocities, transformed from the charts
        about `old` centres to those about `new` ones, (k, 4) each; q is at most half a turn."""
        back = new * np.array([1.0, -1.0, -1.0, -1.0])
        coordinates, rate = q.copy(), u.copy()
        coordinates[:, :3] = logarithm(product(back, product(old, quaternion(q[:, :3]))))
        omega = jacobian(q[:, :3]) @ u[:, :3, None]
        rate[:, :3] = np.linalg.solve(jacobian(coordinates[:, :3]), omega)[:, :, 0]
        return coordinates, rate
