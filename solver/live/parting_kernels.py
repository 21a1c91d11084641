"""Gauss-Seidel sweeps over normal forces and friction."""

from __future__ import annotations

import math

from ..threads import kernel


@kernel("void(f8[:,::1], f8[::1], f8[::1], i8, f8[::1])", fastmath={"contract"})
def push_apart(G, at, friction, sweeps, x):  # type: ignore[no-untyped-def]
    """Solve for forces x (3 k,) [N], in threes of a normal and two friction forces, from those in it: G x + at ≥ 0 of
    normal ones.

    G: displacement of each by a unit force of another one, symmetric, (3 k, 3 k) [m/N]. at: gaps and slides without
    forces, (3 k,) [m]. friction: Coulomb's coefficients, (k,). By projected Gauss-Seidel.
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
