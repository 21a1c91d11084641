"""Lamé's constants of small strain."""

from __future__ import annotations

from ..state import Vec


def lame(youngs_modulus: Vec, poisson_ratio: Vec) -> tuple[Vec, Vec]:
    """Return Lamé's constants μ and λ [Pa], (e,) each, from Young's modulus [Pa] and Poisson's ratio, (e,) each.
    [Smith 2018]"""
    lame_mu = youngs_modulus / (2.0 * (1.0 + poisson_ratio))
    return lame_mu, youngs_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))
