"""Invariants of polynomial energies: columns of F, I_C = tr FᵀF, J = det F, and F C with C = FᵀF."""

from __future__ import annotations

from ..threads import inline
from .algebra import cross, dot
from .lanes import GRADIENT, LANES, STRESS, vector


@inline
def columns(work, lane):  # type: ignore[no-untyped-def]
    """Return the three columns of F at a lane."""
    return vector(work, GRADIENT, lane), vector(work, GRADIENT + 3, lane), vector(work, GRADIENT + 6, lane)


@inline
def invariants(a, b, c):  # type: ignore[no-untyped-def]
    """Return I_C = tr FᵀF and J = det F from the columns of F."""
    bc = cross(b, c)
    square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + b[0] * b[0] + b[1] * b[1] + b[2] * b[2]
    square += c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    return square, a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2]


@inline
def square_of_gram(a, b, c):  # type: ignore[no-untyped-def]
    """Return tr C², C = FᵀF, from the columns a, b, c of F."""
    aa, bb, cc, ab, ac, bc = dot(a, a), dot(b, b), dot(c, c), dot(a, b), dot(a, c), dot(b, c)
    return aa * aa + bb * bb + cc * cc + 2.0 * (ab * ab + ac * ac + bc * bc)


@inline
def add_column(work, lane, j, s, a, t, b, r, c):  # type: ignore[no-untyped-def]
    """Add s a + t b + r c to column j of P at a lane."""
    out = (STRESS + 3 * j) * LANES + lane
    work[out] += s * a[0] + t * b[0] + r * c[0]
    work[out + LANES] += s * a[1] + t * b[1] + r * c[1]
    work[out + 2 * LANES] += s * a[2] + t * b[2] + r * c[2]


@inline
def add_gram_stress(work, lane, a, b, c, linear, cubic):  # type: ignore[no-untyped-def]
    """Add linear F + cubic F C to P at a lane. a, b, c: columns of F."""
    ab, ac, bc = cubic * dot(a, b), cubic * dot(a, c), cubic * dot(b, c)
    add_column(work, lane, 0, linear + cubic * dot(a, a), a, ab, b, ac, c)
    add_column(work, lane, 1, ab, a, linear + cubic * dot(b, b), b, bc, c)
    add_column(work, lane, 2, ac, a, bc, b, linear + cubic * dot(c, c), c)


@inline
def add_volume_stress(work, lane, a, b, c, pressure):  # type: ignore[no-untyped-def]
    """Add pressure ∂J/∂F to P at a lane. a, b, c: columns of F."""
    bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
    add_column(work, lane, 0, pressure, bc, 0.0, bc, 0.0, bc)
    add_column(work, lane, 1, pressure, ca, 0.0, ca, 0.0, ca)
    add_column(work, lane, 2, pressure, ab, 0.0, ab, 0.0, ab)
