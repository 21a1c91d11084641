"""Kernel that evaluates the rows of closed loops."""

from __future__ import annotations

from ..threads import kernel


@kernel("void(f8[:,:,::1], i4[:,::1], f8[:,:,::1], f8[:,:,::1], i4[::1], i4[::1], f8[::1], f8[:,:,::1])")
def fill_loops(E, body, frame_a, frame_b, loop, axis, off, wrench):  # type: ignore[no-untyped-def]
    """Write the violations of the rows of loops, (r,) [m, rad], and their wrenches on a and b in the bodies' frames,
    (r, 2, 6).

    Along an axis e of b: e · (x_a − x_b), whose rate is e · (ẋ_a − ẋ of b's matter at x_a). Across: z_a · e, whose rate
    is (ω_a − ω_b) · (z_a × e).
    """
    for r in range(loop.shape[0]):
        i = loop[r]
        a, b, k = body[i, 0], body[i, 1], axis[r] % 3
        A, B = frame_a[i], frame_b[i]
        # e, x_a − x_b and z_a in the world
        e0, e1, e2 = B[0, k], B[1, k], B[2, k]
        y0, y1, y2 = B[0, 3], B[1, 3], B[2, 3]
        if b >= 0:
            F = E[b]
            e0, e1, e2 = (F[0, 0] * e0 + F[0, 1] * e1 + F[0, 2] * e2, F[1, 0] * e0 + F[1, 1] * e1 + F[1, 2] * e2,
                          F[2, 0] * e0 + F[2, 1] * e1 + F[2, 2] * e2)
            y0, y1, y2 = (F[0, 0] * y0 + F[0, 1] * y1 + F[0, 2] * y2 + F[0, 3],
                          F[1, 0] * y0 + F[1, 1] * y1 + F[1, 2] * y2 + F[1, 3],
                          F[2, 0] * y0 + F[2, 1] * y1 + F[2, 2] * y2 + F[2, 3])
        x0, x1, x2 = A[0, 3], A[1, 3], A[2, 3]
        z0, z1, z2 = A[0, 2], A[1, 2], A[2, 2]
        if a >= 0:
            F = E[a]
            x0, x1, x2 = (F[0, 0] * x0 + F[0, 1] * x1 + F[0, 2] * x2 + F[0, 3],
                          F[1, 0] * x0 + F[1, 1] * x1 + F[1, 2] * x2 + F[1, 3],
                          F[2, 0] * x0 + F[2, 1] * x1 + F[2, 2] * x2 + F[2, 3])
            z0, z1, z2 = (F[0, 0] * z0 + F[0, 1] * z1 + F[0, 2] * z2, F[1, 0] * z0 + F[1, 1] * z1 + F[1, 2] * z2,
                          F[2, 0] * z0 + F[2, 1] * z1 + F[2, 2] * z2)

        # torque about the world's origin of a force, or the torque alone
        if axis[r] < 3:
            f0, f1, f2 = e0, e1, e2
            off[r] = e0 * (x0 - y0) + e1 * (x1 - y1) + e2 * (x2 - y2)
            t0, t1, t2 = x1 * e2 - x2 * e1, x2 * e0 - x0 * e2, x0 * e1 - x1 * e0
        else:
            f0, f1, f2 = 0.0, 0.0, 0.0
            off[r] = z0 * e0 + z1 * e1 + z2 * e2
            t0, t1, t2 = z1 * e2 - z2 * e1, z2 * e0 - z0 * e2, z0 * e1 - z1 * e0
        for side in range(2):
            n = body[i, side]
            sign = 1.0 if side == 0 else -1.0
            for c in range(6):
                wrench[r, side, c] = 0.0
            if n >= 0:
                F = E[n]
                # about the body's centre, then in its axes
                s0 = t0 - (F[1, 3] * f2 - F[2, 3] * f1)
                s1 = t1 - (F[2, 3] * f0 - F[0, 3] * f2)
                s2 = t2 - (F[0, 3] * f1 - F[1, 3] * f0)
                for c in range(3):
                    wrench[r, side, c] = sign * (F[0, c] * s0 + F[1, c] * s1 + F[2, c] * s2)
                    wrench[r, side, 3 + c] = sign * (F[0, c] * f0 + F[1, c] * f1 + F[2, c] * f2)
