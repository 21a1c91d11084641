"""Kernels of bends with rest curvature, and of the angle between the planes of two bends."""

from __future__ import annotations

import numpy as np

from ...threads import kernel
from .rope_kernels import FOLDED, SHORT, directions, write_bend_hessian, write_definite_bend_hessian

ROUNDED = 0.1  #: ε relative to the curvature at rest: smooths magnitude and direction of small curvatures
NEAR = 1.0e-5  #: of a link: step of the finite differences of forces for the true K of torsion


@kernel("void(f8, f8, f8, f8[::1])")
def write_bend_energy(c, s, rest, out):  # type: ignore[no-untyped-def]
    """Write the energy [J] of a bend with cos θ = c, and its first two derivatives by c, into out (3,).

    E = ½ s (σ − σ̄)², σ² = |κb|² + ε², |κb|² = 4 (1 − c)/(1 + c); σ̄ is σ at rest, and ε a fraction of |κb| at rest. s:
    B/l̄ [N m]. rest: |κb| at rest.
    """
    open_ = max(1.0 + c, FOLDED)
    soft = ROUNDED * rest
    size = np.sqrt(4.0 * (1.0 - c) / open_ + soft * soft)
    off = size - np.sqrt(rest * rest + soft * soft)
    first = -8.0 / (open_ * open_)  # of |κb|² by c
    slope = 0.5 * first / max(size, SHORT)
    out[0] = 0.5 * s * off * off
    out[1] = s * off * slope
    out[2] = s * (slope * slope + off * (8.0 / (open_ * open_ * open_) - slope * slope) / max(size, SHORT))


@kernel("f8(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[:,:,::1])")
def measure_curved(start, stop, x, nodes, stiffness, rest, forces):  # type: ignore[no-untyped-def]
    """Return the energy [J] of bends `start` to `stop`; write forces (b, 4, 3) [N].

    x: (n, 3) [m]. nodes: (b, 3). stiffness: s [N m], (b,). rest: |κb| at rest, (b,).
    """
    energy, work, of = 0.0, np.empty((4, 3)), np.empty(3)
    for s in range(start, stop):
        c = directions(x, nodes[s], work)
        write_bend_energy(c, stiffness[s], rest[s], of)
        energy += of[0]
        for a in range(3):
            first = of[1] * (work[1, a] - c * work[0, a]) / work[2, 0]
            second = of[1] * (work[0, a] - c * work[1, a]) / work[2, 1]
            forces[s, 0, a], forces[s, 1, a] = first, second - first
            forces[s, 2, a], forces[s, 3, a] = -second, 0.0
    return energy


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], b1, f8[:,:,::1])")
def fill_curved(start, stop, x, nodes, stiffness, rest, project, blocks):  # type: ignore[no-untyped-def]
    """Write blocks of K of bends `start` to `stop`, (b, 6, 9) [N/m].

    x: (n, 3) [m]. nodes: (b, 3). stiffness: s [N m], (b,). rest: |κb| at rest, (b,). If `project`, K is negative
    semi-definite: the term of the gradient of σ, and, where σ exceeds its rest value, a fraction of the projected K of
    a straight rope's bend.
    """
    work, slopes, curves, of = np.empty((4, 3)), np.empty((2, 3, 3)), np.empty((3, 3, 3)), np.empty(3)
    for s in range(start, stop):
        c = directions(x, nodes[s], work)
        write_bend_energy(c, stiffness[s], rest[s], of)
        if project:
            soft = ROUNDED * rest[s]
            open_ = max(1.0 + c, FOLDED)
            size = max(np.sqrt(4.0 * (1.0 - c) / open_ + soft * soft), SHORT)
            over = max(1.0 - np.sqrt(rest[s] * rest[s] + soft * soft) / size, 0.0)
            write_definite_bend_hessian(work, c, 2.0 * stiffness[s] * over, slopes, curves)
            along = (1.0 - over) * stiffness[s] * (4.0 / (open_ * open_ * size)) ** 2
            for a in range(3):
                pa, qa = (work[1, a] - c * work[0, a]) / work[2, 0], (work[0, a] - c * work[1, a]) / work[2, 1]
                for b in range(3):
                    pb, qb = (work[1, b] - c * work[0, b]) / work[2, 0], (work[0, b] - c * work[1, b]) / work[2, 1]
                    curves[0, a, b] += along * pa * pb
                    curves[1, a, b] += along * qa * pb
                    curves[2, a, b] += along * qa * qb
        else:
            write_bend_hessian(work, c, of[1], of[2], curves)
        for a in range(6):
            for b in range(9):
                blocks[s, a, b] = 0.0
        for a in range(3):
            for b in range(3):
                mixed = curves[1, a, b]
                blocks[s, 0, 3 * a + b] = curves[0, a, b] - mixed
                blocks[s, 1, 3 * a + b] = mixed
                blocks[s, 2, 3 * a + b] = curves[2, a, b] - mixed


@kernel("f8(f8[:,::1], f8[::1], f8[::1], f8[:,::1], f8[:,::1])")
def measure_twist(e, rest, rest_twist, work, jacobian):  # type: ignore[no-untyped-def]
    """Return ½ |r|² of the three links e (3, 3) [m] of two bends; write ∂r/∂e and r into jacobian (10, 3).

    r = n₁ − R n₀ with n = κb/√(|κb|² + ε²) of both bends, and R the rotation about the middle link from the first to
    the second at rest. Rows of `jacobian` are links and axes, the last is r. rest: |κb| at rest, (2,). rest_twist: cos
    and sin of R, (2,). work: (14, 3).
    """
    c, size = np.empty(2), np.empty(2)
    for k in range(3):
        l = max(np.sqrt(e[k, 0] ** 2 + e[k, 1] ** 2 + e[k, 2] ** 2), SHORT)
        work[3, k] = l
        for a in range(3):
            work[k, a] = e[k, a] / l
    for k in range(2):
        c[k] = max(1.0 + work[k, 0] * work[k + 1, 0] + work[k, 1] * work[k + 1, 1] + work[k, 2] * work[k + 1, 2],
                   FOLDED)
        soft, square = ROUNDED * rest[k], 0.0
        for a in range(3):
            i, j = (a + 1) % 3, (a + 2) % 3
            work[4 + k, a] = 2.0 * (work[k, i] * work[k + 1, j] - work[k, j] * work[k + 1, i]) / c[k]
            square += work[4 + k, a] ** 2
        size[k] = max(np.sqrt(square + soft * soft), SHORT)
        for a in range(3):
            work[6 + k, a] = work[4 + k, a] / size[k]
    half = 0.0
    for a in range(3):
        i, j = (a + 1) % 3, (a + 2) % 3
        cross = work[1, i] * work[6, j] - work[1, j] * work[6, i]
        jacobian[9, a] = work[7, a] - rest_twist[0] * work[6, a] - rest_twist[1] * cross
        half += 0.5 * jacobian[9, a] ** 2
    for link in range(3):
        for axis in range(3):
            # derivatives by one coordinate of one link: of its direction, both curvatures, both normals
            for k in range(3):
                for a in range(3):
                    work[8 + k, a] = 0.0
            for a in range(3):
                work[8 + link, a] = ((1.0 if a == axis else 0.0) - work[link, a] * work[link, axis]) / work[3, link]
            for k in range(2):
                closer = 0.0
                for a in range(3):
                    closer += work[8 + k, a] * work[k + 1, a] + work[k, a] * work[9 + k, a]
                along = 0.0
                for a in range(3):
                    i, j = (a + 1) % 3, (a + 2) % 3
                    cross = (work[8 + k, i] * work[k + 1, j] - work[8 + k, j] * work[k + 1, i]
                               + work[k, i] * work[9 + k, j] - work[k, j] * work[9 + k, i])
                    work[11 + k, a] = (2.0 * cross - work[4 + k, a] * closer) / c[k]
                    along += work[4 + k, a] * work[11 + k, a]
                for a in range(3):
                    work[11 + k, a] = (work[11 + k, a] - work[6 + k, a] * along / size[k]) / size[k]
            for a in range(3):
                i, j = (a + 1) % 3, (a + 2) % 3
                cross = (work[9, i] * work[6, j] - work[9, j] * work[6, i]
                           + work[1, i] * work[11, j] - work[1, j] * work[11, i])
                jacobian[3 * link + axis, a] = work[12, a] - rest_twist[0] * work[11, a] - rest_twist[1] * cross
    return half


@kernel("void(f8[:,::1], f8[::1])")
def slopes_of_torsion(jacobian, out):  # type: ignore[no-untyped-def]
    """Write Jᵀ r of `measure_twist` into out (9,)."""
    for m in range(9):
        out[m] = 0.0
        for a in range(3):
            out[m] += jacobian[m, a] * jacobian[9, a]


@kernel("void(f8[:,::1], i4[::1], f8[:,::1])")
def links_of(x, nodes, out):  # type: ignore[no-untyped-def]
    """Write the three links between four nodes into out (3, 3) [m]. x: (n, 3) [m]. nodes: (4,)."""
    for k in range(3):
        for a in range(3):
            out[k, a] = x[nodes[k + 1], a] - x[nodes[k], a]


@kernel("f8(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,:,::1])")
def measure_torsion(start, stop, x, nodes, stiffness, rest, rest_twist, forces):  # type: ignore[no-untyped-def]
    """Return the energy [J] of pairs of bends `start` to `stop`; write forces (b, 4, 3) [N].

    x: (n, 3) [m]. nodes: (b, 4). stiffness: C/l [N m], (b,). rest, rest_twist: (b, 2), as of `measure_twist`.
    """
    energy, e, work, jacobian, g = 0.0, np.empty((3, 3)), np.empty((14, 3)), np.empty((10, 3)), np.empty(9)
    for s in range(start, stop):
        links_of(x, nodes[s], e)
        energy += stiffness[s] * measure_twist(e, rest[s], rest_twist[s], work, jacobian)
        slopes_of_torsion(jacobian, g)
        for a in range(3):
            forces[s, 0, a] = stiffness[s] * g[a]
            forces[s, 1, a] = stiffness[s] * (g[3 + a] - g[a])
            forces[s, 2, a] = stiffness[s] * (g[6 + a] - g[3 + a])
            forces[s, 3, a] = -stiffness[s] * g[6 + a]
    return energy


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[:,::1], f8[:,::1], b1, f8[:,:,::1])")
def fill_torsion(start, stop, x, nodes, stiffness, rest, rest_twist, project, blocks):  # type: ignore[no-untyped-def]
    """Write blocks of K of pairs of bends `start` to `stop`, (b, 6, 9) [N/m]: −C/l JᵀJ if `project`, else differences
    of f.

    x: (n, 3) [m]. nodes: (b, 4). stiffness: C/l [N m], (b,). rest, rest_twist: (b, 2), as of `measure_twist`.
    """
    e, work, jacobian, hessian = np.empty((3, 3)), np.empty((14, 3)), np.empty((10, 3)), np.empty((9, 9))
    plus, minus = np.empty(9), np.empty(9)
    for s in range(start, stop):
        links_of(x, nodes[s], e)
        measure_twist(e, rest[s], rest_twist[s], work, jacobian)
        for m in range(9):
            if project:
                for k in range(9):
                    hessian[m, k] = 0.0
                    for a in range(3):
                        hessian[m, k] += stiffness[s] * jacobian[m, a] * jacobian[k, a]
            else:
                link, axis = m // 3, m % 3
                original, step = e[link, axis], NEAR * work[3, link]
                e[link, axis] = original + step
                measure_twist(e, rest[s], rest_twist[s], work, jacobian)
                slopes_of_torsion(jacobian, plus)
                e[link, axis] = original - step
                measure_twist(e, rest[s], rest_twist[s], work, jacobian)
                slopes_of_torsion(jacobian, minus)
                e[link, axis] = original
                for k in range(9):
                    hessian[k, m] = stiffness[s] * (plus[k] - minus[k]) / (2.0 * step)
        for pair in range(6):
            # pairs (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)
            i = 1 if pair == 0 else (2 if pair < 3 else 3)
            j = pair if pair == 0 else (pair - 1 if pair < 3 else pair - 3)
            for a in range(3):
                for b in range(3):
                    # x_i ends link i − 1 and begins link i
                    total = 0.0
                    for p in range(i - 1, i + 1):
                        for q in range(j - 1, j + 1):
                            if 0 <= p < 3 and 0 <= q < 3:
                                sign = (1.0 if p == i - 1 else -1.0) * (1.0 if q == j - 1 else -1.0)
                                total += sign * hessian[3 * p + a, 3 * q + b]
                    blocks[s, pair, 3 * a + b] = -total
