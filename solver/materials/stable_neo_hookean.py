"""Stable Neo-Hookean: ψ = μ/2 (I_C − 3) + λ/2 (J − α)² − μ/2 log(I_C + 1). [Smith 2018]"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..state import Vec
from ..threads import kernel
from .algebra import cross, decompose
from .interface import Material
from .invariants import columns, invariants
from .isotropic import add_tangent
from .lanes import (
    CONSTANT,
    ENERGY,
    FLIP,
    LANES,
    MATERIAL_KERNEL,
    SCALING,
    SIGMA,
    STRESS,
    TWIST,
    put,
    vector,
)


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        square, volume = invariants(a, b, c)
        alpha = 1.0 + 0.75 * mu / lam
        at_rest = 0.5 * lam * (1.0 - alpha) ** 2
        work[ENERGY * LANES + lane] += (
            0.5 * mu * (square - 3.0) + 0.5 * lam * (volume - alpha) ** 2 - 0.5 * mu * math.log((square + 1.0) / 4.0)
        ) - at_rest


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        square, volume = invariants(a, b, c)
        shear = mu * (1.0 - 1.0 / (square + 1.0))
        pressure = lam * (volume - 1.0) - 0.75 * mu
        bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
        p = STRESS * LANES + lane
        work[p] += shear * a[0] + pressure * bc[0]
        work[p + LANES] += shear * a[1] + pressure * bc[1]
        work[p + 2 * LANES] += shear * a[2] + pressure * bc[2]
        work[p + 3 * LANES] += shear * b[0] + pressure * ca[0]
        work[p + 4 * LANES] += shear * b[1] + pressure * ca[1]
        work[p + 5 * LANES] += shear * b[2] + pressure * ca[2]
        work[p + 6 * LANES] += shear * c[0] + pressure * ab[0]
        work[p + 7 * LANES] += shear * c[1] + pressure * ab[1]
        work[p + 8 * LANES] += shear * c[2] + pressure * ab[2]


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        s1, s2, s3 = vector(work, SIGMA, lane)
        square, volume = s1 * s1 + s2 * s2 + s3 * s3, s1 * s2 * s3
        shear = mu * (1.0 - 1.0 / (square + 1.0))
        pressure = lam * (volume - 1.0) - 0.75 * mu
        soften = 2.0 * mu / ((square + 1.0) * (square + 1.0))
        g1, g2, g3 = s2 * s3, s1 * s3, s1 * s2
        put(work, SCALING, lane, (
            shear + soften * s1 * s1 + lam * g1 * g1,
            shear + soften * s2 * s2 + lam * g2 * g2,
            shear + soften * s3 * s3 + lam * g3 * g3,
        ))
        put(work, SCALING + 3, lane, (
            soften * s1 * s2 + lam * g1 * g2 + pressure * s3,
            soften * s1 * s3 + lam * g1 * g3 + pressure * s2,
            soften * s2 * s3 + lam * g2 * g3 + pressure * s1,
        ))
        put(work, TWIST, lane, (shear + pressure * s1, shear + pressure * s2, shear + pressure * s3))
        put(work, FLIP, lane, (shear - pressure * s1, shear - pressure * s2, shear - pressure * s3))
    add_tangent(work, project)


class StableNeoHookean(Material):
    """Stable Neo-Hookean elasticity as a material of the element loop."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def change() -> Any:
        """Return the kernel of dP for a given dF. The tangent, by way of singular values, costs twice as much."""
        from .stable_neo_hookean_change import change

        return change

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec) -> Vec:
        """Return μ and λ, (2, e) [Pa], such that small strain has E and ν. youngs_modulus [Pa], poisson_ratio: (e,)
        each.

        [Smith 2018]
        """
        lame_mu = youngs_modulus / (2.0 * (1.0 + poisson_ratio))
        lame_lambda = youngs_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))
        return np.stack([4.0 / 3.0 * lame_mu, lame_lambda + 5.0 / 6.0 * lame_mu])
