"""Kernels of triangles that resist in-plane strain: ψ = ½ ε : C : ε with ε = S − 1, F = R S, C orthotropic.

With d = Rᵀ δF in the plane and w = nᵀ δF out of it, k = d₂₁ − d₁₂, t = tr S and J the rotation by 90°,

    δS = d − (k/t) J S,   δ²ψ = δS : C : δS + T : δ²S + 2 wᵀ Y w,   T = C : ε,   S Y + Y S = T.

So in-plane and out-of-plane changes decouple, and each is projected by itself. F has two columns: any F has a
rotation, and an inverted triangle does not differ from one that is not.

Cloth with a limit of its stretch is stiff beyond it along four directions e of its material, warp, weft and their
diagonals, each by an energy w(|F e|), whose derivatives are those of a thread under tension:

    P += w' l eᵀ,   δ²ψ += (w'' − w'/|F e|) (l · δF e)² + (w'/|F e|) |δF e|²,   l = F e/|F e|.
"""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel
from ..definite_kernels import eigen

FLAT = 1.0e-12  #: |f₁ × f₂|² below which a triangle is a line and has no normal of its own
THINNEST = 1.0e-3  #: det S below which the tension across a triangle no longer grows
FRAME = 9  #: R and n, by columns
STRAIN = 3  #: S₁₁, S₂₂, S₁₂
CONSTANTS = 8  #: C₁₁, C₂₂, C₁₂, G [N/m]; the limit, and stiffnesses of warp, weft and diagonals beyond it [N/m]
DIRECTIONS = 4  #: number of directions with a limit
HALF = np.sqrt(0.5)
DIAGONAL_FACTOR = 2.0  #: factor of the limit along diagonals, where threads rotate first
SOFTLY = 0.1  #: of the limit: additional stretch over which the stiffness rises to its full value


@inline
def _stress(strain, constants):  # type: ignore[no-untyped-def]
    """Return T = C : ε by (11, 22, 12)."""
    a, b = strain[0] - 1.0, strain[1] - 1.0
    return (constants[0] * a + constants[2] * b, constants[2] * a + constants[1] * b, 2.0 * constants[3] * strain[2])


@inline
def _direction(k):  # type: ignore[no-untyped-def]
    """Return e of warp, weft or a diagonal, and a factor of the limit along it."""
    if k == 0:
        return 1.0, 0.0, 1.0
    if k == 1:
        return 0.0, 1.0, 1.0
    return HALF, HALF if k == 2 else -HALF, DIAGONAL_FACTOR


@inline
def _measure_stretch(strain, k):  # type: ignore[no-untyped-def]
    """Return e of the k-th direction, S e, its length, and a factor of the limit along it."""
    e0, e1, factor = _direction(k)
    l0, l1 = strain[0] * e0 + strain[2] * e1, strain[2] * e0 + strain[1] * e1
    return e0, e1, l0, l1, np.sqrt(l0 * l0 + l1 * l1), factor


@inline
def _evaluate_limit(length, limit, stiffness):  # type: ignore[no-untyped-def]
    """Return w of a stretch past a limit and its first two derivatives: a cubic, then a parabola, twice
    differentiable."""
    past, width = length - 1.0 - limit, SOFTLY * limit
    if past < width:
        slope = stiffness * past * past / (2.0 * width)
        return slope * past / 3.0, slope, stiffness * past / width
    return stiffness * (0.5 * past * (past - width) + width * width / 6.0), stiffness * (past - 0.5 * width), stiffness


@kernel("void(f8[:,::1], i4[::1], f8[:,::1], f8[::1], f8[::1])")
def split_rotation_and_strain(x, nodes, gradients, frame, strain):  # type: ignore[no-untyped-def]
    """Write R and n, by columns, into frame (9,), and S by (11, 22, 12) into strain (3,), of F = Σ x ∇N.

    x: (n, 3) [m]. nodes: (3,). gradients: (3, 2) [1/m]. Where F has no area, n is any normal; where F is zero, R is any
    rotation; S is exact in either case.
    """
    for k in range(6):
        frame[k] = 0.0
    for a in range(3):
        for c in range(3):
            frame[c] += (x[nodes[a], c] - x[nodes[0], c]) * gradients[a, 0]
            frame[3 + c] += (x[nodes[a], c] - x[nodes[0], c]) * gradients[a, 1]
    f0, f1, f2, g0, g1, g2 = frame[0], frame[1], frame[2], frame[3], frame[4], frame[5]
    ff, gg = f0 * f0 + f1 * f1 + f2 * f2, g0 * g0 + g1 * g1 + g2 * g2
    n0, n1, n2 = f1 * g2 - f2 * g1, f2 * g0 - f0 * g2, f0 * g1 - f1 * g0
    square = n0 * n0 + n1 * n1 + n2 * n2
    area = np.sqrt(square)
    if square <= FLAT * FLAT or square <= FLAT * ff * gg:
        # normal to the longer column and to an axis that is not along it
        if ff >= gg:
            u0, u1, u2 = f0, f1, f2
        else:
            u0, u1, u2 = g0, g1, g2
        if u0 * u0 + u1 * u1 + u2 * u2 <= FLAT * FLAT:
            u0, u1, u2 = 1.0, 0.0, 0.0
        if abs(u2) <= abs(u0) or abs(u2) <= abs(u1):
            n0, n1, n2 = u1, -u0, 0.0
        else:
            n0, n1, n2 = 0.0, u2, -u1
        square = n0 * n0 + n1 * n1 + n2 * n2
    one = 1.0 / np.sqrt(square)
    n0, n1, n2 = n0 * one, n1 * one, n2 * one
    # R = (F + cof F) / tr S, cof F = (f₂ × n, n × f₁)
    t = np.sqrt(ff + gg + 2.0 * area)
    if t <= FLAT:
        frame[0], frame[1], frame[2] = n1 * n1 + n2 * n2, -n0 * n1, -n0 * n2
        if frame[0] <= 0.5:
            frame[0], frame[1], frame[2] = -n1 * n0, n0 * n0 + n2 * n2, -n1 * n2
        one = 1.0 / np.sqrt(frame[0] ** 2 + frame[1] ** 2 + frame[2] ** 2)
        frame[0], frame[1], frame[2] = one * frame[0], one * frame[1], one * frame[2]
        frame[3] = n1 * frame[2] - n2 * frame[1]
        frame[4] = n2 * frame[0] - n0 * frame[2]
        frame[5] = n0 * frame[1] - n1 * frame[0]
    else:
        one = 1.0 / t
        frame[0] = one * (f0 + g1 * n2 - g2 * n1)
        frame[1] = one * (f1 + g2 * n0 - g0 * n2)
        frame[2] = one * (f2 + g0 * n1 - g1 * n0)
        frame[3] = one * (g0 + n1 * f2 - n2 * f1)
        frame[4] = one * (g1 + n2 * f0 - n0 * f2)
        frame[5] = one * (g2 + n0 * f1 - n1 * f0)
    frame[6], frame[7], frame[8] = n0, n1, n2
    strain[0] = frame[0] * f0 + frame[1] * f1 + frame[2] * f2
    strain[1] = frame[3] * g0 + frame[4] * g1 + frame[5] * g2
    strain[2] = frame[0] * g0 + frame[1] * g1 + frame[2] * g2


@kernel("f8(f8[::1], f8[::1], f8[::1], f8[:,::1], f8, f8[:,::1])")
def measure_triangle(frame, strain, constants, gradients, area, forces):  # type: ignore[no-untyped-def]
    """Return the energy of a triangle [J]; write its forces −A P ∇N, (4, 3) [N].

    frame, strain: from `split_rotation_and_strain`. constants: (CONSTANTS,). gradients: (3, 2) [1/m]. area: A [m²].
    """
    s11, s22, s12 = strain[0], strain[1], strain[2]
    t11, t22, t12 = _stress(strain, constants)
    trace = max(s11 + s22, FLAT)
    # T and S need not commute where the sheet is not isotropic: then rotating R does work on T as well
    rotation = (t12 * (s11 - s22) + (t22 - t11) * s12) / trace
    p11, p22, p12, p21 = t11, t22, t12 + rotation, t12 - rotation
    energy = 0.5 * (t11 * (s11 - 1.0) + t22 * (s22 - 1.0) + 2.0 * t12 * s12)
    limit = constants[4]
    if limit > 0.0 and s11 + s22 > 1.0 + limit:  # no stretch is more than the trace
        for k in range(DIRECTIONS):
            e0, e1, l0, l1, length, factor = _measure_stretch(strain, k)
            if length > 1.0 + factor * limit:
                value, slope, _ = _evaluate_limit(length, factor * limit, constants[5 + min(k, 2)])
                energy += value
                slope /= length
                p11, p12 = p11 + slope * l0 * e0, p12 + slope * l0 * e1
                p21, p22 = p21 + slope * l1 * e0, p22 + slope * l1 * e1
    for a in range(3):
        along = -area * (p11 * gradients[a, 0] + p12 * gradients[a, 1])
        across = -area * (p21 * gradients[a, 0] + p22 * gradients[a, 1])
        for c in range(3):
            forces[a, c] = frame[c] * along + frame[3 + c] * across
    for c in range(3):
        forces[3, c] = 0.0
    return area * energy


@kernel("void(f8[:,::1], i8, f8[:,::1], f8[:,::1], f8[::1])")
def definite(matrix, size, scratch, vectors, values):  # type: ignore[no-untyped-def]
    """Replace a symmetric matrix (size, size) by its positive semi-definite projection.

    A matrix with a Cholesky factor does not change. scratch, vectors: (≥ size, ≥ size). values: (≥ size,).
    """
    is_definite = True
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= scratch[i, k] * scratch[j, k]
            if i > j:
                scratch[i, j] = total / scratch[j, j]
            elif total > 0.0:
                scratch[i, i] = np.sqrt(total)
            else:
                is_definite = False
                break
        if not is_definite:
            break
    if is_definite:
        return
    for i in range(size):
        for j in range(size):
            scratch[i, j] = matrix[i, j]
            matrix[i, j] = 0.0
    eigen(scratch, size, vectors, values)
    for k in range(size):
        if values[k] > 0.0:
            for i in range(size):
                for j in range(size):
                    matrix[i, j] += values[k] * vectors[k, i] * vectors[k, j]


@kernel("void(f8[::1], f8[::1], b1, f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1])")
def bend_of_energy(strain, constants, project, plane, normal, scratch, vectors, values):  # type: ignore[no-untyped-def]
    """Write ∂²ψ/∂d² by (d₁₁, d₂₁, d₁₂, d₂₂) into plane (4, 4), and ∂²ψ/∂w² into the first 2 × 2 entries of `normal`.

    strain: from `split_rotation_and_strain`. constants: (CONSTANTS,). If `project`, both are positive semi-definite.
    """
    s11, s22, s12 = strain[0], strain[1], strain[2]
    t11, t22, t12 = _stress(strain, constants)
    one = 1.0 / max(s11 + s22, THINNEST)
    rotation = t12 * (s11 - s22) + (t22 - t11) * s12
    work = t11 * s11 + t22 * s22 + 2.0 * t12 * s12
    for i in range(4):
        k = one * (1.0 if i == 1 else -1.0 if i == 2 else 0.0)
        # δS of each of the four, and the parts of T : δ²S
        vectors[0, i] = (1.0 if i == 0 else 0.0) + k * s12
        vectors[1, i] = (1.0 if i == 3 else 0.0) - k * s12
        vectors[2, i] = (1.0 if i == 2 else 0.0) + k * s22
        vectors[3, i] = k
    for i in range(4):
        a, b, c, k = vectors[0, i], vectors[1, i], vectors[2, i], vectors[3, i]
        quarter = t12 if i == 0 else -t11 if i == 1 else t22 if i == 2 else -t12
        spread = 1.0 if i == 0 or i == 3 else 0.0
        for j in range(4):
            e, f, g, m = vectors[0, j], vectors[1, j], vectors[2, j], vectors[3, j]
            other = t12 if j == 0 else -t11 if j == 1 else t22 if j == 2 else -t12
            wide = 1.0 if j == 0 or j == 3 else 0.0
            plane[i, j] = (constants[0] * a * e + constants[1] * b * f + constants[2] * (a * f + b * e)
                           + 4.0 * constants[3] * c * g + rotation * one * (k * wide + m * spread)
                           - k * other - m * quarter - work * k * m)
    # Y = (det S T + adj S T adj S) / (2 tr S det S)
    whole = max(s11 * s22 - s12 * s12, THINNEST)
    u11 = s22 * t11 - s12 * t12
    u12 = s22 * t12 - s12 * t22
    u21 = s11 * t12 - s12 * t11
    u22 = s11 * t22 - s12 * t12
    scale = one / whole
    normal[0, 0] = scale * (whole * t11 + u11 * s22 - u12 * s12)
    normal[1, 1] = scale * (whole * t22 + u22 * s11 - u21 * s12)
    normal[0, 1] = normal[1, 0] = scale * (whole * t12 + u12 * s11 - u11 * s12)
    limit = constants[4]
    if limit > 0.0 and s11 + s22 > 1.0 + limit:
        for k in range(DIRECTIONS):
            e0, e1, l0, l1, length, factor = _measure_stretch(strain, k)
            if length > 1.0 + factor * limit:
                _, slope, bend = _evaluate_limit(length, factor * limit, constants[5 + min(k, 2)])
                slope /= length
                bend = (bend - slope) / (length * length)
                for i in range(2):
                    for j in range(2):
                        across = (e0 if i == 0 else e1) * (e0 if j == 0 else e1)
                        normal[i, j] += slope * across
                        plane[2 * i, 2 * j] += across * (slope + bend * l0 * l0)
                        plane[2 * i + 1, 2 * j + 1] += across * (slope + bend * l1 * l1)
                        plane[2 * i, 2 * j + 1] += across * bend * l0 * l1
                        plane[2 * i + 1, 2 * j] += across * bend * l0 * l1
    if project:
        definite(plane, 4, scratch, vectors, values)
        definite(normal, 2, scratch, vectors, values)


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[:,:,::1], f8[::1], f8[::1], f8[:,:,::1], f8[::1])")
def measure(start, stop, x, nodes, gradients, areas, constants, forces, energies):  # type: ignore[no-untyped-def]
    """Write forces (e, 4, 3) [N] and energies (e,) [J] of triangles `start` to `stop`.

    x: (n, 3) [m]. nodes: (e, 3). gradients: (e, 3, 2) [1/m]. areas: (e,) [m²]. constants: (CONSTANTS,).
    """
    frame, strain = np.empty(FRAME), np.empty(STRAIN)
    for e in range(start, stop):
        split_rotation_and_strain(x, nodes[e], gradients[e], frame, strain)
        energies[e] = measure_triangle(frame, strain, constants, gradients[e], areas[e], forces[e])


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[:,:,::1], f8[::1], f8[::1], b1, f8[:,:,::1], f8[:,:,::1])")
def fill(start, stop, x, nodes, gradients, areas, constants, project, forces, blocks):  # type: ignore[no-untyped-def]
    """Write forces (e, 4, 3) [N] and blocks of K = ∂f/∂x of pairs of nodes, (e, 6, 9) [N/m], of triangles `start` to
    `stop`.

    x: (n, 3) [m]. nodes: (e, 3). gradients: (e, 3, 2) [1/m]. areas: (e,) [m²]. constants: (CONSTANTS,). K is negative
    semi-definite if `project`.
    """
    frame, strain = np.empty(FRAME), np.empty(STRAIN)
    plane, normal = np.empty((4, 4)), np.empty((4, 4))
    scratch, vectors, values = np.empty((4, 4)), np.empty((4, 4)), np.empty(4)
    for e in range(start, stop):
        split_rotation_and_strain(x, nodes[e], gradients[e], frame, strain)
        area = areas[e]
        measure_triangle(frame, strain, constants, gradients[e], area, forces[e])
        bend_of_energy(strain, constants, project, plane, normal, scratch, vectors, values)
        pair = 0
        for a in range(1, 3):
            for b in range(a):
                g0, g1, h0, h1 = gradients[e, a, 0], gradients[e, a, 1], gradients[e, b, 0], gradients[e, b, 1]
                n = -area * (g0 * (h0 * normal[0, 0] + h1 * normal[0, 1])
                             + g1 * (h0 * normal[1, 0] + h1 * normal[1, 1]))
                for r in range(2):
                    for s in range(2):
                        scratch[r, s] = -area * (g0 * (h0 * plane[r, s] + h1 * plane[r, 2 + s])
                                                 + g1 * (h0 * plane[2 + r, s] + h1 * plane[2 + r, 2 + s]))
                for r in range(3):
                    for s in range(3):
                        blocks[e, pair, 3 * r + s] = (
                            frame[r] * (scratch[0, 0] * frame[s] + scratch[0, 1] * frame[3 + s])
                            + frame[3 + r] * (scratch[1, 0] * frame[s] + scratch[1, 1] * frame[3 + s])
                            + n * frame[6 + r] * frame[6 + s])
                pair += 1
        for pair in range(3, 6):
            for k in range(9):
                blocks[e, pair, k] = 0.0
