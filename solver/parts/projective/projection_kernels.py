"""Kernels of local projections, which evaluate forces of each element on its nodes and its energy."""

from __future__ import annotations

import math

from ...materials.algebra import decompose
from ...materials.lanes import GRADIENT, LANES, LEFT, RIGHT, SIGMA, put, vector
from ...threads import inline, kernel

ROUNDS = 40  #: of the search for the nearest stretches of volume 1
CLOSE = 1.0e-14  #: of a volume of 1: nearer is rounding
SQUASHED = 0.05  #: stretches that the search begins with, at least


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[:,:,::1], f8[::1])")
def project_rows(start, stop, x, nodes, rows, weights, least, most, centres, pulls, out):  # type: ignore[no-untyped-def]
    """Write −w c_a (d − p) at the nodes, (k, 4, 3) [N], and ½ w |d − p|², (k,) [J], of d = Σ c_a x_a − centre and p the
    nearest to d with least ≤ |p| ≤ most. x: (n, 3) [m]. The projection of d = 0 is 0. [Notes, Energy Potentials]
    """
    for k in range(start, stop):
        d0, d1, d2 = -centres[k, 0], -centres[k, 1], -centres[k, 2]
        for a in range(4):
            i, c = nodes[k, a], rows[k, a]
            d0 += c * x[i, 0]
            d1 += c * x[i, 1]
            d2 += c * x[i, 2]
        length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        over = length - min(max(length, least[k]), most[k])
        out[k] = 0.5 * weights[k] * over * over
        pull = -weights[k] * over / length if length > 0.0 else 0.0
        for a in range(4):
            scale = pull * rows[k, a]
            pulls[k, a, 0], pulls[k, a, 1], pulls[k, a, 2] = scale * d0, scale * d1, scale * d2


@kernel("f8(f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[:,::1], f8, f8, f8[:,::1])")
def resist_moves(x, predicted, base, mass, load, kappa, drag, net):  # type: ignore[no-untyped-def]
    """Write load − κ m (x − predicted) − drag m (x − base) of each node, (n, 3) [N]; return the energy ½ κ
    |x − predicted|²_m + ½ drag |x − base|²_m − load · (x − base) [J]. x, predicted, base: (n, 3) [m]. kappa, drag:
    [1/s²]."""
    energy = 0.0
    for i in range(x.shape[0]):
        inertia, brake = kappa * mass[i], drag * mass[i]
        for axis in range(3):
            away, moved = x[i, axis] - predicted[i, axis], x[i, axis] - base[i, axis]
            net[i, axis] = load[i, axis] - inertia * away - brake * moved
            energy += 0.5 * (inertia * away * away + brake * moved * moved) - load[i, axis] * moved
    return energy


@kernel("f8(i4[::1], i4[::1], f8[::1], f8[:,::1], f8[:,:,::1])")
def pull_flat(start, columns, values, x, pulls):  # type: ignore[no-untyped-def]
    """Write −B x of each node, (n, 1, 3) [N]; return ½ x · B x [J]. start, columns, values: rows of B, whose sums are 0
    [N/m], so that products use the differences of x, (n, 3) [m], from the row's own node."""
    energy = 0.0
    for i in range(x.shape[0]):
        p0 = p1 = p2 = 0.0
        for entry in range(start[i], start[i + 1]):
            j = columns[entry]
            p0 -= values[entry] * (x[j, 0] - x[i, 0])
            p1 -= values[entry] * (x[j, 1] - x[i, 1])
            p2 -= values[entry] * (x[j, 2] - x[i, 2])
        pulls[i, 0, 0], pulls[i, 0, 1], pulls[i, 0, 2] = p0, p1, p2
        energy -= 0.5 * ((x[i, 0] - x[0, 0]) * p0 + (x[i, 1] - x[0, 1]) * p1 + (x[i, 2] - x[0, 2]) * p2)
    return energy


@inline
def _nearest_of_volume_one(s0, s1, s2):  # type: ignore[no-untyped-def]
    """Return the stretches of product 1 nearest to these: Newton's method on the equations of the multiplier, d = t
    ∇(Π) and Π = 1. [Bouaziz 2014]"""
    a, b, c = max(s0, SQUASHED), max(s1, SQUASHED), max(s2, SQUASHED)
    for _ in range(ROUNDS):
        # the foot of the perpendicular on the plane tangent to Π = 1 at (a, b, c)
        g0, g1, g2 = b * c, a * c, a * b
        over = a * g0 - 1.0
        square = g0 * g0 + g1 * g1 + g2 * g2
        along = (over + g0 * (s0 - a) + g1 * (s1 - b) + g2 * (s2 - c)) / square
        p0, p1, p2 = s0 - along * g0, s1 - along * g1, s2 - along * g2
        moved = abs(p0 - a) + abs(p1 - b) + abs(p2 - c)
        # a stretch never changes its sign, nor halves more than once a round
        a, b, c = max(p0, 0.5 * a), max(p1, 0.5 * b), max(p2, 0.5 * c)
        if moved < CLOSE:
            break
    return a, b, c


@kernel("void(i8, i8, f8[:,::1], i4[:,:,::1], f8[:,:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[::1])")
def project_tets(start, stop, x, nodes, gradients, weights, works, pulls, energies):  # type: ignore[no-untyped-def]
    """Write −(w₁ (F − R) + w₂ (F − P)) ∇N_a, (16 b, 4, 3) [N], and ½ w₁ |F − R|² + ½ w₂ |F − P|², (16 b,) [J], of
    F = Σ x_a ∇N_aᵀ, R the nearest rotation and P the nearest matrix of determinant 1. x: (n, 3) [m].

    nodes: (b, 4, 16). gradients: of corners 1 to 3 [1/m], (b, 3, 3, 16), with the corner as the first index after the
    block. weights: w₁ and w₂, (b, 2, 16) [N m]. works: lane arrays, one for each piece of the work.
    [Notes, Energy Potentials]
    """
    blocks, pieces = nodes.shape[0], works.shape[0]
    for piece in range(start, stop):
        work = works[piece]
        for block in range(piece * blocks // pieces, (piece + 1) * blocks // pieces):
            for lane in range(LANES):
                origin = nodes[block, 0, lane]
                for column in range(3):
                    f0 = f1 = f2 = 0.0
                    for a in range(3):
                        i, g = nodes[block, a + 1, lane], gradients[block, a, column, lane]
                        f0 += g * (x[i, 0] - x[origin, 0])
                        f1 += g * (x[i, 1] - x[origin, 1])
                        f2 += g * (x[i, 2] - x[origin, 2])
                    put(work, GRADIENT + 3 * column, lane, (f0, f1, f2))
            decompose(work)
            for lane in range(LANES):
                s0, s1, s2 = vector(work, SIGMA, lane)
                corotated, swell = weights[block, 0, lane], weights[block, 1, lane]
                e0, e1, e2 = s0 - 1.0, s1 - 1.0, s2 - 1.0
                energy = 0.5 * corotated * (e0 * e0 + e1 * e1 + e2 * e2)
                # P = U (w₁ (σ − 1) + w₂ (σ − p)) Vᵀ
                e0, e1, e2 = corotated * e0, corotated * e1, corotated * e2
                if swell > 0.0:
                    p0, p1, p2 = _nearest_of_volume_one(s0, s1, s2)
                    p0, p1, p2 = s0 - p0, s1 - p1, s2 - p2
                    energy += 0.5 * swell * (p0 * p0 + p1 * p1 + p2 * p2)
                    e0, e1, e2 = e0 + swell * p0, e1 + swell * p1, e2 + swell * p2
                row = block * LANES + lane
                energies[row] = energy
                u, v, w = vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)
                q, r, s = vector(work, RIGHT, lane), vector(work, RIGHT + 3, lane), vector(work, RIGHT + 6, lane)
                for i in range(3):
                    pulls[row, 0, i] = 0.0
                for a in range(3):
                    g0, g1, g2 = (gradients[block, a, 0, lane], gradients[block, a, 1, lane],
                                  gradients[block, a, 2, lane])
                    t0 = e0 * (q[0] * g0 + q[1] * g1 + q[2] * g2)
                    t1 = e1 * (r[0] * g0 + r[1] * g1 + r[2] * g2)
                    t2 = e2 * (s[0] * g0 + s[1] * g1 + s[2] * g2)
                    for i in range(3):
                        pull = -(u[i] * t0 + v[i] * t1 + w[i] * t2)
                        pulls[row, a + 1, i] = pull
                        pulls[row, 0, i] -= pull


@inline
def _friction_energy(slid, limit):  # type: ignore[no-untyped-def]
    """Return the energy of friction for a unit weight [m²]: that of a spring of length `slid` that slips beyond
    `limit`."""
    stuck = min(slid, limit)
    return stuck * (slid - 0.5 * stuck)


@kernel("void(f8[:,::1], i4[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1], "
        "f8[:,::1], f8[::1])")
def project_points(x, nodes, weights, targets, normals, begin, moved, friction, lagged, limits, net, energies):  # type: ignore[no-untyped-def]
    """Add −w (x_i − p) of single nodes x, (n, 3) [m], to `net` forces on all nodes, (n, 3) [N], and sum energies, (2,)
    [J].

    p is the target where the normal is zero, else the nearest point of the half-space normal · (p − target) ≥ 0. In
    that case a spring of the same weight resists sliding from `begin`, (n, 3) [m], relative to the displacement `moved`
    of the other surface, (k, 3) [m]; it slips beyond `friction` (k,) times the penetration depth, which is written to
    `limits`, (k,) [m]. The first energy is that of springs with these limits, the second with `lagged` ones, (k,) [m]:
    with constant limits the forces are the gradient of a potential.
    """
    energies[0] = energies[1] = 0.0
    for k in range(nodes.shape[0]):
        i = nodes[k]
        d0, d1, d2 = x[i, 0] - targets[k, 0], x[i, 1] - targets[k, 1], x[i, 2] - targets[k, 2]
        n0, n1, n2 = normals[k, 0], normals[k, 1], normals[k, 2]
        limits[k] = 0.0
        if n0 == 0.0 and n1 == 0.0 and n2 == 0.0:
            energy = lagged_energy = 0.5 * weights[k] * (d0 * d0 + d1 * d1 + d2 * d2)
        else:
            depth = min(n0 * d0 + n1 * d1 + n2 * d2, 0.0)
            if depth == 0.0 and lagged[k] == 0.0:
                continue
            energy = lagged_energy = 0.5 * weights[k] * depth * depth
            d0, d1, d2 = depth * n0, depth * n1, depth * n2
            if friction[k] > 0.0:
                s0, s1, s2 = (x[i, 0] - begin[i, 0] - moved[k, 0], x[i, 1] - begin[i, 1] - moved[k, 1],
                              x[i, 2] - begin[i, 2] - moved[k, 2])
                off = s0 * n0 + s1 * n1 + s2 * n2
                s0, s1, s2 = s0 - off * n0, s1 - off * n1, s2 - off * n2
                slid = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
                limits[k] = -friction[k] * depth
                energy += weights[k] * _friction_energy(slid, limits[k])
                lagged_energy += weights[k] * _friction_energy(slid, lagged[k])
                fraction = min(1.0, limits[k] / max(slid, 1.0e-300))
                d0, d1, d2 = d0 + fraction * s0, d1 + fraction * s1, d2 + fraction * s2
        energies[0] += energy
        energies[1] += lagged_energy
        net[i, 0] -= weights[k] * d0
        net[i, 1] -= weights[k] * d1
        net[i, 2] -= weights[k] * d2
