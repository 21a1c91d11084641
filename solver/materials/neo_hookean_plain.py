"""Stable Neo-Hookean without its logarithm: ψ = μ/2 (I_C − 3) − μ (J − 1) + Λ/2 (J − 1)². [Smith 2018]"""

from __future__ import annotations

import numpy as np

from ..state import Vec
from .lame import lame
from .mooney_rivlin import MooneyRivlin


class NeoHookeanPlain(MooneyRivlin):
    """Mooney-Rivlin without its second term, as a material of the element loop.

    The polynomial is shorter, but F = 0 is a minimum of it: an element that collapsed to a point stays there. With the
    logarithm of Stable Neo-Hookean that is an unstable equilibrium.
    """

    @staticmethod
    def constants(youngs_modulus: Vec, poisson_ratio: Vec) -> Vec:  # type: ignore[override]
        """Return μ, 0 and Λ = λ + μ, (3, e) [Pa], such that small strain has E and ν. Arguments: (e,) each.
        [Smith 2018]"""
        lame_mu, lame_lambda = lame(youngs_modulus, poisson_ratio)
        return np.stack([lame_mu, np.zeros_like(lame_mu), lame_lambda + lame_mu])
