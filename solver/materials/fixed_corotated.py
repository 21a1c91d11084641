"""Fixed corotated: ψ = μ |F − R|² + λ/2 (J − 1)², R the nearest rotation. [Stomakhin 2012]"""

from __future__ import annotations

import numpy as np

from ..state import Vec
from ..threads import kernel
from .algebra import decompose, dot
from .interface import Material
from .isotropic import add_stress, add_tangent
from .lame import lame
from .lanes import CONSTANT, ENERGY, FLIP, LANES, MATERIAL_KERNEL, SCALING, SIGMA, TWIST, put, vector
from .rotated import over_pairs, strains


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        strain, (s1, s2, s3) = strains(work, lane), vector(work, SIGMA, lane)
        work[ENERGY * LANES + lane] += mu * dot(strain, strain) + 0.5 * lam * (s1 * s2 * s3 - 1.0) ** 2


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        (e1, e2, e3), (s1, s2, s3) = strains(work, lane), vector(work, SIGMA, lane)
        pressure = lam * (s1 * s2 * s3 - 1.0)
        put(work, SCALING, lane, (
            2.0 * mu * e1 + pressure * s2 * s3,
            2.0 * mu * e2 + pressure * s1 * s3,
            2.0 * mu * e3 + pressure * s1 * s2,
        ))
    add_stress(work)


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        s1, s2, s3 = vector(work, SIGMA, lane)
        g1, g2, g3 = s2 * s3, s1 * s3, s1 * s2
        o1, o2, o3 = over_pairs(work, lane)
        stiff, pressure = 2.0 * mu, lam * (s1 * g1 - 1.0)
        put(work, SCALING, lane, (stiff + lam * g1 * g1, stiff + lam * g2 * g2, stiff + lam * g3 * g3))
        put(work, SCALING + 3, lane, (
            lam * g1 * g2 + pressure * s3, lam * g1 * g3 + pressure * s2, lam * g2 * g3 + pressure * s1))
        put(work, TWIST, lane, (
            stiff * (1.0 - o1) + pressure * s1, stiff * (1.0 - o2) + pressure * s2, stiff * (1.0 - o3) + pressure * s3))
        put(work, FLIP, lane, (stiff - pressure * s1, stiff - pressure * s2, stiff - pressure * s3))
    add_tangent(work, project)


class FixedCorotated(Material):
    """Fixed corotated elasticity as a material of the element loop."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec) -> Vec:
        """Return Lamé's constants μ and λ, (2, e) [Pa]. youngs_modulus [Pa], poisson_ratio: (e,) each.
        [Stomakhin 2012]"""
        return np.stack(lame(youngs_modulus, poisson_ratio))
