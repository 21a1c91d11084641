"""Kernels over rows: from a body towards the root, a few dozen flops for each joint on the path."""

from __future__ import annotations

from ..threads import kernel


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], f8[:,::1], i4[:,::1], f8[:,:,::1], i4[::1], f8[::1], f8[:,::1])")
def fill_jacobian(parent, dof, X, S, body, wrench, rate, factor, out):  # type: ignore[no-untyped-def]
    """Write the rows' Jacobian of the rates to out, (r, m). A wrench w on a body is w · S on the joint above it and Xᵀ
    w on its parent."""
    w0, w1, w2, w3, w4, w5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[r, j] = 0.0
        for side in range(2):
            i = body[r, side]
            w0, w1, w2 = wrench[r, side, 0], wrench[r, side, 1], wrench[r, side, 2]
            w3, w4, w5 = wrench[r, side, 3], wrench[r, side, 4], wrench[r, side, 5]
            while i >= 0:
                for j in range(dof[i], dof[i + 1]):
                    out[r, j] += (w0 * S[j, 0] + w1 * S[j, 1] + w2 * S[j, 2]
                                  + w3 * S[j, 3] + w4 * S[j, 4] + w5 * S[j, 5])
                a = X[i]
                n0 = a[0, 0] * w0 + a[1, 0] * w1 + a[2, 0] * w2 + a[3, 0] * w3 + a[4, 0] * w4 + a[5, 0] * w5
                n1 = a[0, 1] * w0 + a[1, 1] * w1 + a[2, 1] * w2 + a[3, 1] * w3 + a[4, 1] * w4 + a[5, 1] * w5
                n2 = a[0, 2] * w0 + a[1, 2] * w1 + a[2, 2] * w2 + a[3, 2] * w3 + a[4, 2] * w4 + a[5, 2] * w5
                n3 = a[0, 3] * w0 + a[1, 3] * w1 + a[2, 3] * w2 + a[3, 3] * w3 + a[4, 3] * w4 + a[5, 3] * w5
                n4 = a[0, 4] * w0 + a[1, 4] * w1 + a[2, 4] * w2 + a[3, 4] * w3 + a[4, 4] * w4 + a[5, 4] * w5
                n5 = a[0, 5] * w0 + a[1, 5] * w1 + a[2, 5] * w2 + a[3, 5] * w3 + a[4, 5] * w4 + a[5, 5] * w5
                w0, w1, w2, w3, w4, w5 = n0, n1, n2, n3, n4, n5
                i = parent[i]
        if rate[r] >= 0:
            out[r, rate[r]] += factor[r]


@kernel("void(i4[:,::1], f8[:,:,::1], f8[::1], f8[:,::1])")
def add_wrenches(body, wrench, multiplier, out):  # type: ignore[no-untyped-def]
    """Add the wrenches wrench λ of all rows on each body to out, (n, 6)."""
    for r in range(body.shape[0]):
        for side in range(2):
            i = body[r, side]
            if i >= 0:
                for a in range(6):
                    out[i, a] += wrench[r, side, a] * multiplier[r]
