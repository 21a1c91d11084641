"""Singly diagonally implicit Runge-Kutta methods of order 2; two of them have one stability function."""

from __future__ import annotations

from math import sqrt

from .runge_kutta import RungeKutta

ALPHA = 1.0 - 1.0 / sqrt(2.0)  #: the diagonal of both, γ/2 in one paper and α in the other
BETA = sqrt(2.0) / 4.0
ERROR_CONSTANT = 1.0 / 6.0 - ALPHA**2 * (3.0 - 2.0 * ALPHA)  #: e^z − R(z) over z³
ERROR_RATIO = ERROR_CONSTANT / (ERROR_CONSTANT + 1.0 / 12.0)


class SDIRK(RungeKutta):
    """SDIRK of a trapezoidal stage to γ h, γ = 2 − √2, then the step: TR-BDF2 with one matrix for both stages.
    [Ascher 9]"""

    table = ((0.0,), (ALPHA, ALPHA), (BETA, BETA, ALPHA))
    error_ratio = ERROR_RATIO


class SDIRK2(RungeKutta):
    """SDIRK of a backward Euler stage to α h, α = 1 − 1/√2, then the step.

    Explicit forces are those of the pair of order 2 that has this table. [Thesis C.7] [Thesis C.8] [Ascher 1997]
    """

    table = ((ALPHA,), (1.0 - ALPHA, ALPHA))
    foresight = (0.0, 0.5 / ALPHA**2)
    error_ratio = ERROR_RATIO


class SSDIRK2(SDIRK2):
    """Semi-implicit SDIRK2, both stages on one factor; also the first step of SBDF2."""

    linearised = True

    def __init__(self, params: dict[str, float]) -> None:
        """params: turns_freely, whether stiffness does not damp rotation, with Vanilla FEM."""
        self.turns_freely = bool(params.get("turns_freely", False))


#: root of √3 γ² = ½ − 3 γ + 3 γ²: |R(iy)|² = 1 − γ⁶ y⁶ / (1 + γ² y²)³, without the term in y⁴ that others have
GAMMA = (3.0 - sqrt(3.0 + 2.0 * sqrt(3.0))) / (6.0 - 2.0 * sqrt(3.0))
MIDDLE = 0.5547302220878774  #: where the second stage ends, so that the weights are exact for quadratic curves in time
WEIGHT = (0.5 - 2.0 * GAMMA + GAMMA**2) / (MIDDLE - GAMMA)  #: of the second stage
THIRD_ORDER = 1.0 / 6.0 - GAMMA * (1.5 - 3.0 * GAMMA + GAMMA**2)  #: e^z − R(z) over z³


class SDIRK23(RungeKutta):
    """SDIRK of three stages on one matrix, the last of which is the step. An oscillation of a radian a step loses a
    twentieth of its loss with SDIRK2, and a decay comes to rest without overshoot: R has no root there.

    The evaluations of explicit forces make their pair of order 2.
    """

    table = ((GAMMA,), (MIDDLE - GAMMA, GAMMA), (1.0 - WEIGHT - GAMMA, WEIGHT, GAMMA))
    foresight = (0.0, MIDDLE / GAMMA, (0.5 - WEIGHT * MIDDLE) / (GAMMA * MIDDLE))
    error_ratio = THIRD_ORDER / (THIRD_ORDER + 1.0 / 12.0)
