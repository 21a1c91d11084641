"""Stress and tangent of fiber models: energies in f = F a, a the fiber's unit direction in material space.

P = s f aᵀ, and the tangent is ∂P_ij/∂F_kl = a_j a_l M_ik with M = across I + extra f fᵀ. Its eigenvalues are `across`,
twice, for rotations of the fiber, and across + extra |f|² along it; the other six are zero. [Kim 2019]
"""

from __future__ import annotations

from ..threads import inline
from .algebra import dot
from .invariants import columns
from .lanes import CONSTANT, LANES, STRESS, TANGENT, vector

DIRECTION = CONSTANT  #: a, unit length, 3 slots; the element loop puts it in front of the model's own constants
PARAMETERS = CONSTANT + 3  #: constants of the model, up to 5 slots
TINY = 1.0e-300


@inline
def deform(work, lane):  # type: ignore[no-untyped-def]
    """Return f = F a of a lane."""
    (x, y, z), (a, b, c) = vector(work, DIRECTION, lane), columns(work, lane)
    return (x * a[0] + y * b[0] + z * c[0], x * a[1] + y * b[1] + z * c[1], x * a[2] + y * b[2] + z * c[2])


@inline
def add_stress(work, lane, f, s):  # type: ignore[no-untyped-def]
    """Add s f aᵀ to P of a lane."""
    direction = vector(work, DIRECTION, lane)
    for j in range(3):
        out, pull = (STRESS + 3 * j) * LANES + lane, s * direction[j]
        work[out] += pull * f[0]
        work[out + LANES] += pull * f[1]
        work[out + 2 * LANES] += pull * f[2]


@inline
def add_tangent(work, lane, f, across, extra, project):  # type: ignore[no-untyped-def]
    """Add a_j a_l M_ik to the tangent of a lane, M = across I + extra f fᵀ positive semi-definite if `project`."""
    square = dot(f, f)
    along = across + extra * square
    if project:
        across, along = max(across, 0.0), max(along, 0.0)
        extra = (along - across) / max(square, TINY)
    a = vector(work, DIRECTION, lane)
    xx, yy, zz = across + extra * f[0] * f[0], across + extra * f[1] * f[1], across + extra * f[2] * f[2]
    xy, xz, yz = extra * f[0] * f[1], extra * f[0] * f[2], extra * f[1] * f[2]
    # (j, l) of the six blocks
    weights = (a[0] * a[0], a[1] * a[1], a[2] * a[2], a[1] * a[0], a[2] * a[0], a[2] * a[1])
    for block in range(6):
        w, out = weights[block], (TANGENT + 9 * block) * LANES + lane
        work[out] += w * xx
        work[out + LANES] += w * xy
        work[out + 2 * LANES] += w * xz
        work[out + 3 * LANES] += w * xy
        work[out + 4 * LANES] += w * yy
        work[out + 5 * LANES] += w * yz
        work[out + 6 * LANES] += w * xz
        work[out + 7 * LANES] += w * yz
        work[out + 8 * LANES] += w * zz
