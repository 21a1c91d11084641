"""St. Venant-Kirchhoff: ψ = μ |E|² + λ/2 (tr E)², E = (FᵀF − I)/2. [Smith 2019]"""

from __future__ import annotations

import numpy as np

from ..state import Vec
from ..threads import kernel
from .algebra import decompose
from .interface import Material
from .invariants import add_gram_stress, columns, invariants, square_of_gram
from .isotropic import add_tangent
from .lame import lame
from .lanes import CONSTANT, ENERGY, FLIP, LANES, MATERIAL_KERNEL, SCALING, SIGMA, TWIST, put, vector


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        square, _ = invariants(a, b, c)
        trace = 0.5 * (square - 3.0)
        strain_square = 0.25 * (square_of_gram(a, b, c) - 2.0 * square + 3.0)
        work[ENERGY * LANES + lane] += mu * strain_square + 0.5 * lam * trace * trace


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        square, _ = invariants(a, b, c)
        add_gram_stress(work, lane, a, b, c, 0.5 * lam * (square - 3.0) - mu, mu)


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P/∂F of each lane to the lane array [Pa], positive semi-definite if `project`."""
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        s1, s2, s3 = vector(work, SIGMA, lane)
        q1, q2, q3 = s1 * s1, s2 * s2, s3 * s3
        # ∂ψ/∂σ_i = σ_i (μ σ_i² + base)
        base = 0.5 * lam * (q1 + q2 + q3 - 3.0) - mu
        put(work, SCALING, lane, (
            base + (3.0 * mu + lam) * q1, base + (3.0 * mu + lam) * q2, base + (3.0 * mu + lam) * q3))
        put(work, SCALING + 3, lane, (lam * s1 * s2, lam * s1 * s3, lam * s2 * s3))
        put(work, TWIST, lane, (
            base + mu * (q2 - s2 * s3 + q3), base + mu * (q1 - s1 * s3 + q3), base + mu * (q1 - s1 * s2 + q2)))
        put(work, FLIP, lane, (
            base + mu * (q2 + s2 * s3 + q3), base + mu * (q1 + s1 * s3 + q3), base + mu * (q1 + s1 * s2 + q2)))
    add_tangent(work, project)


class StVK(Material):
    """St. Venant-Kirchhoff elasticity as a material of the element loop. It collapses under compression to 0.58 of its
    length."""

    energy, stress, tangent = _energy, _stress, _tangent

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec) -> Vec:
        """Return Lamé's constants μ and λ, (2, e) [Pa]. youngs_modulus [Pa], poisson_ratio: (e,) each. [Smith 2019]"""
        return np.stack(lame(youngs_modulus, poisson_ratio))
