"""Stress and tangent of any isotropic energy from its derivatives in the singular values.

In the frame of F = U Σ Vᵀ the tangent dP/dF separates into a 3 × 3 block on the diagonal entries and, for each pair of
axes, a twist mode (U_i V_jᵀ − U_j V_iᵀ)/√2 and a flip mode (U_i V_jᵀ + U_j V_iᵀ)/√2. Clamping these eigenvalues at zero
projects the whole tangent. [Smith 2018]
"""

from __future__ import annotations

from ..threads import inline, kernel
from .algebra import clamp_scaling
from .lanes import FLIP, LANES, LEFT, MATERIAL_KERNEL, RIGHT, SCALING, STRESS, TANGENT, TWIST, vector


@inline
def _sum3(a, s, b, t, c, r):  # type: ignore[no-untyped-def]
    """Return s a + t b + r c of three vectors of three."""
    return (s * a[0] + t * b[0] + r * c[0], s * a[1] + t * b[1] + r * c[1], s * a[2] + t * b[2] + r * c[2])


@inline
def _add_block(work, lane, slot, j, m):  # type: ignore[no-untyped-def]
    """Add H_jm[i, k] = ∂P_ij/∂F_km to the nine slots from `slot` on."""
    u1, u2, u3 = vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)
    first = RIGHT * LANES + lane
    x1, x2, x3 = work[first + j * LANES], work[first + (3 + j) * LANES], work[first + (6 + j) * LANES]
    y1, y2, y3 = work[first + m * LANES], work[first + (3 + m) * LANES], work[first + (6 + m) * LANES]
    aa, bb, cc = vector(work, SCALING, lane)
    ab, ac, bc = vector(work, SCALING + 3, lane)
    twist, flip = vector(work, TWIST, lane), vector(work, FLIP, lane)
    s1, d1 = 0.5 * (flip[0] + twist[0]), 0.5 * (flip[0] - twist[0])
    s2, d2 = 0.5 * (flip[1] + twist[1]), 0.5 * (flip[1] - twist[1])
    s3, d3 = 0.5 * (flip[2] + twist[2]), 0.5 * (flip[2] - twist[2])

    # H_jm = Σ_ik u_i u_kᵀ (weights of the pair): nine coefficients, one for each u_i u_kᵀ
    c11 = aa * x1 * y1 + s3 * x2 * y2 + s2 * x3 * y3
    c22 = s3 * x1 * y1 + bb * x2 * y2 + s1 * x3 * y3
    c33 = s2 * x1 * y1 + s1 * x2 * y2 + cc * x3 * y3
    c12 = ab * x1 * y2 + d3 * x2 * y1
    c21 = ab * x2 * y1 + d3 * x1 * y2
    c13 = ac * x1 * y3 + d2 * x3 * y1
    c31 = ac * x3 * y1 + d2 * x1 * y3
    c23 = bc * x2 * y3 + d1 * x3 * y2
    c32 = bc * x3 * y2 + d1 * x2 * y3
    w1 = _sum3(u1, c11, u2, c12, u3, c13)
    w2 = _sum3(u1, c21, u2, c22, u3, c23)
    w3 = _sum3(u1, c31, u2, c32, u3, c33)
    out = slot * LANES + lane
    work[out] += u1[0] * w1[0] + u2[0] * w2[0] + u3[0] * w3[0]
    work[out + LANES] += u1[0] * w1[1] + u2[0] * w2[1] + u3[0] * w3[1]
    work[out + 2 * LANES] += u1[0] * w1[2] + u2[0] * w2[2] + u3[0] * w3[2]
    work[out + 3 * LANES] += u1[1] * w1[0] + u2[1] * w2[0] + u3[1] * w3[0]
    work[out + 4 * LANES] += u1[1] * w1[1] + u2[1] * w2[1] + u3[1] * w3[1]
    work[out + 5 * LANES] += u1[1] * w1[2] + u2[1] * w2[2] + u3[1] * w3[2]
    work[out + 6 * LANES] += u1[2] * w1[0] + u2[2] * w2[0] + u3[2] * w3[0]
    work[out + 7 * LANES] += u1[2] * w1[1] + u2[2] * w2[1] + u3[2] * w3[1]
    work[out + 8 * LANES] += u1[2] * w1[2] + u2[2] * w2[2] + u3[2] * w3[2]


@kernel(MATERIAL_KERNEL)
def add_tangent(work, project):  # type: ignore[no-untyped-def]
    """Add dP/dF to the lane array from its U, V, SCALING, TWIST and FLIP, positive semi-definite if `project`.

    SCALING has ∂²ψ/∂σ_i∂σ_j; TWIST and FLIP have (p_i + p_j)/(σ_i + σ_j) and (p_i − p_j)/(σ_i − σ_j) of the pairs (23,
    13, 12), p = ∂ψ/∂σ. [Smith 2018]
    """
    if project:
        clamp_scaling(work)
    # one loop: LLVM unrolls six short ones into scalar code instead of making vectors of them
    for lane in range(LANES):
        _add_block(work, lane, TANGENT, 0, 0)
        _add_block(work, lane, TANGENT + 9, 1, 1)
        _add_block(work, lane, TANGENT + 18, 2, 2)
        _add_block(work, lane, TANGENT + 27, 1, 0)
        _add_block(work, lane, TANGENT + 36, 2, 0)
        _add_block(work, lane, TANGENT + 45, 2, 1)


@kernel("void(f8[::1])")
def add_stress(work):  # type: ignore[no-untyped-def]
    """Add P = U diag(p) Vᵀ to the lane array from its U, V and the principal stresses p = ∂ψ/∂σ in slots SCALING to +
    2.

    [Smith 2019]
    """
    for lane in range(LANES):
        u1, u2, u3 = vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)
        p1, p2, p3 = vector(work, SCALING, lane)
        for j in range(3):
            right = (RIGHT + j) * LANES + lane
            w = _sum3(u1, p1 * work[right], u2, p2 * work[right + 3 * LANES], u3, p3 * work[right + 6 * LANES])
            out = (STRESS + 3 * j) * LANES + lane
            work[out] += w[0]
            work[out + LANES] += w[1]
            work[out + 2 * LANES] += w[2]
