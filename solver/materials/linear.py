"""Linear elasticity of small strain: ψ = μ |ε|² + λ/2 (tr ε)², ε = (F + Fᵀ)/2 − I. [Smith 2019]"""

from __future__ import annotations

import numpy as np

from ..state import Vec
from ..threads import kernel
from .interface import Material
from .invariants import columns
from .lame import lame
from .lanes import CONSTANT, ENERGY, LANES, MATERIAL_KERNEL, STRESS, TANGENT


@kernel(MATERIAL_KERNEL)
def _energy(work, project):  # type: ignore[no-untyped-def]
    """Add ψ(F) of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        xx, yy, zz = a[0] - 1.0, b[1] - 1.0, c[2] - 1.0
        xy, xz, yz = a[1] + b[0], a[2] + c[0], b[2] + c[1]
        trace = xx + yy + zz
        work[ENERGY * LANES + lane] += (
            mu * (xx * xx + yy * yy + zz * zz + 0.5 * (xy * xy + xz * xz + yz * yz)) + 0.5 * lam * trace * trace)


@kernel(MATERIAL_KERNEL)
def _stress(work, project):  # type: ignore[no-untyped-def]
    """Add P = ∂ψ/∂F of each lane to the lane array [Pa]."""
    for lane in range(LANES):
        a, b, c = columns(work, lane)
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        pressure = lam * (a[0] + b[1] + c[2] - 3.0)
        xy, xz, yz = mu * (a[1] + b[0]), mu * (a[2] + c[0]), mu * (b[2] + c[1])
        p = STRESS * LANES + lane
        work[p] += 2.0 * mu * (a[0] - 1.0) + pressure
        work[p + LANES] += xy
        work[p + 2 * LANES] += xz
        work[p + 3 * LANES] += xy
        work[p + 4 * LANES] += 2.0 * mu * (b[1] - 1.0) + pressure
        work[p + 5 * LANES] += yz
        work[p + 6 * LANES] += xz
        work[p + 7 * LANES] += yz
        work[p + 8 * LANES] += 2.0 * mu * (c[2] - 1.0) + pressure


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P_ij/∂F_kl = μ (δ_ik δ_jl + δ_il δ_jk) + λ δ_ij δ_kl: constant and positive semi-definite."""
    for block in range(6):
        # (j, l) of the six blocks: the diagonal ones, then (1, 0), (2, 0), (2, 1)
        j = block if block < 3 else (1 if block == 3 else 2)
        l = block if block < 3 else (1 if block == 5 else 0)
        for i in range(3):
            for k in range(3):
                shears = (1.0 if i == k and j == l else 0.0) + (1.0 if i == l and j == k else 0.0)
                swells = 1.0 if i == j and k == l else 0.0
                out = (TANGENT + 9 * block + 3 * i + k) * LANES
                for lane in range(LANES):
                    work[out + lane] += (
                        shears * work[CONSTANT * LANES + lane] + swells * work[(CONSTANT + 1) * LANES + lane])


class Linear(Material):
    """Linear elasticity as a material of the element loop. Not objective: a rotation increases the volume."""

    energy, stress, tangent = _energy, _stress, _tangent
    is_objective = False

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec) -> Vec:
        """Return Lamé's constants μ and λ, (2, e) [Pa]. youngs_modulus [Pa], poisson_ratio: (e,) each. [Smith 2019]"""
        return np.stack(lame(youngs_modulus, poisson_ratio))
