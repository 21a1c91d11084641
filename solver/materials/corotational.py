"""Linear corotational: ψ = μ |F − R|² + λ/2 (tr RᵀF − 3)², R the nearest rotation. [Smith 2019]"""

from __future__ import annotations

import numpy as np

from ..state import Vec
from ..threads import kernel
from .algebra import decompose, dot
from .interface import Material
from .isotropic import add_stress, add_tangent
from .lame import lame
from .lanes import CONSTANT, ENERGY, FLIP, LANES, MATERIAL_KERNEL, SCALING, TWIST, put
from .rotated import over_pairs, strains


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        strain = strains(work, lane)
        trace = strain[0] + strain[1] + strain[2]
        work[ENERGY * LANES + lane] += mu * dot(strain, strain) + 0.5 * lam * trace * trace


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        e1, e2, e3 = strains(work, lane)
        pressure = lam * (e1 + e2 + e3)
        put(work, SCALING, lane, (2.0 * mu * e1 + pressure, 2.0 * mu * e2 + pressure, 2.0 * mu * e3 + pressure))
    add_stress(work)


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        e1, e2, e3 = strains(work, lane)
        o1, o2, o3 = over_pairs(work, lane)
        stiff, rotational = 2.0 * mu, lam * (e1 + e2 + e3) - 2.0 * mu
        put(work, SCALING, lane, (stiff + lam, stiff + lam, stiff + lam))
        put(work, SCALING + 3, lane, (lam, lam, lam))
        put(work, TWIST, lane, (stiff + rotational * o1, stiff + rotational * o2, stiff + rotational * o3))
        put(work, FLIP, lane, (stiff, stiff, stiff))
    add_tangent(work, project)


class Corotational(Material):
    """Linear corotational elasticity as a material of the element loop."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec) -> Vec:
        """Return Lamé's constants μ and λ, (2, e) [Pa]. youngs_modulus [Pa], poisson_ratio: (e,) each. [Smith 2019]"""
        return np.stack(lame(youngs_modulus, poisson_ratio))
