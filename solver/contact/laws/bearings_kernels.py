"""Loops over joints for friction inside them."""

from __future__ import annotations

from ...threads import kernel


@kernel("void(i4[::1], f8[:,::1], i4[::1], f8[:,:,::1], f8[:,::1])")
def fill_lines(dof, S, body, lead, rows):  # type: ignore[no-untyped-def]
    """rows (k l, m), zeros: lead (k, l, 6) on the columns of the joint above each body."""
    lines = lead.shape[1]
    for k in range(body.shape[0]):
        for l in range(lines):
            for rate in range(dof[body[k]], dof[body[k] + 1]):
                total = 0.0
                for a in range(6):
                    total += lead[k, l, a] * S[rate, a]
                rows[k * lines + l, rate] = total


@kernel("void(i4[::1], f8[:,:,::1], f8[:,::1], f8[:,::1])")
def opposed(parent, X, wrench, out):  # type: ignore[no-untyped-def]
    """out (n, 6) −= X_iᵀ w_i at each parent."""
    for i in range(parent.shape[0]):
        p = parent[i]
        if p >= 0:
            for a in range(6):
                for b in range(6):
                    out[p, b] -= X[i, a, b] * wrench[i, a]
