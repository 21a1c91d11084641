"""Kernel of air that drags triangles along."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], i4[:,::1], i8, f8[::1], f8[::1], f8[:,::1])")
def drag(x, v, triangles, place, air, across, along, blocks):  # type: ignore[no-untyped-def]
    """Add −D of the air at the corners of triangles, (b, 9) [N s/m].

    x: (n, 3) [m]. v: (n, 3) [m/s]. triangles: (e, 3), and the rows of `blocks` of their corners. air: its node. across,
    along: ½ ρ c_n and ½ ρ c_t of each, (e,) [kg/m³].
    """
    n, speed = np.empty(3), np.empty(3)
    for e in range(triangles.shape[0]):
        a, b, c = triangles[e, 0], triangles[e, 1], triangles[e, 2]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            n[i] = (x[b, j] - x[a, j]) * (x[c, k] - x[a, k]) - (x[b, k] - x[a, k]) * (x[c, j] - x[a, j])
            speed[i] = (v[a, i] + v[b, i] + v[c, i]) / 3.0 - v[air, i]
        twice = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        onto, square = 0.0, 0.0
        for i in range(3):
            n[i] /= max(twice, 1.0e-300)
            onto += speed[i] * n[i]
        for i in range(3):
            square += (speed[i] - onto * n[i]) ** 2
        # a third of the triangle's to each of its corners
        across_it, along_it = twice / 6.0 * across[e] * abs(onto), twice / 6.0 * along[e] * np.sqrt(square)
        for corner in range(3):
            row = place[e, corner]
            for i in range(3):
                for k in range(3):
                    blocks[row, 3 * i + k] += (across_it - along_it) * n[i] * n[k] + (along_it if i == k else 0.0)
