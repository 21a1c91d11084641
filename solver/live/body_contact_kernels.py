"""Kernel of projected Gauss-Seidel sweeps over contact forces with friction."""

from __future__ import annotations

import math

from ..threads import kernel


@kernel("void(f8[:,::1], f8[::1], f8[::1], i8, f8[::1])", fastmath={"contract"})
def separate(G, at, friction, sweeps, x):  # type: ignore[no-untyped-def]
    """Solve for the contact forces x, (3 k,) [N], by sweeps of projected Gauss-Seidel, starting from the values in x.

    Each contact has a normal force, at least 0, and two friction forces within Coulomb's bound. Gaps, the normal rows
    of G x + at, are at least 0. G: displacement of each row by a unit force of each row, (3 k, 3 k), symmetric [m/N].
    at: gaps and tangential displacements without forces, (3 k,) [m]. friction: Coulomb's coefficients, (k,). x is
    changed.
    """
    size = x.shape[0]
    for _ in range(sweeps):
        for k in range(friction.shape[0]):
            for axis in range(3):
                row = 3 * k + axis
                gap = at[row]
                for j in range(size):
                    gap += G[row, j] * x[j]
                x[row] -= gap / G[row, row]
                if axis == 0:
                    x[row] = max(x[row], 0.0)
            most = friction[k] * x[3 * k]
            tangential = math.hypot(x[3 * k + 1], x[3 * k + 2])
            if tangential > most:
                fraction = most / tangential
                x[3 * k + 1] *= fraction
                x[3 * k + 2] *= fraction
