"""Kernels of XPBD, which project the constraints of one colour one after another, updating positions in place."""

from __future__ import annotations

import math

from ...threads import inline, kernel

LEAST = 1.0e-300  #: below which a length has no direction


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], f8[::1], i4[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1], "
        "f8[:,::1], f8, f8)")
def solve_rows(start, stop, x, x_start, inverse_mass, nodes, rows, compliance, least, most, centres,  # type: ignore[no-untyped-def]
               multipliers, per_square, damping):
    """Project rows d = Σ c_a x_a − centre onto least ≤ |d| ≤ most, in place. [Macklin 2016]

    x, x_start: positions now and at the step's start, (n, 3) [m]. inverse_mass: (n,) [1/kg]. compliance: α [m/N], (k,).
    multipliers: (k, 3): one for a length, three where d is projected to zero. per_square: 1/h². damping: τ/h, τ the
    time constant of stiffness damping [s].
    """
    for k in range(start, stop):
        alpha, weight = compliance[k] * per_square, 0.0
        d0, d1, d2 = -centres[k, 0], -centres[k, 1], -centres[k, 2]
        m0 = m1 = m2 = 0.0
        for a in range(4):
            i, c = nodes[k, a], rows[k, a]
            weight += c * c * inverse_mass[i]
            d0 += c * x[i, 0]
            d1 += c * x[i, 1]
            d2 += c * x[i, 2]
            m0 += c * (x[i, 0] - x_start[i, 0])
            m1 += c * (x[i, 1] - x_start[i, 1])
            m2 += c * (x[i, 2] - x_start[i, 2])
        if weight == 0.0:
            continue
        whole = (1.0 + damping) * weight + alpha
        if most[k] == 0.0:
            # all three of d, whose slopes are constant
            p0 = (-d0 - alpha * multipliers[k, 0] - damping * m0) / whole
            p1 = (-d1 - alpha * multipliers[k, 1] - damping * m1) / whole
            p2 = (-d2 - alpha * multipliers[k, 2] - damping * m2) / whole
            multipliers[k, 0] += p0
            multipliers[k, 1] += p1
            multipliers[k, 2] += p2
        else:
            length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
            if length < LEAST:
                continue
            over, last = length - min(max(length, least[k]), most[k]), multipliers[k, 0]
            if over == 0.0 and last == 0.0:
                continue
            rate = (d0 * m0 + d1 * m1 + d2 * m2) / length
            change = (-over - alpha * last - damping * rate) / whole
            # what bounds from one side never pulls the other way
            if length > least[k] and over >= 0.0 and least[k] < most[k]:
                change = min(last + change, 0.0) - last
            multipliers[k, 0] += change
            change /= length
            p0, p1, p2 = change * d0, change * d1, change * d2
        for a in range(4):
            factor = rows[k, a] * inverse_mass[nodes[k, a]]
            x[nodes[k, a], 0] += factor * p0
            x[nodes[k, a], 1] += factor * p1
            x[nodes[k, a], 2] += factor * p2


@kernel("void(i8, i8, f8[:,::1], f8[::1], i4[:,::1], f8[:,:,::1], f8[::1], f8[::1], f8)")
def solve_shear(start, stop, x, inverse_mass, nodes, gradients, compliance, multipliers, per_square):  # type: ignore[no-untyped-def]
    """Project φ = f₁ · f₂ to 0 in place, f the columns of F = Σ x_a ∇N_aᵀ of triangles: warp and weft at right angles.

    x: (n, 3) [m]. inverse_mass: (n,) [1/kg]. gradients: (t, 3, 2) [1/m]. compliance: [1/(N m)], (t,). multipliers:
    (t,). per_square: 1/h². [Macklin 2016]
    """
    for t in range(start, stop):
        alpha, phi = compliance[t] * per_square, 0.0
        weight = 0.0
        g = gradients[t]
        f = (0.0, 0.0, 0.0)
        e = (0.0, 0.0, 0.0)
        for a in range(3):
            i = nodes[t, a]
            f = (f[0] + x[i, 0] * g[a, 0], f[1] + x[i, 1] * g[a, 0], f[2] + x[i, 2] * g[a, 0])
            e = (e[0] + x[i, 0] * g[a, 1], e[1] + x[i, 1] * g[a, 1], e[2] + x[i, 2] * g[a, 1])
        phi = f[0] * e[0] + f[1] * e[1] + f[2] * e[2]
        for a in range(3):
            for c in range(3):
                slope = g[a, 0] * e[c] + g[a, 1] * f[c]
                weight += inverse_mass[nodes[t, a]] * slope * slope
        if weight == 0.0:
            continue
        change = (-phi - alpha * multipliers[t]) / (weight + alpha)
        multipliers[t] += change
        for a in range(3):
            for c in range(3):
                x[nodes[t, a], c] += change * inverse_mass[nodes[t, a]] * (g[a, 0] * e[c] + g[a, 1] * f[c])


@inline
def _of_tet(x, x_start, nodes, gradients, t, i):  # type: ignore[no-untyped-def]
    """Return row i of F = Σ (x_a − x₀) ∇N_aᵀ of tetrahedron t."""
    r0 = r1 = r2 = 0.0
    for a in range(1, 4):
        moved = x[nodes[t, a], i] - x[nodes[t, 0], i]
        r0 += moved * gradients[t, a, 0]
        r1 += moved * gradients[t, a, 1]
        r2 += moved * gradients[t, a, 2]
    return r0, r1, r2


@inline
def _across(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def _project(x, inverse_mass, nodes, gradients, t, rows, phi, alpha, last):  # type: ignore[no-untyped-def]
    """Move corners along rows ∂φ/∂F until the linearised φ + α λ is 0; return the change of the multiplier.
    [Macklin 2016]"""
    weight = 0.0
    for a in range(4):
        g0, g1, g2 = gradients[t, a, 0], gradients[t, a, 1], gradients[t, a, 2]
        for i in range(3):
            slope = rows[i][0] * g0 + rows[i][1] * g1 + rows[i][2] * g2
            weight += inverse_mass[nodes[t, a]] * slope * slope
    if weight == 0.0:
        return 0.0
    change = (-phi - alpha * last) / (weight + alpha)
    for a in range(4):
        g0, g1, g2 = gradients[t, a, 0], gradients[t, a, 1], gradients[t, a, 2]
        factor = change * inverse_mass[nodes[t, a]]
        for i in range(3):
            x[nodes[t, a], i] += factor * (rows[i][0] * g0 + rows[i][1] * g1 + rows[i][2] * g2)
    return change


@kernel("void(i8, i8, f8[:,::1], f8[::1], i4[:,::1], f8[:,:,::1], f8[:,::1], f8[::1], f8[:,::1], f8)")
def solve_tets(start, stop, x, inverse_mass, nodes, gradients, compliance, rest, multipliers, per_square):  # type: ignore[no-untyped-def]
    """Project det F to `rest`, 1 + μ/Λ, then |F| towards 0, in place: ½ Λ V (det F − rest)² + ½ μ V |F|² is
    neo-Hookean.

    x: (n, 3) [m]. inverse_mass: (n,) [1/kg]. gradients: (e, 4, 3) [1/m]. compliance: 1/(Λ V) and 1/(μ V) [1/J], (e, 2).
    rest: (e,). multipliers: (e, 2). per_square: 1/h². [Macklin 2021]
    """
    for t in range(start, stop):
        a, b, c = (_of_tet(x, x, nodes, gradients, t, 0), _of_tet(x, x, nodes, gradients, t, 1),
                   _of_tet(x, x, nodes, gradients, t, 2))
        across = (_across(b, c), _across(c, a), _across(a, b))
        volume = a[0] * across[0][0] + a[1] * across[0][1] + a[2] * across[0][2]
        multipliers[t, 0] += _project(x, inverse_mass, nodes, gradients, t, across, volume - rest[t],
                                      compliance[t, 0] * per_square, multipliers[t, 0])
        a, b, c = (_of_tet(x, x, nodes, gradients, t, 0), _of_tet(x, x, nodes, gradients, t, 1),
                   _of_tet(x, x, nodes, gradients, t, 2))
        size = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + b[0] * b[0] + b[1] * b[1] + b[2] * b[2]
                         + c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
        if size < LEAST:
            continue
        one = 1.0 / size
        along = ((one * a[0], one * a[1], one * a[2]), (one * b[0], one * b[1], one * b[2]),
                 (one * c[0], one * c[1], one * c[2]))
        multipliers[t, 1] += _project(x, inverse_mass, nodes, gradients, t, along, size,
                                      compliance[t, 1] * per_square, multipliers[t, 1])


@kernel("void(f8[:,::1], f8[:,::1], f8[::1], i4[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[:,::1], "
        "f8)")
def solve_points(x, x_start, inverse_mass, nodes, compliance, targets, normals,  # type: ignore[no-untyped-def]
                 moved, friction, multipliers, per_square):
    """Project single nodes to targets, where the normal is zero, or out of half-spaces, with Coulomb's friction against
    sliding from `x_start` relative to the displacement `moved` of the other surface, (k, 3) [m]. x, x_start: (n, 3)
    [m]. multipliers: (k, 3); for half-spaces the first is along the normal and the second is the sum of friction.
    [Macklin 2016]"""
    for k in range(nodes.shape[0]):
        i, alpha = nodes[k], compliance[k] * per_square
        weight = inverse_mass[i]
        if weight == 0.0:
            continue
        n0, n1, n2 = normals[k, 0], normals[k, 1], normals[k, 2]
        d0, d1, d2 = x[i, 0] - targets[k, 0], x[i, 1] - targets[k, 1], x[i, 2] - targets[k, 2]
        whole = weight + alpha
        if n0 == 0.0 and n1 == 0.0 and n2 == 0.0:
            p0, p1, p2 = ((-d0 - alpha * multipliers[k, 0]) / whole, (-d1 - alpha * multipliers[k, 1]) / whole,
                          (-d2 - alpha * multipliers[k, 2]) / whole)
            multipliers[k, 0] += p0
            multipliers[k, 1] += p1
            multipliers[k, 2] += p2
        else:
            last = multipliers[k, 0]
            multiplier = max(last + (-(n0 * d0 + n1 * d1 + n2 * d2) - alpha * last) / whole, 0.0)
            multipliers[k, 0] = multiplier
            p0, p1, p2 = (multiplier - last) * n0, (multiplier - last) * n1, (multiplier - last) * n2
            s0, s1, s2 = (x[i, 0] - x_start[i, 0] - moved[k, 0], x[i, 1] - x_start[i, 1] - moved[k, 1],
                          x[i, 2] - x_start[i, 2] - moved[k, 2])
            off = s0 * n0 + s1 * n1 + s2 * n2
            s0, s1, s2 = s0 - off * n0, s1 - off * n1, s2 - off * n2
            slid = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
            # friction so far counts: no more in all than its coefficient times the normal impulse
            most = max(friction[k] * multiplier - multipliers[k, 1], 0.0)
            stopped = min(slid / weight, most)
            multipliers[k, 1] += stopped
            if slid > LEAST:
                p0, p1, p2 = p0 - stopped * s0 / slid, p1 - stopped * s1 / slid, p2 - stopped * s2 / slid
        x[i, 0] += weight * p0
        x[i, 1] += weight * p1
        x[i, 2] += weight * p2


@kernel("void(i4[:,::1], i4[::1], i4[:,::1], i4[::1])")
def colour(nodes, width, taken, colours):  # type: ignore[no-untyped-def]
    """Write for each element the first colour that none of its nodes has yet, (k,), in the order of elements; −1 where
    there is none. width: number of the element's nodes that count, (k,). taken: zeros, (n, colours), overwritten."""
    for k in range(nodes.shape[0]):
        colours[k] = -1
        for c in range(taken.shape[1]):
            free = True
            for a in range(width[k]):
                free = free and taken[nodes[k, a], c] == 0
            if free:
                for a in range(width[k]):
                    taken[nodes[k, a], c] = 1
                colours[k] = c
                break
