"""Gauss-Seidel on what pushes and what rubs."""

from __future__ import annotations

import math

from ..threads import kernel


@kernel("void(f8[:,::1], f8[::1], f8[::1], i8, f8[::1])", fastmath={"contract"})
def push_apart(G, at, friction, sweeps, x):  # type: ignore[no-untyped-def]
    """Forces x (3 k,) [N], in threes of a push and two rubs, from those in it: G x + at is at least 0 of pushes.

    G: how far each moves where another one pushes, symmetric, (3 k, 3 k) [m/N]. at: gaps and slides without forces,
    (3 k,) [m]. friction: Coulomb's coefficients, (k,). By projected Gauss-Seidel.
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
            rubs = math.hypot(x[3 * k + 1], x[3 * k + 2])
            if rubs > most:
                share = most / rubs
                x[3 * k + 1] *= share
                x[3 * k + 2] *= share
