"""Anisotropic St. Venant-Kirchhoff: ψ = μ/2 (|F a|² − 1)² along a fiber a, in tension and compression. [Kim 2019]"""

from __future__ import annotations

from ..state import Vec
from ..threads import kernel
from .algebra import dot
from .fiber import PARAMETERS, add_stress, add_tangent, deform
from .interface import Material
from .lanes import ENERGY, LANES, MATERIAL_KERNEL


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        f = deform(work, lane)
        work[ENERGY * LANES + lane] += 0.5 * work[PARAMETERS * LANES + lane] * (dot(f, f) - 1.0) ** 2


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        f = deform(work, lane)
        add_stress(work, lane, f, 2.0 * work[PARAMETERS * LANES + lane] * (dot(f, f) - 1.0))


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    for lane in range(LANES):
        mu, f = work[PARAMETERS * LANES + lane], deform(work, lane)
        add_tangent(work, lane, f, 2.0 * mu * (dot(f, f) - 1.0), 4.0 * mu, project)


class AStVK(Material):
    """Anisotropic St. Venant-Kirchhoff fiber as a material of the element loop."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(fiber_modulus: Vec) -> Vec:
        """Return μ, a quarter of the increase of Young's modulus along the fiber, (1, e) [Pa].

        fiber_modulus: that increase, (e,) [Pa]. [Kim 2019]
        """
        return 0.25 * fiber_modulus[None]
