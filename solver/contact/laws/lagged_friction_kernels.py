"""Smoothed friction of pairs: forces against the slip, their potential and their derivatives.

The slip of a pair is T Σ w_a v_a + Σ c_a (n · v_a): the velocity of one side's closest point relative to the other
side's, which is transported over the gap as the side turns. A common rotation of both sides is no slip, so friction
conserves angular momentum.
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel

LEAST_WIDTH = 0.01  #: determinant over squared trace of a pair's extent along its plane: narrower pairs are lines


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], i8, f8[:,::1], f8[::1], f8[:,:,::1])")
def couple_weights(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, points, normal, gap, couples,
):
    """Write to `couples`, (k, 4, 3), the tangential weight vectors c of the normal velocities of pairs start to stop.

    With y_a the positions of a side's nodes along the plane, less their mean, Σ c_a y_aᵀ is the gap times the identity:
    c_a = gap S⁺ y_a, S = Σ y_a y_aᵀ over both sides. On each side Σ c_a = 0, so no side gets a net force from the
    couple. Edges that are nearly parallel, or that are shorter than their gap, support only a part of the couple. x:
    positions (n, 3) [m] at which normals (k, 3) and gaps (k,) [m] were measured. nodes: (k, 4), of the first `points`
    pairs a point and a triangle, else two edges.
    """
    y, inverse = np.empty((4, 3)), np.empty((3, 3))
    for k in range(start, stop):
        first = 1 if k < points else 2  # number of nodes of the first side
        trace = square = 0.0
        for a in range(4):
            low, high = (0, first) if a < first else (first, 4)
            along = 0.0
            for i in range(3):
                mean = 0.0
                for b in range(low, high):
                    mean += x[nodes[k, b], i]
                y[a, i] = x[nodes[k, a], i] - mean / (high - low)
                along += y[a, i] * normal[k, i]
            for i in range(3):
                y[a, i] -= along * normal[k, i]
                trace += y[a, i] * y[a, i]
        for i in range(3):
            for j in range(3):
                inverse[i, j] = 0.0
                for a in range(4):
                    inverse[i, j] += y[a, i] * y[a, j]
                square += inverse[i, j] * inverse[i, j]
        # of two eigenvalues, beside that of the normal, which is zero
        determinant = 0.5 * (trace * trace - square)
        scale = gap[k] / max(trace, gap[k] * gap[k], 1.0e-300)
        if determinant > LEAST_WIDTH * trace * trace and trace > gap[k] * gap[k]:
            for i in range(3):
                for j in range(3):
                    unit = (1.0 if i == j else 0.0) - normal[k, i] * normal[k, j]
                    inverse[i, j] = gap[k] * (trace * unit - inverse[i, j]) / determinant
        else:
            for i in range(3):
                for j in range(3):
                    inverse[i, j] *= scale / max(trace, 1.0e-300)
        for a in range(4):
            for i in range(3):
                couples[k, a, i] = 0.0
                for j in range(3):
                    couples[k, a, i] += inverse[i, j] * y[a, j]


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], f8, i4[:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1], f8[::1], f8, f8, b1, "
        "f8[:,:,::1], f8[::1], f8[:,:,::1])")
def evaluate_smoothed_friction(  # type: ignore[no-untyped-def]
    start, stop, x, base, seconds, nodes, weights, couples, normal, load, creep, scale, above, forces, energy, blocks,
):
    """Write friction forces (k, 4, 3) [N] and dissipation potential `energy` (k,) [W] of pairs start to stop.

    Where `blocks` has rows, write to it scale ∂f/∂v between the nodes of each pair, (k, 6, 9).

    Velocities are v = (x − base) / seconds, x and base (n, 3) [m]. nodes, weights: (k, 4). couples: of
    `couple_weights`, (k, 4, 3). normal: unit, (k, 3).
    load: μ λ [N], (k,). creep: ε [m/s].
    above: whether blocks are those of a parabola in the slip that touches the potential from above. [Ascher 37, 39]
    """
    slip, products = np.empty(3), np.empty((4, 3))
    for k in range(start, stop):
        along = 0.0
        for i in range(3):
            slip[i] = 0.0
            for a in range(4):
                slip[i] += weights[k, a] * ((x[nodes[k, a], i] - base[nodes[k, a], i]) / seconds)
            along += slip[i] * normal[k, i]
        for i in range(3):
            slip[i] -= along * normal[k, i]
        for a in range(4):
            rising = 0.0
            for i in range(3):
                rising += normal[k, i] * ((x[nodes[k, a], i] - base[nodes[k, a], i]) / seconds)
            for i in range(3):
                slip[i] += couples[k, a, i] * rising
        square = 0.0
        for i in range(3):
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
            coupled = 0.0
            for i in range(3):
                coupled += couples[k, a, i] * slip[i]
            for i in range(3):
                forces[k, a, i] = -load[k] * over * (weights[k, a] * slip[i] + coupled * normal[k, i])
        if not blocks.shape[0]:
            continue
        curvature = (slope - over) / square if speed > 1.0e-12 * creep and not above else 0.0
        # H c of each node, H = over T + turn s sᵀ
        for a in range(4):
            coupled = 0.0
            for i in range(3):
                coupled += couples[k, a, i] * slip[i]
            for i in range(3):
                products[a, i] = over * couples[k, a, i] + curvature * coupled * slip[i]
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                both = 0.0
                for i in range(3):
                    both += couples[k, a, i] * products[b, i]
                for i in range(3):
                    for j in range(3):
                        value = curvature * slip[i] * slip[j] - over * normal[k, i] * normal[k, j]
                        if i == j:
                            value += over
                        value = (weights[k, a] * (weights[k, b] * value + products[b, i] * normal[k, j])
                                 + normal[k, i] * (weights[k, b] * products[a, j] + both * normal[k, j]))
                        blocks[k, pair, 3 * i + j] = -scale * load[k] * value
                pair += 1
