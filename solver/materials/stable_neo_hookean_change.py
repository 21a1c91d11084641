"""dP of Stable Neo-Hookean for a given dF, without the tangent; only stages with products of K compile it."""

from __future__ import annotations

from ..threads import kernel
from .algebra import cross, dot
from .invariants import add_column, columns, invariants
from .lanes import CHANGE, CONSTANT, LANES, MATERIAL_KERNEL, vector


@kernel(MATERIAL_KERNEL)
def change(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F : dF to the slots of P in the lane array."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        d, e, f = vector(work, CHANGE, lane), vector(work, CHANGE + 3, lane), vector(work, CHANGE + 6, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        square, volume = invariants(a, b, c)
        bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
        shear = mu * (1.0 - 1.0 / (square + 1.0))
        pressure = lam * (volume - 1.0) - 0.75 * mu
        stiffer = 2.0 * mu / ((square + 1.0) * (square + 1.0)) * (dot(a, d) + dot(b, e) + dot(c, f))
        denser = lam * (dot(bc, d) + dot(ca, e) + dot(ab, f))
        ec, bf = cross(e, c), cross(b, f)
        fa, cd = cross(f, a), cross(c, d)
        db, ae = cross(d, b), cross(a, e)
        slope = (ec[0] + bf[0], ec[1] + bf[1], ec[2] + bf[2])
        add_column(work, lane, 0, shear, d, stiffer, a, denser, bc)
        add_column(work, lane, 0, pressure, slope, 0.0, bc, 0.0, bc)
        slope = (fa[0] + cd[0], fa[1] + cd[1], fa[2] + cd[2])
        add_column(work, lane, 1, shear, e, stiffer, b, denser, ca)
        add_column(work, lane, 1, pressure, slope, 0.0, ca, 0.0, ca)
        slope = (db[0] + ae[0], db[1] + ae[1], db[2] + ae[2])
        add_column(work, lane, 2, shear, f, stiffer, c, denser, ab)
        add_column(work, lane, 2, pressure, slope, 0.0, ab, 0.0, ab)
