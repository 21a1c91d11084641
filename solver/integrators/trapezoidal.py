"""The trapezoidal rule, of order 2."""

from __future__ import annotations

from .runge_kutta import RungeKutta


class Trapezoidal(RungeKutta):
    """Trapezoidal rule: v = v⁰ + h/2 M⁻¹ (f⁰ + f), x = x⁰ + h/2 (v⁰ + v): no damping at any frequency. [Ascher 8a]"""

    table = ((0.0,), (0.5, 0.5))
