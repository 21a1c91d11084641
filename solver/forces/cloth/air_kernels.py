"""Kernels of the drag of air on triangles."""

from __future__ import annotations

import math

import numpy as np

from ...threads import kernel


@kernel("void(i4[:,::1], f8[:,:,::1], f8[::1], f8[:,::1], f8[:,::1], f8, f8[:,::1])")
def implicit_drag(pairs, blocks, mass, v, wind, h, force):  # type: ignore[no-untyped-def]
    """Write (1 + h C/m)⁻¹ C (w − v), the drag on nodes at the end of a step of h [s], to force (n, 3) [N] of all nodes.

    pairs: the node and the air's, (b, 2). blocks: C, symmetric, (b, 1, 9) [N s/m]. mass: (n,) [kg]. v: (n, 3) [m/s].
    wind: (1, 3) [m/s].
    """
    for b in range(pairs.shape[0]):
        i = pairs[b, 0]
        step_per_mass = h / max(mass[i], 1.0e-300)
        w0, w1, w2 = wind[0, 0] - v[i, 0], wind[0, 1] - v[i, 1], wind[0, 2] - v[i, 2]
        c00, c10, c11 = blocks[b, 0, 0], blocks[b, 0, 3], blocks[b, 0, 4]
        c20, c21, c22 = blocks[b, 0, 6], blocks[b, 0, 7], blocks[b, 0, 8]
        f0 = c00 * w0 + c10 * w1 + c20 * w2
        f1 = c10 * w0 + c11 * w1 + c21 * w2
        f2 = c20 * w0 + c21 * w1 + c22 * w2
        # L Lᵀ = 1 + h C/m
        l00 = np.sqrt(1.0 + step_per_mass * c00)
        l10, l20 = step_per_mass * c10 / l00, step_per_mass * c20 / l00
        l11 = np.sqrt(1.0 + step_per_mass * c11 - l10 * l10)
        l21 = (step_per_mass * c21 - l20 * l10) / l11
        l22 = np.sqrt(1.0 + step_per_mass * c22 - l20 * l20 - l21 * l21)
        f0 /= l00
        f1 = (f1 - l10 * f0) / l11
        f2 = (f2 - l20 * f0 - l21 * f1) / (l22 * l22)
        f1 = (f1 - l21 * f2) / l11
        force[i, 0] = (f0 - l10 * f1 - l20 * f2) / l00
        force[i, 1], force[i, 2] = f1, f2


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], i4[:,::1], i8, f8[::1], f8[::1], f8[:,::1])")
def drag(x, v, triangles, rows, air, across, along, blocks):  # type: ignore[no-untyped-def]
    """Add −D of the air at the corners of triangles to blocks (b, 9) [N s/m].

    x: (n, 3) [m]. v: (n, 3) [m/s]. triangles: (e, 3). rows: of their corners in `blocks`, (e, 3). air: the air's
    node. across, along: ½ ρ c_n and ½ ρ c_t of each triangle, (e,) [kg/m³].
    """
    for e in range(triangles.shape[0]):
        a, b, c = triangles[e, 0], triangles[e, 1], triangles[e, 2]
        u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        w0, w1, w2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        n0, n1, n2 = u1 * w2 - w1 * u2, u2 * w0 - w2 * u0, u0 * w1 - w0 * u1
        s0, s1, s2 = ((v[a, 0] + v[b, 0] + v[c, 0]) / 3.0 - v[air, 0], (v[a, 1] + v[b, 1] + v[c, 1]) / 3.0 - v[air, 1],
                      (v[a, 2] + v[b, 2] + v[c, 2]) / 3.0 - v[air, 2])
        twice = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        size = max(twice, 1.0e-300)
        n0, n1, n2 = n0 / size, n1 / size, n2 / size
        onto = s0 * n0 + s1 * n1 + s2 * n2
        s0, s1, s2 = s0 - onto * n0, s1 - onto * n1, s2 - onto * n2
        # each corner has a third of the triangle's drag
        flat = twice / 6.0 * along[e] * math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
        steep = twice / 6.0 * across[e] * abs(onto) - flat
        d00, d01, d02 = steep * n0 * n0 + flat, steep * n0 * n1, steep * n0 * n2
        d11, d12, d22 = steep * n1 * n1 + flat, steep * n1 * n2, steep * n2 * n2 + flat
        for corner in range(3):
            row = blocks[rows[e, corner]]
            row[0], row[1], row[2] = row[0] + d00, row[1] + d01, row[2] + d02
            row[3], row[4], row[5] = row[3] + d01, row[4] + d11, row[5] + d12
            row[6], row[7], row[8] = row[6] + d02, row[7] + d12, row[8] + d22
