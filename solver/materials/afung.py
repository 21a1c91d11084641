"""Fung's active muscle fiber: slack in compression, exponentially stiffer in tension, shorter when activated.

ψ = c/(2k) (exp(k s²) − 1) with s = ⟨λ/λ₀ − 1⟩, λ = |F a|, and activation shortens λ₀. The exponent k s² is capped at
`CAP`: beyond it the energy continues as the parabola with the same slope and curvature there. [Fung 1967]
"""

from __future__ import annotations

import math

import numpy as np

from ..state import Vec
from ..threads import inline, kernel
from .algebra import dot
from .fiber import PARAMETERS, TINY, add_stress, add_tangent, deform
from .interface import Material
from .lanes import ENERGY, LANES, MATERIAL_KERNEL, vector

CAP = 4.0  #: of the exponent
SHORTENING = 0.3  #: fraction of its length by which a fully activated fiber shortens


@inline
def _strain(work, lane, length):  # type: ignore[no-untyped-def]
    """Return s, the part of s below the cap, exp(k s²) of that part, c, k and λ₀."""
    stiffness, k, rest = vector(work, PARAMETERS, lane)
    strain = max(length / rest - 1.0, 0.0)
    below = min(strain, math.sqrt(CAP / k))
    return strain, below, math.exp(k * below * below), stiffness, k, rest


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        f = deform(work, lane)
        strain, below, growth, stiffness, k, _ = _strain(work, lane, math.sqrt(dot(f, f)))
        above, square = strain - below, k * below * below
        work[ENERGY * LANES + lane] += stiffness * (
            0.5 * math.expm1(square) / k + growth * (below * above + 0.5 * (1.0 + 2.0 * square) * above * above))


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        f = deform(work, lane)
        length = math.sqrt(dot(f, f))
        strain, below, growth, stiffness, k, rest = _strain(work, lane, length)
        slope = stiffness * growth * (below + (1.0 + 2.0 * k * below * below) * (strain - below)) / rest
        add_stress(work, lane, f, slope / max(length, TINY))


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    for lane in range(LANES):
        f = deform(work, lane)
        length = math.sqrt(dot(f, f))
        strain, below, growth, stiffness, k, rest = _strain(work, lane, length)
        stiffening = 1.0 + 2.0 * k * below * below
        across = stiffness * growth * (below + stiffening * (strain - below)) / rest / max(length, TINY)
        along = stiffness * growth * stiffening / (rest * rest) if strain > 0.0 else 0.0
        add_tangent(work, lane, f, across, (along - across) / max(length * length, TINY), project)


class AFung(Material):
    """Fung's active muscle fiber as a material of the element loop."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(fiber_modulus: Vec, fiber_stiffening: Vec, activation: Vec) -> Vec:
        """Return c [Pa], k and λ₀ = 1 − 0.3 a, (3, e).

        fiber_modulus: increase of Young's modulus along an unstretched fiber [Pa]; fiber_stiffening: k; activation: a
        in [0, 1]; (e,) each. [Fung 1967]
        """
        return np.stack([fiber_modulus, fiber_stiffening, 1.0 - SHORTENING * activation])
