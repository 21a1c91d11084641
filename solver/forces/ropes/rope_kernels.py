"""Kernels of links of ropes, and of bending between two links."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

SHORT = 1.0e-12  #: [m]: a shorter link has no direction
FOLDED = 1.0e-6  #: lower bound of 1 + cos θ, of links that are folded back onto each other


@kernel("f8(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8[:,:,::1])")
def measure_links(start, stop, x, nodes, length, stiffness, tension, forces):  # type: ignore[no-untyped-def]
    """Return the energy λ φ + ½ k φ² [J] of links `start` to `stop`, φ = l − L; write forces (s, 4, 3) [N].

    x: (n, 3) [m]. nodes: (s, 2). length: L [m], (s,). stiffness: k [N/m], (s,). tension: λ [N], (s,).
    """
    energy = 0.0
    for s in range(start, stop):
        i, j = nodes[s, 0], nodes[s, 1]
        square = 0.0
        for a in range(3):
            square += (x[j, a] - x[i, a]) ** 2
        l = np.sqrt(square)
        over = l - length[s]
        force = tension[s] + stiffness[s] * over
        energy += (tension[s] + 0.5 * stiffness[s] * over) * over
        for a in range(3):
            along = (x[j, a] - x[i, a]) / max(l, SHORT)
            forces[s, 0, a], forces[s, 1, a] = force * along, -force * along
            forces[s, 2, a], forces[s, 3, a] = 0.0, 0.0
    return energy


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], b1, f8[:,:,::1])")
def fill_links(start, stop, x, nodes, length, stiffness, tension, known, blocks):  # type: ignore[no-untyped-def]
    """Write blocks of K of links `start` to `stop`, (s, 6, 9) [N/m]: k u uᵀ + T/l (1 − u uᵀ) of the pair, T the
    tension.

    x: (n, 3) [m]. nodes: (s, 2). length: L [m], (s,). stiffness: k [N/m], (s,). tension: λ [N], (s,). known: whether T
    is max(λ, 0) instead of λ + k φ.
    """
    for s in range(start, stop):
        i, j = nodes[s, 0], nodes[s, 1]
        square = 0.0
        for a in range(3):
            square += (x[j, a] - x[i, a]) ** 2
        l = max(np.sqrt(square), SHORT)
        force = max(tension[s], 0.0) if known else tension[s] + stiffness[s] * (l - length[s])
        across = force / l
        for a in range(6):
            for b in range(9):
                blocks[s, a, b] = 0.0
        for a in range(3):
            for b in range(3):
                both = (x[j, a] - x[i, a]) * (x[j, b] - x[i, b]) / (l * l)
                blocks[s, 0, 3 * a + b] = (stiffness[s] - across) * both + (across if a == b else 0.0)


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8[::1])")
def expect_links(before, after, nodes, length, stiffness, tension, expected):  # type: ignore[no-untyped-def]
    """Write λ + k (φ + u·δ) of each link, its tension T after a linearised step δ of its ends, into expected (s,) [N].

    before, after: positions at both ends of the step, (n, 3) [m]; φ and u are those before it. nodes: (s, 2). length: L
    [m], (s,). stiffness: k [N/m], (s,). tension: λ [N], (s,).
    """
    for s in range(len(nodes)):
        i, j = nodes[s, 0], nodes[s, 1]
        square, along = 0.0, 0.0
        for a in range(3):
            away = before[j, a] - before[i, a]
            square += away * away
            along += away * (after[j, a] - after[i, a])
        # φ + u·δ = u·(after) − L
        expected[s] = tension[s] + stiffness[s] * (along / max(np.sqrt(square), SHORT) - length[s])


@kernel("f8(f8[:,::1], i4[::1], f8[:,::1])")
def directions(x, nodes, out):  # type: ignore[no-untyped-def]
    """Return cos θ between two links; write their unit directions t₀, t₁ and lengths into out (4, 3).

    x: (n, 3) [m]. nodes: (3,). The lengths [m] are at (2, 0) and (2, 1).
    """
    for k in range(2):
        square = 0.0
        for a in range(3):
            out[k, a] = x[nodes[k + 1], a] - x[nodes[k], a]
            square += out[k, a] ** 2
        l = max(np.sqrt(square), SHORT)
        out[2, k] = l
        for a in range(3):
            out[k, a] /= l
    return out[0, 0] * out[1, 0] + out[0, 1] * out[1, 1] + out[0, 2] * out[1, 2]


@kernel("f8(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[:,:,::1])")
def measure_bends(start, stop, x, nodes, stiffness, forces):  # type: ignore[no-untyped-def]
    """Return the energy [J] of bends `start` to `stop`, s (1 − c)/(1 + c), c = cos θ; write forces (b, 4, 3) [N].

    x: (n, 3) [m]. nodes: (b, 3). stiffness: s = 2 B/l̄ [N m], (b,).
    """
    energy, work = 0.0, np.empty((4, 3))
    for s in range(start, stop):
        c = directions(x, nodes[s], work)
        open_ = max(1.0 + c, FOLDED)
        energy += stiffness[s] * (1.0 - c) / open_
        slope = -2.0 * stiffness[s] / (open_ * open_)
        for a in range(3):
            first = slope * (work[1, a] - c * work[0, a]) / work[2, 0]
            second = slope * (work[0, a] - c * work[1, a]) / work[2, 1]
            forces[s, 0, a] = first
            forces[s, 1, a] = second - first
            forces[s, 2, a] = -second
            forces[s, 3, a] = 0.0
    return energy


@kernel("void(f8[:,::1], f8, f8, f8, f8[:,:,::1])")
def write_bend_hessian(work, c, slope, curve, out):  # type: ignore[no-untyped-def]
    """Write ∂²E/∂e∂e of two links into out (3, 3, 3) [N/m]: of the first, of the second with the first, of the second.

    work: from `directions`. c: cos θ. slope, curve: first and second derivative of E by c [J].
    """
    l0, l1 = work[2, 0], work[2, 1]
    for a in range(3):
        pa, qa = work[1, a] - c * work[0, a], work[0, a] - c * work[1, a]
        for b in range(3):
            one = 1.0 if a == b else 0.0
            pb, qb = work[1, b] - c * work[0, b], work[0, b] - c * work[1, b]
            t0a, t0b, t1a, t1b = work[0, a], work[0, b], work[1, a], work[1, b]
            out[0, a, b] = (curve * pa * pb - slope * (t0a * pb + pa * t0b + c * (one - t0a * t0b))) / (l0 * l0)
            out[2, a, b] = (curve * qa * qb - slope * (t1a * qb + qa * t1b + c * (one - t1a * t1b))) / (l1 * l1)
            # (1 − t₁t₁ᵀ)(1 − t₀t₀ᵀ)
            both = one - t1a * t1b - t0a * t0b + t1a * c * t0b
            out[1, a, b] = (curve * qa * pb + slope * both) / (l0 * l1)


@kernel("void(f8[:,::1], f8, f8, f8[:,:,::1])")
def write_straight_bend_hessian(work, c, s, out):  # type: ignore[no-untyped-def]
    """Write ∂²E/∂e∂e of E = s (1 − c)/(1 + c) of two links into out (3, 3, 3) [N/m].

    work: from `directions`. c: cos θ. s: stiffness [N m]. Ordered as by `write_bend_hessian`.
    """
    open_ = max(1.0 + c, FOLDED)
    write_bend_hessian(work, c, -2.0 * s / (open_ * open_), 4.0 * s / (open_ * open_ * open_), out)


@kernel("void(f8[:,::1], f8, f8, f8[:,:,::1], f8[:,:,::1])")
def write_definite_bend_hessian(work, c, s, slopes, out):  # type: ignore[no-untyped-def]
    """Write ½ s JᵀJ into out (3, 3, 3): ∂²E/∂e∂e without second derivatives of the curvature κb = 2 t₀ × t₁/(1 + c).

    work: from `directions`. c: cos θ. s: stiffness [N m]. slopes: J, (2, 3, 3), written. Ordered as by
    `write_bend_hessian`.
    """
    open_ = max(1.0 + c, FOLDED)
    for k in range(2):
        for b in range(3):
            # the link's direction changes by d where its end moves along b
            along = work[k, b]
            d0 = ((1.0 if b == 0 else 0.0) - work[k, 0] * along) / work[2, k]
            d1 = ((1.0 if b == 1 else 0.0) - work[k, 1] * along) / work[2, k]
            d2 = ((1.0 if b == 2 else 0.0) - work[k, 2] * along) / work[2, k]
            o = 1 - k
            closer = d0 * work[o, 0] + d1 * work[o, 1] + d2 * work[o, 2]
            sign = 1.0 if k == 0 else -1.0
            n0 = d1 * work[o, 2] - d2 * work[o, 1]
            n1 = d2 * work[o, 0] - d0 * work[o, 2]
            n2 = d0 * work[o, 1] - d1 * work[o, 0]
            b0 = 2.0 * (work[0, 1] * work[1, 2] - work[0, 2] * work[1, 1]) / open_
            b1 = 2.0 * (work[0, 2] * work[1, 0] - work[0, 0] * work[1, 2]) / open_
            b2 = 2.0 * (work[0, 0] * work[1, 1] - work[0, 1] * work[1, 0]) / open_
            slopes[k, 0, b] = (2.0 * sign * n0 - b0 * closer) / open_
            slopes[k, 1, b] = (2.0 * sign * n1 - b1 * closer) / open_
            slopes[k, 2, b] = (2.0 * sign * n2 - b2 * closer) / open_
    for a in range(3):
        for b in range(3):
            first, mixed, second = 0.0, 0.0, 0.0
            for i in range(3):
                first += slopes[0, i, a] * slopes[0, i, b]
                mixed += slopes[1, i, a] * slopes[0, i, b]
                second += slopes[1, i, a] * slopes[1, i, b]
            out[0, a, b], out[1, a, b], out[2, a, b] = 0.5 * s * first, 0.5 * s * mixed, 0.5 * s * second


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], b1, f8[:,:,::1])")
def fill_bends(start, stop, x, nodes, stiffness, project, blocks):  # type: ignore[no-untyped-def]
    """Write blocks of K of bends `start` to `stop`, (b, 6, 9) [N/m]; K is negative semi-definite if `project`.

    x: (n, 3) [m]. nodes: (b, 3). stiffness: 2 B/l̄ [N m], (b,).
    """
    work, slopes, curves = np.empty((4, 3)), np.empty((2, 3, 3)), np.empty((3, 3, 3))
    for s in range(start, stop):
        c = directions(x, nodes[s], work)
        if project:
            write_definite_bend_hessian(work, c, stiffness[s], slopes, curves)
        else:
            write_straight_bend_hessian(work, c, stiffness[s], curves)
        for a in range(6):
            for b in range(9):
                blocks[s, a, b] = 0.0
        for a in range(3):
            for b in range(3):
                mixed = curves[1, a, b]
                blocks[s, 0, 3 * a + b] = curves[0, a, b] - mixed
                blocks[s, 1, 3 * a + b] = mixed
                blocks[s, 2, 3 * a + b] = curves[2, a, b] - mixed
