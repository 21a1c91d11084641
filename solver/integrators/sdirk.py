"""The two singly diagonal Runge-Kutta methods of order 2; they have one stability function."""

from __future__ import annotations

from math import sqrt

from .runge_kutta import RungeKutta

ALPHA = 1.0 - 1.0 / sqrt(2.0)  #: the diagonal of both, γ/2 in one paper and α in the other
BETA = sqrt(2.0) / 4.0
ERROR_CONSTANT = 1.0 / 6.0 - ALPHA**2 * (3.0 - 2.0 * ALPHA)  #: e^z − R(z) over z³
ERROR_SHARE = ERROR_CONSTANT / (ERROR_CONSTANT + 1.0 / 12.0)


class SDIRK(RungeKutta):
    """A trapezoidal stage to γ h, γ = 2 − √2, then the step: TR-BDF2 with one matrix for both stages. [Ascher 9]"""

    table = ((0.0,), (ALPHA, ALPHA), (BETA, BETA, ALPHA))
    error_share = ERROR_SHARE


class SDIRK2(RungeKutta):
    """A backward Euler stage to α h, α = 1 − 1/√2, then the step.

    Explicit forces are those of the pair of order 2 that has this table. [Thesis C.7] [Thesis C.8] [Ascher 1997]
    """

    table = ((ALPHA,), (1.0 - ALPHA, ALPHA))
    foresight = (0.0, 0.5 / ALPHA**2)
    error_share = ERROR_SHARE


class SSDIRK2(SDIRK2):
    """Its semi-implicit variant, both stages on one factor; also starts SBDF2."""

    linearised = True
