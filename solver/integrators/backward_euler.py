"""Backward Euler, also BDF1."""

from __future__ import annotations

from .runge_kutta import RungeKutta


class BackwardEuler(RungeKutta):
    """M (v − v⁰) = h f(x⁰ + h v). [Ascher 5] [Thesis C.1]"""

    order = 1
    table = ((1.0,),)
