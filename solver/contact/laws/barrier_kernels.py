"""Kernels of the barrier on distances of pairs: energy, forces, and the Hessian, optionally projected.

With e_i = ∂r/∂β_i, G_ij = e_i · e_j and D = |r|², see find/distance_kernels.py,

    ∂D/∂x_a = 2 w_a r,   ∂²D/∂x_a∂x_b = 2 w_a w_b 1 − 2 Σ_ij (w_a e_i + w'_ia r) G⁻¹_ij (w_b e_j + w'_jb r)ᵀ.

The barrier of two nearly parallel edges is mollified by a factor m of c = |u × v|², so that forces are continuous.
"""

from __future__ import annotations

import numpy as np

from ...forces.definite_kernels import eigen, make_definite
from ...threads import inline, kernel
from ..find.distance_kernels import (
    DIFFERENCE,
    FREE,
    SLOPES,
    SQUARE,
    WEIGHTS,
    WORK,
    nearest_in_triangle,
    nearest_on_edges,
)

PARALLEL = 1.0e-3  #: relative to |u|² |v|² at rest: edges with a smaller c are mollified


@kernel("void(i8, i8, i4[:,::1], i8, f8[::1], f8[::1], f8[::1], f8[:,::1], f8[::1], f8[::1])")
def pair_stiffness(start, stop, nodes, points, each, area, areal_mass, x, stiffness, rest):  # type: ignore[no-untyped-def]
    """Write κ of pairs start to stop to `stiffness`, (k,) [N/m], and the bound of mollification to `rest`, (k,) [m⁴].

    κ is that of the softer side plus that of the load on cloth. The bound is PARALLEL |u|² |v|² of two edges at rest, 0
    for a point and a triangle. nodes: (k, 4), the first `points` pairs are of a point and a triangle. each: κ of each
    node, (n,) [N/m]. area, areal_mass: fields of LoadsOnCloth, (n,). x: rest positions, (n, 3) [m].
    """
    mean = np.empty((3, 2))
    for k in range(start, stop):
        a, b, c, d = nodes[k, 0], nodes[k, 1], nodes[k, 2], nodes[k, 3]
        for which in range(3):
            of = each if which == 0 else area if which == 1 else areal_mass
            if k < points:
                mean[which, 0], mean[which, 1] = of[a], (of[b] + of[c] + of[d]) / 3.0
            else:
                mean[which, 0], mean[which, 1] = 0.5 * (of[a] + of[b]), 0.5 * (of[c] + of[d])
        stiffness[k] = min(mean[0, 0], mean[0, 1]) + mean[1, 0] * mean[2, 1] + mean[1, 1] * mean[2, 0]
        rest[k] = 0.0
        if k >= points:
            uu, vv = 0.0, 0.0
            for i in range(3):
                uu += (x[b, i] - x[a, i]) ** 2
                vv += (x[d, i] - x[c, i]) ** 2
            rest[k] = PARALLEL * uu * vv


@kernel("void(f8[:,::1], i4[::1], f8, f8[::1])")
def mollify(x, nodes, rest, out):  # type: ignore[no-untyped-def]
    """Write the mollifier m of two edges, its first and second derivative in c = |u × v|², and c itself to `out`, (4,).

    x: positions, (n, 3) [m]. nodes: two ends of each edge, (4,). rest: c [m⁴] below which m is less than 1, for nearly
    parallel edges.
    """
    a, b, c, d = nodes[0], nodes[1], nodes[2], nodes[3]
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[d, 0] - x[c, 0], x[d, 1] - x[c, 1], x[d, 2] - x[c, 2]
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    square = n0 * n0 + n1 * n1 + n2 * n2
    out[3] = square
    if square >= rest:
        out[0], out[1], out[2] = 1.0, 0.0, 0.0
    else:
        fraction = square / rest
        out[0], out[1], out[2] = (2.0 - fraction) * fraction, (2.0 - 2.0 * fraction) / rest, -2.0 / (rest * rest)


@kernel("void(f8[:,::1], i4[::1], f8[::1])")
def cross_gradient(x, nodes, out):  # type: ignore[no-untyped-def]
    """Write the gradient ∂c/∂x of c = |u × v|², of two edges, to `out`, (12,) [m³]. x: (n, 3) [m]. nodes: (4,)."""
    a, b, c, d = nodes[0], nodes[1], nodes[2], nodes[3]
    uu, vv, uv = 0.0, 0.0, 0.0
    for i in range(3):
        u, v = x[b, i] - x[a, i], x[d, i] - x[c, i]
        uu, vv, uv = uu + u * u, vv + v * v, uv + u * v
    for i in range(3):
        u, v = x[b, i] - x[a, i], x[d, i] - x[c, i]
        of_u, of_v = 2.0 * (vv * u - uv * v), 2.0 * (uu * v - uv * u)
        out[i], out[3 + i], out[6 + i], out[9 + i] = -of_u, of_u, -of_v, of_v


@kernel("void(f8[:,::1], i4[::1], f8, f8[:,::1])")
def add_cross_hessian(x, nodes, factor, out):  # type: ignore[no-untyped-def]
    """Add `factor` times the Hessian ∂²c/∂x² of c = |u × v|², of two edges, to `out`, (12, 12).

    x: positions, (n, 3) [m]. nodes: two ends of each edge, (4,).
    """
    a, b, c, d = nodes[0], nodes[1], nodes[2], nodes[3]
    uu, vv, uv = 0.0, 0.0, 0.0
    for i in range(3):
        u, v = x[b, i] - x[a, i], x[d, i] - x[c, i]
        uu, vv, uv = uu + u * u, vv + v * v, uv + u * v
    for i in range(3):
        ui, vi = x[b, i] - x[a, i], x[d, i] - x[c, i]
        for j in range(3):
            uj, vj = x[b, j] - x[a, j], x[d, j] - x[c, j]
            one = 1.0 if i == j else 0.0
            of_uu, of_vv = 2.0 * factor * (vv * one - vi * vj), 2.0 * factor * (uu * one - ui * uj)
            of_uv = 2.0 * factor * (2.0 * ui * vj - vi * uj - uv * one)
            of_vu = 2.0 * factor * (2.0 * vi * uj - ui * vj - uv * one)
            for m in range(2):
                for n in range(2):
                    sign = 1.0 if m == n else -1.0
                    out[3 * m + i, 3 * n + j] += sign * of_uu
                    out[6 + 3 * m + i, 6 + 3 * n + j] += sign * of_vv
                    out[3 * m + i, 6 + 3 * n + j] += sign * of_uv
                    out[6 + 3 * m + i, 3 * n + j] += sign * of_vu


@inline
def _barrier(fraction):  # type: ignore[no-untyped-def]
    """Return b(s) = −(s − 1)² ln s and its first two derivatives, s a relative squared distance. [Ascher 31]"""
    log, less = np.log(fraction), fraction - 1.0
    return (-less * less * log, -2.0 * less * log - less * less / fraction,
            -2.0 * log - 4.0 * less / fraction + less * less / (fraction * fraction))


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], i8, f8[::1], f8[::1], f8[::1], f8[::1], f8[:,:,::1], f8[::1], f8[:,::1])")
def barrier_forces(start, stop, x, nodes, points, stiffness, rest, thickness, activation, forces, energy, work):  # type: ignore[no-untyped-def]
    """Write forces (k, 4, 3) [N] and energies κ δ² m b((D − t²)/(δ² + 2 t δ)), (k,) [J], of pairs start to stop.

    x: positions, (n, 3) [m]. nodes: (k, 4), of which the first `points` pairs are of a point and a triangle. stiffness:
    κ [N/m], (k,). rest: of edges, see `mollify`, (k,) [m⁴]. thickness: t, the distance of infinite energy [m], (k,).
    activation: δ beyond t [m], (k,). work: (k, WORK), output for the other kernels. [Ascher 33]
    """
    soft, slope = np.empty(4), np.empty(12)
    for k in range(start, stop):
        square = activation[k] * activation[k]
        if k < points:
            nearest_in_triangle(x, nodes[k], work[k])
            soft[0] = 1.0
        else:
            nearest_on_edges(x, nodes[k], work[k])
            mollify(x, nodes[k], rest[k], soft)
        inside = thickness[k] * thickness[k]
        width = square + 2.0 * thickness[k] * activation[k]
        if not work[k, SQUARE] > inside:
            energy[k] = np.inf
            forces[k] = 0.0
            continue
        if work[k, SQUARE] - inside >= width:
            energy[k] = 0.0
            forces[k] = 0.0
            continue
        value, first, _ = _barrier((work[k, SQUARE] - inside) / width)
        first *= square / width
        energy[k] = stiffness[k] * square * soft[0] * value
        for a in range(4):
            for i in range(3):
                forces[k, a, i] = -2.0 * stiffness[k] * soft[0] * first * work[k, WEIGHTS + a] * work[k, DIFFERENCE + i]
        if soft[0] < 1.0 and k >= points:
            cross_gradient(x, nodes[k], slope)
            for a in range(4):
                for i in range(3):
                    forces[k, a, i] -= stiffness[k] * square * value * soft[1] * slope[3 * a + i]


@kernel("i8(f8[::1], f8[:,::1], f8[:,::1])")
def frame(work, rows, axes):  # type: ignore[no-untyped-def]
    """Write orthonormal `rows`, (3, 4), that span the weights and their derivatives, and return their number.

    The first row is along the weights. axes: orthonormal, (3, 3), output, along the difference vector and two across.
    work: of the pair, with e_1 and e_2 appended, (WORK + 6,).
    """
    length = np.sqrt(work[SQUARE])
    least = 0
    for i in range(3):
        axes[0, i], axes[1, i] = work[DIFFERENCE + i] / length, 0.0
        if abs(axes[0, i]) < abs(axes[0, least]):
            least = i
    # a direction across it, along a free parameter if there is one, and the third axis. If the difference vector is
    # nothing but rounding, a free parameter may be along it
    norm = 0.0
    if work[FREE] > 0.5:
        along, whole = 0.0, 0.0
        for i in range(3):
            along += axes[0, i] * work[WORK + i]
            whole += work[WORK + i] * work[WORK + i]
        for i in range(3):
            axes[1, i] = work[WORK + i] - along * axes[0, i]
            norm += axes[1, i] * axes[1, i]
        if norm <= 1.0e-24 * whole:
            norm = 0.0
    if norm == 0.0:
        for i in range(3):
            axes[1, i] = -axes[0, least] * axes[0, i]
        axes[1, least] += 1.0
        for i in range(3):
            norm += axes[1, i] * axes[1, i]
    for i in range(3):
        axes[1, i] /= np.sqrt(norm)
    axes[2, 0] = axes[0, 1] * axes[1, 2] - axes[0, 2] * axes[1, 1]
    axes[2, 1] = axes[0, 2] * axes[1, 0] - axes[0, 0] * axes[1, 2]
    axes[2, 2] = axes[0, 0] * axes[1, 1] - axes[0, 1] * axes[1, 0]

    count = 0
    for i in range(1 + int(work[FREE])):
        norm = 0.0
        for a in range(4):
            rows[count, a] = work[WEIGHTS + a] if i == 0 else work[SLOPES + 4 * (i - 1) + a]
            norm += rows[count, a] * rows[count, a]
        before = norm
        for _ in range(2):
            for j in range(count):
                along = 0.0
                for a in range(4):
                    along += rows[count, a] * rows[j, a]
                for a in range(4):
                    rows[count, a] -= along * rows[j, a]
        norm = 0.0
        for a in range(4):
            norm += rows[count, a] * rows[count, a]
        if norm > 1.0e-24 * before:
            norm = 1.0 / np.sqrt(norm)
            for a in range(4):
                rows[count, a] *= norm
            count += 1
    return count


@kernel("void(f8[::1], f8[:,::1])")
def inverse_of_ends(work, inverse):  # type: ignore[no-untyped-def]
    """Write the inverse of G_ij = e_i · e_j to `inverse`, (2, 2). work: of the pair, with e_1 and e_2, (WORK + 6,)."""
    e = WORK
    g00 = work[e] * work[e] + work[e + 1] * work[e + 1] + work[e + 2] * work[e + 2]
    if work[FREE] < 1.5:
        inverse[0, 0] = 1.0 / g00
        return
    g01 = work[e] * work[e + 3] + work[e + 1] * work[e + 4] + work[e + 2] * work[e + 5]
    g11 = work[e + 3] * work[e + 3] + work[e + 4] * work[e + 4] + work[e + 5] * work[e + 5]
    det = g00 * g11 - g01 * g01
    inverse[0, 0], inverse[1, 1], inverse[0, 1], inverse[1, 0] = g11 / det, g00 / det, -g01 / det, -g01 / det


@kernel("void(f8[::1], f8, f8, f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[:,::1])")
def definite_distance_hessian(work, first, second, rows, axes, part, vectors, values, out):  # type: ignore[no-untyped-def]
    """Write the positive semi-definite part of first ∂²D/∂x² + second ∂D/∂x ∂D/∂xᵀ of a pair to `out`, (12, 12).

    Only the blocks below the diagonal are written. The range is spanned by up to three rows of weights along the
    difference vector, and by the first row along two axes across: in this basis the matrix is small. work: of the pair,
    with e_1 and e_2 appended, (WORK + 6,). The other arrays are scratch space.
    """
    count, free = frame(work, rows, axes), int(work[FREE])
    size = count + 2
    inverse, arms = np.empty((2, 2)), np.empty((2, 5))
    if free:
        inverse_of_ends(work, inverse)
    length, weight = np.sqrt(work[SQUARE]), 0.0
    for a in range(4):
        weight += work[WEIGHTS + a] * work[WEIGHTS + a]
    weight = np.sqrt(weight)
    for i in range(free):
        for j in range(count):
            arms[i, j] = 0.0
            for a in range(4):
                arms[i, j] += length * work[SLOPES + 4 * i + a] * rows[j, a]
        for axis in range(3):
            along = 0.0
            for c in range(3):
                along += work[WORK + 3 * i + c] * axes[axis, c]
            if axis == 0:
                arms[i, 0] += weight * along
            else:
                arms[i, count + axis - 1] = weight * along
    for p in range(size):
        for q in range(p + 1):
            value = 0.0
            for i in range(free):
                for j in range(free):
                    value -= 2.0 * first * arms[i, p] * inverse[i, j] * arms[j, q]
            if p == q and (p == 0 or p >= count):
                value += 2.0 * first * weight * weight
            if p == 0:
                value += 4.0 * second * weight * weight * work[SQUARE]
            part[p, q] = part[q, p] = value
    eigen(part, size, vectors, values)
    # back to the four nodes, along each axis, for each eigenvector
    for p in range(12):
        for q in range(12):
            out[p, q] = 0.0
    for k in range(size):
        if values[k] <= 0.0:
            continue
        for a in range(4):
            along = 0.0
            for j in range(count):
                along += vectors[k, j] * rows[j, a]
            for c in range(3):
                part[0, 3 * a + c] = (along * axes[0, c] + rows[0, a] * (vectors[k, count] * axes[1, c]
                                                                       + vectors[k, count + 1] * axes[2, c]))
        for p in range(3, 12):
            size_of = values[k] * part[0, p]
            for q in range(3 * (p // 3)):
                out[p, q] += size_of * part[0, q]


@kernel("void(f8[::1], f8, f8, f8[:,::1])")
def distance_hessian(work, first, second, out):  # type: ignore[no-untyped-def]
    """Write first ∂²D/∂x² + second ∂D/∂x ∂D/∂xᵀ of a pair to `out`, (12, 12).

    work: of the pair, with e_1 and e_2 appended, (WORK + 6,).
    """
    free = int(work[FREE])
    # e_i, and G⁻¹
    ends = np.zeros((2, 3))
    arms = np.zeros((2, 12))
    inverse = np.zeros((2, 2))
    if free:
        for i in range(free):
            for c in range(3):
                ends[i, c] = work[WORK + 3 * i + c]
        inverse_of_ends(work, inverse)
        for i in range(free):
            for a in range(4):
                for c in range(3):
                    arms[i, 3 * a + c] = (work[WEIGHTS + a] * ends[i, c]
                                          + work[SLOPES + 4 * i + a] * work[DIFFERENCE + c])
    for p in range(12):
        wp, rp = work[WEIGHTS + p // 3], work[DIFFERENCE + p % 3]
        for q in range(12):
            wq, rq = work[WEIGHTS + q // 3], work[DIFFERENCE + q % 3]
            value = 4.0 * second * wp * wq * rp * rq
            if p % 3 == q % 3:
                value += 2.0 * first * wp * wq
            for i in range(free):
                for j in range(free):
                    value -= 2.0 * first * arms[i, p] * inverse[i, j] * arms[j, q]
            out[p, q] = value


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], i8, f8[::1], f8[::1], f8[::1], f8[::1], b1, f8[:,::1], f8[:,:,::1])")
def barrier_stiffness(start, stop, x, nodes, points, stiffness, rest, thickness, activation, project, work, blocks):  # type: ignore[no-untyped-def]
    """Write blocks of K = ∂f/∂x of pairs start to stop, (k, 6, 9) [N/m], negative semi-definite if `project`.

    work: (k, WORK), as `barrier_forces` has written it. The other arguments are those of `barrier_forces`.
    """
    soft, slope = np.empty(4), np.empty(12)
    matrix, part = np.empty((12, 12)), np.empty((12, 12))
    vectors, values = np.empty((12, 12)), np.empty(12)
    rows, axes = np.zeros((3, 4)), np.empty((3, 3))
    known = np.empty(WORK + 6)
    for k in range(start, stop):
        square = activation[k] * activation[k]
        inside = work[k, SQUARE] - thickness[k] * thickness[k]
        width = square + 2.0 * thickness[k] * activation[k]
        if not 0.0 < inside < width:
            blocks[k] = 0.0
            continue
        value, first, second = _barrier(inside / width)
        first, second = first * (square / width), second * (square / width)
        known[:WORK] = work[k]
        for i in range(2):
            for c in range(3):
                end = 0.0
                for a in range(1, 4):
                    end += work[k, SLOPES + 4 * i + a] * (x[nodes[k, a], c] - x[nodes[k, 0], c])
                known[WORK + 3 * i + c] = end
        soft[0] = 1.0
        if k >= points:
            mollify(x, nodes[k], rest[k], soft)
        is_soft = k >= points and soft[0] < 1.0
        of_first, of_second = stiffness[k] * soft[0] * first, stiffness[k] * soft[0] * second / width
        if project and not is_soft:
            definite_distance_hessian(known, of_first, of_second, rows, axes, part, vectors, values, matrix)
        else:
            distance_hessian(known, of_first, of_second, matrix)
        if is_soft:
            cross_gradient(x, nodes[k], slope)
            cross = 2.0 * stiffness[k] * first * soft[1]
            whole = stiffness[k] * square * value
            for p in range(12):
                dp = work[k, WEIGHTS + p // 3] * work[k, DIFFERENCE + p % 3]
                for q in range(12):
                    dq = work[k, WEIGHTS + q // 3] * work[k, DIFFERENCE + q % 3]
                    matrix[p, q] += cross * (dp * slope[q] + slope[p] * dq) + whole * soft[2] * slope[p] * slope[q]
            add_cross_hessian(x, nodes[k], whole * soft[1], matrix)
            if project:
                make_definite(matrix, part, vectors, values)
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                for i in range(3):
                    for j in range(3):
                        blocks[k, pair, 3 * i + j] = -matrix[3 * a + i, 3 * b + j]
                pair += 1
