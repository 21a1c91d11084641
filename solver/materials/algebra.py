"""3 × 3 algebra on lanes, written out and free of branches so that sixteen lanes run as vector code."""

from __future__ import annotations

import math

from ..threads import inline, kernel
from .lanes import EIGENVECTORS, GRADIENT, LANES, LEFT, RIGHT, SCALING, SIGMA, TWIST, put, vector

TINY = 1.0e-300
SWEEPS = 4  #: of Jacobi rotations over all pairs of columns: a 3 × 3 converges to rounding


@inline
def cross(a, b):  # type: ignore[no-untyped-def]
    """Return the cross product a × b of two vectors of three numbers or lanes."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inline
def dot(a, b):  # type: ignore[no-untyped-def]
    """Return the scalar product a · b of two vectors of three numbers or lanes."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def _jacobi_angle(difference, off):  # type: ignore[no-untyped-def]
    """Return the cosine and sine of the rotation that makes `off` zero; difference = b − a of the two diagonal
    entries."""
    sign = 1.0 if difference >= 0.0 else -1.0
    tangent = 2.0 * off * sign / (abs(difference) + math.sqrt(difference * difference + 4.0 * off * off) + TINY)
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    return cosine, cosine * tangent


@inline
def _rotate(a, b, c, s):  # type: ignore[no-untyped-def]
    """Return two columns after a rotation with cosine c and sine s."""
    return (
        (c * a[0] - s * b[0], c * a[1] - s * b[1], c * a[2] - s * b[2]),
        (s * a[0] + c * b[0], s * a[1] + c * b[1], s * a[2] + c * b[2]),
    )


@inline
def _orthogonalise(a, b, p, q):  # type: ignore[no-untyped-def]
    """Rotate columns a, b of F V (and p, q of V) until a · b = 0: one step of one-sided Jacobi."""
    c, s = _jacobi_angle(dot(b, b) - dot(a, a), dot(a, b))
    a, b = _rotate(a, b, c, s)
    p, q = _rotate(p, q, c, s)
    return a, b, p, q


@inline
def _pick(first, a, b):  # type: ignore[no-untyped-def]
    return (a[0] if first else b[0], a[1] if first else b[1], a[2] if first else b[2])


@inline
def _longer_first(a, b, p, q):  # type: ignore[no-untyped-def]
    """Swap columns so that |a| ≥ |b|; one of them is negated, which preserves V as a rotation."""
    keep = dot(a, a) >= dot(b, b)
    sign = 1.0 if keep else -1.0
    second, fourth = _pick(keep, b, a), _pick(keep, q, p)
    return (
        _pick(keep, a, b), (sign * second[0], sign * second[1], sign * second[2]),
        _pick(keep, p, q), (sign * fourth[0], sign * fourth[1], sign * fourth[2]),
    )


@inline
def _unit_or(a, fallback, floor):  # type: ignore[no-untyped-def]
    """Return a / |a|, or the unit vector `fallback` where |a|² does not exceed `floor`."""
    square = dot(a, a)
    usable = square > floor
    scale = 1.0 / math.sqrt(square if usable else 1.0)
    return _pick(usable, (a[0] * scale, a[1] * scale, a[2] * scale), fallback)


@inline
def _any_perpendicular(u):  # type: ignore[no-untyped-def]
    """Return a unit vector at right angles to the unit vector u."""
    x_small = abs(u[0]) < 0.6
    a = _pick(x_small, (0.0, -u[2], u[1]), (-u[2], 0.0, u[0]))
    scale = 1.0 / math.sqrt(dot(a, a))
    return (a[0] * scale, a[1] * scale, a[2] * scale)


@kernel("void(f8[::1])")
def decompose(work):  # type: ignore[no-untyped-def]
    """Write U, σ and V of F = U diag(σ) Vᵀ into the lane array `work`: rotations U and V, |σ| in descending order.

    σ₃ has the sign of det F. One-sided Jacobi, accurate to rounding also at repeated, zero and negative σ. [Smith 2018]
    """
    for lane in range(LANES):
        put(work, LEFT, lane, vector(work, GRADIENT, lane))
        put(work, LEFT + 3, lane, vector(work, GRADIENT + 3, lane))
        put(work, LEFT + 6, lane, vector(work, GRADIENT + 6, lane))
        put(work, RIGHT, lane, (1.0, 0.0, 0.0))
        put(work, RIGHT + 3, lane, (0.0, 1.0, 0.0))
        put(work, RIGHT + 6, lane, (0.0, 0.0, 1.0))

    for _ in range(SWEEPS):
        for lane in range(LANES):
            a, b, c = vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)
            p, q, r = vector(work, RIGHT, lane), vector(work, RIGHT + 3, lane), vector(work, RIGHT + 6, lane)
            a, b, p, q = _orthogonalise(a, b, p, q)
            a, c, p, r = _orthogonalise(a, c, p, r)
            b, c, q, r = _orthogonalise(b, c, q, r)
            put(work, LEFT, lane, a)
            put(work, LEFT + 3, lane, b)
            put(work, LEFT + 6, lane, c)
            put(work, RIGHT, lane, p)
            put(work, RIGHT + 3, lane, q)
            put(work, RIGHT + 6, lane, r)

    for lane in range(LANES):
        a, b, c = vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)
        p, q, r = vector(work, RIGHT, lane), vector(work, RIGHT + 3, lane), vector(work, RIGHT + 6, lane)
        a, b, p, q = _longer_first(a, b, p, q)
        a, c, p, r = _longer_first(a, c, p, r)
        b, c, q, r = _longer_first(b, c, q, r)
        u1 = _unit_or(a, (1.0, 0.0, 0.0), 0.0)
        along = dot(u1, b)
        rest = (b[0] - along * u1[0], b[1] - along * u1[1], b[2] - along * u1[2])
        # what is left of b is noise where it is below the rounding of a
        u2 = _unit_or(rest, _any_perpendicular(u1), 1.0e-30 * dot(a, a))
        u3 = cross(u1, u2)
        put(work, LEFT, lane, u1)
        put(work, LEFT + 3, lane, u2)
        put(work, LEFT + 6, lane, u3)
        put(work, RIGHT, lane, p)
        put(work, RIGHT + 3, lane, q)
        put(work, RIGHT + 6, lane, r)
        put(work, SIGMA, lane, (dot(u1, a), dot(u2, b), dot(u3, c)))


@inline
def _rotate_symmetric(aa, bb, ab, ac, bc, p, q):  # type: ignore[no-untyped-def]
    """Return the entries and columns after one step of two-sided Jacobi in the plane (a, b); p, q: of the
    eigenvectors."""
    c, s = _jacobi_angle(bb - aa, ab)
    p, q = _rotate(p, q, c, s)
    return (
        c * c * aa - 2.0 * c * s * ab + s * s * bb,
        s * s * aa + 2.0 * c * s * ab + c * c * bb,
        (c * c - s * s) * ab + c * s * (aa - bb),
        c * ac - s * bc,
        s * ac + c * bc,
        p,
        q,
    )


@kernel("void(f8[::1])")
def clamp_scaling(work):  # type: ignore[no-untyped-def]
    """Project the symmetric 3 × 3 at SCALING in the lane array `work` to positive semi-definite; clamp TWIST and FLIP
    at 0.

    Two-sided Jacobi. [Smith 2018]
    """
    for lane in range(LANES):
        for slot in range(TWIST, TWIST + 6):
            work[slot * LANES + lane] = max(work[slot * LANES + lane], 0.0)

    # where the leading minors of all lanes are positive there is nothing to clamp
    definite = 0
    for lane in range(LANES):
        xx, yy, zz = vector(work, SCALING, lane)
        xy, xz, yz = vector(work, SCALING + 3, lane)
        second = xx * yy - xy * xy
        third = zz * second - xx * yz * yz - yy * xz * xz + 2.0 * xy * xz * yz
        definite += 1 if min(xx, min(second, third)) > 0.0 else 0
    if definite == LANES:
        return

    for lane in range(LANES):
        put(work, EIGENVECTORS, lane, (1.0, 0.0, 0.0))
        put(work, EIGENVECTORS + 3, lane, (0.0, 1.0, 0.0))
        put(work, EIGENVECTORS + 6, lane, (0.0, 0.0, 1.0))

    for _ in range(SWEEPS):
        for lane in range(LANES):
            xx, yy, zz = vector(work, SCALING, lane)
            xy, xz, yz = vector(work, SCALING + 3, lane)
            p, q = vector(work, EIGENVECTORS, lane), vector(work, EIGENVECTORS + 3, lane)
            r = vector(work, EIGENVECTORS + 6, lane)
            xx, yy, xy, xz, yz, p, q = _rotate_symmetric(xx, yy, xy, xz, yz, p, q)
            xx, zz, xz, xy, yz, p, r = _rotate_symmetric(xx, zz, xz, xy, yz, p, r)
            yy, zz, yz, xy, xz, q, r = _rotate_symmetric(yy, zz, yz, xy, xz, q, r)
            put(work, SCALING, lane, (xx, yy, zz))
            put(work, SCALING + 3, lane, (xy, xz, yz))
            put(work, EIGENVECTORS, lane, p)
            put(work, EIGENVECTORS + 3, lane, q)
            put(work, EIGENVECTORS + 6, lane, r)

    for lane in range(LANES):
        xx, yy, zz = vector(work, SCALING, lane)
        a, b, c = max(xx, 0.0), max(yy, 0.0), max(zz, 0.0)
        p, q = vector(work, EIGENVECTORS, lane), vector(work, EIGENVECTORS + 3, lane)
        r = vector(work, EIGENVECTORS + 6, lane)
        put(work, SCALING, lane, (
            a * p[0] * p[0] + b * q[0] * q[0] + c * r[0] * r[0],
            a * p[1] * p[1] + b * q[1] * q[1] + c * r[1] * r[1],
            a * p[2] * p[2] + b * q[2] * q[2] + c * r[2] * r[2],
        ))
        put(work, SCALING + 3, lane, (
            a * p[0] * p[1] + b * q[0] * q[1] + c * r[0] * r[1],
            a * p[0] * p[2] + b * q[0] * q[2] + c * r[0] * r[2],
            a * p[1] * p[2] + b * q[1] * q[2] + c * r[1] * r[2],
        ))
