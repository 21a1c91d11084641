"""Smoothed friction of pairs: forces against the slip, their potential and their derivatives."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], f8, i4[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8, f8, b1, f8[:,:,::1], "
        "f8[::1], f8[:,:,::1])")
def smoothed_friction(  # type: ignore[no-untyped-def]
    start, stop, x, base, seconds, nodes, weights, normal, load, creep, scale, above, forces, energy, blocks,
):
    """Write forces (k, 4, 3) [N] and energy (k,) [W] of pairs start to stop and, where blocks has rows, scale ∂f/∂v
    between their nodes, (k, 6, 9).

    Velocities are v = (x − base) / seconds, x and base (n, 3) [m]. nodes, weights: (k, 4). normal: unit, (k, 3).
    load: μ λ [N], (k,). creep: ε [m/s].
    above: whether blocks are those of the parabola in the slip that touches the potential from above. [Ascher 37, 39]
    """
    slip = np.empty(3)
    for k in range(start, stop):
        along = 0.0
        for i in range(3):
            slip[i] = 0.0
            for a in range(4):
                slip[i] += weights[k, a] * ((x[nodes[k, a], i] - base[nodes[k, a], i]) / seconds)
            along += slip[i] * normal[k, i]
        square = 0.0
        for i in range(3):
            slip[i] -= along * normal[k, i]
            square += slip[i] * slip[i]
        speed = np.sqrt(square)
        # s(y)/y, s'(y) and the integral of s
        if speed < creep:
            over, slope = (2.0 - speed / creep) / creep, 2.0 * (1.0 - speed / creep) / creep
            energy[k] = load[k] * square * (1.0 - speed / (3.0 * creep)) / creep
        else:
            over, slope = 1.0 / speed, 0.0
            energy[k] = load[k] * (speed - creep / 3.0)
        for a in range(4):
            for i in range(3):
                forces[k, a, i] = -load[k] * over * weights[k, a] * slip[i]
        if not blocks.shape[0]:
            continue
        turn = (slope - over) / square if speed > 1.0e-12 * creep and not above else 0.0
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                fraction = -scale * load[k] * weights[k, a] * weights[k, b]
                for i in range(3):
                    for j in range(3):
                        value = turn * slip[i] * slip[j] - over * normal[k, i] * normal[k, j]
                        if i == j:
                            value += over
                        blocks[k, pair, 3 * i + j] = fraction * value
                pair += 1
