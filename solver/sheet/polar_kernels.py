"""Kernels that average the deformation gradients of faces around a vertex by their rotations and stretches."""

from __future__ import annotations

import math

from ..forces.joint_kernels import exponential, logarithm, product
from ..threads import inline, kernel
from .around_kernels import faces_around

ITERATIONS, CONVERGED = 30, 1.0e-13  #: iterations to the mean rotation at most, and a negligible step [rad]


@inline
def quaternion(a0, a1, a2, b0, b1, b2, c0, c1, c2):  # type: ignore[no-untyped-def]
    """Return the quaternion of the rotation with columns a, b, c, computed from its largest component."""
    trace = a0 + b1 + c2
    if trace >= max(a0, max(b1, c2)):
        w = 0.5 * math.sqrt(max(1.0 + trace, 0.0))
        return w, (b2 - c1) * 0.25 / w, (c0 - a2) * 0.25 / w, (a1 - b0) * 0.25 / w
    if a0 >= max(b1, c2):
        x = 0.5 * math.sqrt(max(1.0 + a0 - b1 - c2, 0.0))
        return (b2 - c1) * 0.25 / x, x, (b0 + a1) * 0.25 / x, (c0 + a2) * 0.25 / x
    if b1 >= c2:
        y = 0.5 * math.sqrt(max(1.0 + b1 - a0 - c2, 0.0))
        return (c0 - a2) * 0.25 / y, (b0 + a1) * 0.25 / y, y, (c1 + b2) * 0.25 / y
    z = 0.5 * math.sqrt(max(1.0 + c2 - a0 - b1, 0.0))
    return (a1 - b0) * 0.25 / z, (c0 + a2) * 0.25 / z, (c1 + b2) * 0.25 / z, z


@kernel("void(f8[:,:,::1], f8[:,::1])")
def decompose(gradients, out):  # type: ignore[no-untyped-def]
    """Write the polar decompositions F = R S of gradients of faces, (m, 3, 2), to `out`, (m, 7).

    A row is R as a quaternion, the third axis of R the normal, then S: entries 00, 01, 11.
    """
    for f in range(gradients.shape[0]):
        c00, c01, c11 = 0.0, 0.0, 0.0
        for i in range(3):
            c00 += gradients[f, i, 0] ** 2
            c01 += gradients[f, i, 0] * gradients[f, i, 1]
            c11 += gradients[f, i, 1] ** 2
        # √C = (C + √det C) / √(tr C + 2 √det C)
        root = math.sqrt(max(c00 * c11 - c01 * c01, 1e-300))
        trace = math.sqrt(c00 + c11 + 2.0 * root)
        s00, s01, s11 = (c00 + root) / trace, c01 / trace, (c11 + root) / trace
        a0 = (gradients[f, 0, 0] * s11 - gradients[f, 0, 1] * s01) / root
        a1 = (gradients[f, 1, 0] * s11 - gradients[f, 1, 1] * s01) / root
        a2 = (gradients[f, 2, 0] * s11 - gradients[f, 2, 1] * s01) / root
        b0 = (gradients[f, 0, 1] * s00 - gradients[f, 0, 0] * s01) / root
        b1 = (gradients[f, 1, 1] * s00 - gradients[f, 1, 0] * s01) / root
        b2 = (gradients[f, 2, 1] * s00 - gradients[f, 2, 0] * s01) / root
        out[f, 0], out[f, 1], out[f, 2], out[f, 3] = quaternion(
            a0, a1, a2, b0, b1, b2, a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)
        out[f, 4], out[f, 5], out[f, 6] = s00, s01, s11


@kernel("void(i4[:,::1], f8[::1], f8[:,::1], f8[:,:,::1])")
def average(faces, areas, polar, out):  # type: ignore[no-untyped-def]
    """Write R̄ S̄, the averages of the faces around each vertex by area, to `out`, (n, 3, 2), with Σ A log(R̄ᵀ R) = 0.

    The iteration starts at the largest face. The result is zero at a vertex without faces. faces: (m, 3). areas: (m,)
    [m²]. polar: polar decompositions, as `decompose` writes them, (m, 7).
    """
    n, m = out.shape[0], faces.shape[0]
    start, around = faces_around(n, m, faces)
    for i in range(n):
        whole, s00, s01, s11, first = 0.0, 0.0, 0.0, 0.0, -1
        for f in around[start[i]:start[i + 1]]:
            whole += areas[f]
            s00 += areas[f] * polar[f, 4]
            s01 += areas[f] * polar[f, 5]
            s11 += areas[f] * polar[f, 6]
            if first < 0 or areas[f] > areas[first] * (1.0 + 1e-9):
                first = f
        out[i] = 0.0
        if first < 0:
            continue
        mean = (polar[first, 0], polar[first, 1], polar[first, 2], polar[first, 3])
        for _ in range(ITERATIONS):
            x, y, z = 0.0, 0.0, 0.0
            back = (mean[0], -mean[1], -mean[2], -mean[3])
            for f in around[start[i]:start[i + 1]]:
                off = logarithm(product(back, (polar[f, 0], polar[f, 1], polar[f, 2], polar[f, 3])))
                x += areas[f] * off[0]
                y += areas[f] * off[1]
                z += areas[f] * off[2]
            x, y, z = x / whole, y / whole, z / whole
            mean = product(mean, exponential(x, y, z))
            if x * x + y * y + z * z < CONVERGED * CONVERGED:
                break
        w, x, y, z = mean
        size = w * w + x * x + y * y + z * z
        s00, s01, s11 = s00 / (whole * size), s01 / (whole * size), s11 / (whole * size)
        a0, a1, a2 = w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
        b0, b1, b2 = 2.0 * (x * y - w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z + w * x)
        out[i, 0, 0], out[i, 0, 1] = a0 * s00 + b0 * s01, a0 * s01 + b0 * s11
        out[i, 1, 0], out[i, 1, 1] = a1 * s00 + b1 * s01, a1 * s01 + b1 * s11
        out[i, 2, 0], out[i, 2, 1] = a2 * s00 + b2 * s01, a2 * s01 + b2 * s11
