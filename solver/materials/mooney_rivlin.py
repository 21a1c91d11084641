"""Compressible Mooney-Rivlin: ψ = μ₁/2 (I_C − 3) + μ₂/2 (II_C − 3) + Λ/2 (J − 1)² − (μ₁ + 2 μ₂)(J − 1).

II_C = ½ (I_C² − tr C²). Its volume terms are those of Stable Neo-Hookean and not ln J or powers of J, so that ψ is a
polynomial in F and defined for inverted elements. Without μ₂ it is Stable Neo-Hookean without its logarithm.
[Mooney 1940, changed: the volume terms]
"""

from __future__ import annotations

import numpy as np

from ..state import Vec
from ..threads import kernel
from .algebra import decompose
from .interface import Material
from .invariants import add_gram_stress, add_volume_stress, columns, invariants, square_of_gram
from .isotropic import add_tangent
from .lame import lame
from .lanes import CONSTANT, ENERGY, FLIP, LANES, MATERIAL_KERNEL, SCALING, SIGMA, TWIST, put, vector


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        first, second, bulk = vector(work, CONSTANT, lane)
        square, volume = invariants(a, b, c)
        areas = 0.5 * (square * square - square_of_gram(a, b, c))
        work[ENERGY * LANES + lane] += (
            0.5 * first * (square - 3.0) + 0.5 * second * (areas - 3.0) + 0.5 * bulk * (volume - 1.0) ** 2
            - (first + 2.0 * second) * (volume - 1.0)
        )


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        first, second, bulk = vector(work, CONSTANT, lane)
        square, volume = invariants(a, b, c)
        add_gram_stress(work, lane, a, b, c, first + second * square, -second)
        add_volume_stress(work, lane, a, b, c, bulk * (volume - 1.0) - first - 2.0 * second)


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    decompose(work)
    for lane in range(LANES):
        first, second, bulk = vector(work, CONSTANT, lane)
        s1, s2, s3 = vector(work, SIGMA, lane)
        q1, q2, q3 = s1 * s1, s2 * s2, s3 * s3
        g1, g2, g3 = s2 * s3, s1 * s3, s1 * s2
        pressure = bulk * (s1 * g1 - 1.0) - first - 2.0 * second
        put(work, SCALING, lane, (
            first + second * (q2 + q3) + bulk * g1 * g1,
            first + second * (q1 + q3) + bulk * g2 * g2,
            first + second * (q1 + q2) + bulk * g3 * g3,
        ))
        put(work, SCALING + 3, lane, (
            2.0 * second * g3 + bulk * g1 * g2 + pressure * s3,
            2.0 * second * g2 + bulk * g1 * g3 + pressure * s2,
            2.0 * second * g1 + bulk * g2 * g3 + pressure * s1,
        ))
        put(work, TWIST, lane, (
            first + second * (q1 + g1) + pressure * s1,
            first + second * (q2 + g2) + pressure * s2,
            first + second * (q3 + g3) + pressure * s3,
        ))
        put(work, FLIP, lane, (
            first + second * (q1 - g1) - pressure * s1,
            first + second * (q2 - g2) - pressure * s2,
            first + second * (q3 - g3) - pressure * s3,
        ))
    add_tangent(work, project)


class MooneyRivlin(Material):
    """Compressible Mooney-Rivlin as a material of the element loop."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec, mooney_share: Vec) -> Vec:
        """Return μ₁, μ₂ and Λ, (3, e) [Pa], such that small strain has E and ν: μ₁ + μ₂ = μ, Λ = λ + μ₁.

        youngs_modulus [Pa], poisson_ratio, mooney_share: (e,) each; the last is the ratio μ₂ / μ. [Mooney 1940]
        """
        lame_mu, lame_lambda = lame(youngs_modulus, poisson_ratio)
        first = (1.0 - mooney_share) * lame_mu
        return np.stack([first, mooney_share * lame_mu, lame_lambda + first])
