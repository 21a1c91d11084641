"""TR-BDF2: a trapezoidal half step, then BDF2 over the two halves."""

from __future__ import annotations

from .runge_kutta import RungeKutta


class TRBDF2(RungeKutta):
    """TR-BDF2: two stages with diagonals 1/4 and 1/3; L-stable. [Ascher 8]"""

    error_ratio = -1.0  #: C = −1/24
    table = ((0.0,), (1 / 4, 1 / 4), (1 / 3, 1 / 3, 1 / 3))


class STRBDF2(TRBDF2):
    """Semi-implicit TR-BDF2: one linear solve a stage, each linearised where it starts. [Ascher 27]"""

    linearised = True
