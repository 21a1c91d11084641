"""As rigid as possible: ψ = μ |F − R|² = μ Σ (σ_i − 1)², R the nearest rotation. [Smith 2019]"""

from __future__ import annotations

from ..state import Vec
from ..threads import kernel
from .algebra import decompose, dot
from .interface import Material
from .isotropic import add_stress, add_tangent
from .lanes import CONSTANT, ENERGY, FLIP, LANES, MATERIAL_KERNEL, SCALING, TWIST, put
from .rotated import over_pairs, strains


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    decompose(work)
    for lane in range(LANES):
        strain = strains(work, lane)
        work[ENERGY * LANES + lane] += work[CONSTANT * LANES + lane] * dot(strain, strain)


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    decompose(work)
    for lane in range(LANES):
        mu, (e1, e2, e3) = work[CONSTANT * LANES + lane], strains(work, lane)
        put(work, SCALING, lane, (2.0 * mu * e1, 2.0 * mu * e2, 2.0 * mu * e3))
    add_stress(work)


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    decompose(work)
    for lane in range(LANES):
        stiff = 2.0 * work[CONSTANT * LANES + lane]
        o1, o2, o3 = over_pairs(work, lane)
        put(work, SCALING, lane, (stiff, stiff, stiff))
        put(work, SCALING + 3, lane, (0.0, 0.0, 0.0))
        put(work, TWIST, lane, (stiff * (1.0 - o1), stiff * (1.0 - o2), stiff * (1.0 - o3)))
        put(work, FLIP, lane, (stiff, stiff, stiff))
    add_tangent(work, project)


class Arap(Material):
    """As-rigid-as-possible elasticity as a material of the element loop. Poisson's ratio is 0."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(youngs_modulus: Vec) -> Vec:
        """Return μ = E/2, (1, e) [Pa]. youngs_modulus: E, (e,) [Pa]. [Smith 2019]"""
        return 0.5 * youngs_modulus[None]
